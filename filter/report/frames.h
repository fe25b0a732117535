/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stacks of a report, as a tree (tree.h): what the series is if the report is split, the
 * image, the place; and of the host, if it is shown, "[host]", the process, the mapping.
 * With stacks=callgraph they are real ones instead, see callgraph.h.
 */
#ifndef HLG_FILTER_REPORT_FRAMES_H
#define HLG_FILTER_REPORT_FRAMES_H

#include "filter/report/report.h"
#include "filter/stacks/tree.h"

#define HLG_FRAMES_HOST "[host]" /* on the root: what all host frames stand on */

/*
 * The rows that the report's options ask for. *tree is all zero before, and settled
 * afterwards; the caller finishes it in any case. Its root's total is the kept guest
 * weight, that of the border if it is shown, and that of the host if it is shown, less
 * the rows that are left out. Periods of several events, which have different units, are
 * summed there only: each event's stacks stand on a series of their own.
 */
int hlg_frames_build(struct hlg_tree *tree, const struct hlg_report *report,
		     struct hlg_err *err);

/* And which node each of the report's stacks ends at, HLG_NO_NODE of those that are not
 * shown; ends has room for them. */
int hlg_frames_build_ends(struct hlg_tree *tree, const struct hlg_report *report,
			  uint32_t *ends, struct hlg_err *err);

#endif
