/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many samples of a function lie where a late one would: skid=N (symtab/code/edge.h).
 */
#ifndef HLG_FILTER_TRUST_SKID_H
#define HLG_FILTER_TRUST_SKID_H

#include "filter/trust/trust.h"

/*
 * Fills edge of every row of a view that is a function or label of decoded code: its
 * samples within reach instructions of where control comes in. Returns false without
 * memory.
 */
bool hlg_skid_count(struct hlg_view *view, const struct hlg_trust *trust, uint64_t reach);

#endif
