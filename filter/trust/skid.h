/* SPDX-License-Identifier: GPL-2.0-only */
/* Skid: which samples lie where one that is taken late would. */
#ifndef HLG_FILTER_TRUST_SKID_H
#define HLG_FILTER_TRUST_SKID_H

#include "filter/trust/trust.h"

/*
 * skid=REACH: counts how many samples lie where a late one would. Fills edge of every row
 * of the view that is a function or label of decoded code: its samples within reach
 * instructions of where control comes in (symtab/code/edge.h). False without memory.
 */
bool hlg_skid_count(struct hlg_trust *trust, struct hlg_view *view, uint64_t reach);

#endif
