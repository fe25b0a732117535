/* SPDX-License-Identifier: GPL-2.0-only */
/* Who called a function whose instructions are shown, where samples tell it. */
#ifndef HLG_TOOLS_ANNOTATE_CALLED_BY_H
#define HLG_TOOLS_ANNOTATE_CALLED_BY_H

#include <stdio.h>

#include "filter/report/paths.h"

/* Of the view that was asked for last. All zero before the first. */
struct hlg_called_by {
	const struct hlg_view *view;
	struct hlg_paths paths;
	struct hlg_called_by_call *calls; /* by row, then place */
	size_t n;
};

/*
 * A line of the direct callers in the samples of a row of a view, those with most first;
 * nothing where no sample has callers. False without memory; finish it in any case.
 */
bool hlg_called_by_put(FILE *f, struct hlg_called_by *called,
		       const struct hlg_report *report, const struct hlg_view *view,
		       const struct hlg_row *row);
void hlg_called_by_finish(struct hlg_called_by *called);

#endif
