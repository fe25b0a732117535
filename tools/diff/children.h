/* SPDX-License-Identifier: GPL-2.0-only */
/* Inclusive shares (children=): the rows that are compared are functions with all that
 * they call, as report has them (filter/report/children.h). */
#ifndef HLG_TOOLS_DIFF_CHILDREN_H
#define HLG_TOOLS_DIFF_CHILDREN_H

#include "tools/diff/diff.h"

/*
 * Makes the views of a side such, and side->self. Shares are then of all guest samples
 * that are shown, VM exits among them. The side's report has been judged
 * (hlg_callgraph_judge). Fails without memory, and if no sample has callers; of is
 * "before" or "after".
 */
int hlg_diff_children(struct hlg_diff_side *side, const char *of, struct hlg_err *err);

#endif
