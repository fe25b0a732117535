/* SPDX-License-Identifier: GPL-2.0-only */
/* Inclusive shares (children=): the rows that are compared are functions with all that
 * they call, as report has them (filter/report/children.h). */
#ifndef HLG_TOOLS_DIFF_CHILDREN_H
#define HLG_TOOLS_DIFF_CHILDREN_H

#include "tools/diff/diff.h"

/*
 * Makes the views of a side (0, 1) such, and side->self. Shares are then of all guest
 * samples that are shown, VM exits among them. Of functions that one name joins (key.h)
 * the first has the samples with any of them in their stack, the others have none. The
 * side's report has been judged (hlg_callgraph_judge), and images are paired. Fails
 * without memory, and if no sample has callers; of is "before" or "after".
 */
int hlg_diff_children(struct hlg_diff *diff, int side, const char *of,
		      struct hlg_err *err);

#endif
