/* SPDX-License-Identifier: GPL-2.0-only */
/* A comparison made: rows of both sides joined, tested, put into words. */
#ifndef HLG_TOOLS_DIFF_BUILD_H
#define HLG_TOOLS_DIFF_BUILD_H

#include "tools/diff/diff.h"

/*
 * Compares both sides. Fails without memory, and if the guest samples of a side are of
 * several events. The caller finishes the diff in any case, also the sides.
 */
int hlg_diff_build(struct hlg_diff *diff, struct hlg_err *err);

#endif
