/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes what the sums, settled, say, as the bits of how want it: each pair must be in
 * one row of a table of reasons.
 */
#ifndef HLG_TESTS_FUZZ_EXITS_REPORT_H
#define HLG_TESTS_FUZZ_EXITS_REPORT_H

#include "tools/exits/write.h"

void door_exits_report(const struct hlg_exits_sums *sums, unsigned how);

#endif
