/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rows of the live view: functions, as report has them, with what they have of the
 * last slices and of all since the start. Both are views (filter/view/view.h) of a window
 * in the space of a judged report.
 */
#ifndef HLG_TOOLS_TOP_ROWS_H
#define HLG_TOOLS_TOP_ROWS_H

#include "tools/top/judge.h"
#include "tools/top/keys.h"
#include "tools/top/window.h"

struct hlg_top_row {
	const struct hlg_row *since;  /* never NULL; its name is not escaped */
	const struct hlg_row *recent; /* NULL: no sample of late */
};

struct hlg_top_rows {
	struct hlg_view since, recent;
	struct hlg_top_row *all;
	size_t n_all;
	struct hlg_top_row *rows; /* those that were chosen, in order */
	size_t n;
	struct hlg_top_sums sums[2]; /* by enum hlg_top_which */
	uint64_t took[2];            /* the same; ns */
};

/* All of them, chosen by no filter and sorted by what is recent. All of judged outlives
 * *rows, which is finished in any case. */
int hlg_top_rows_build(struct hlg_top_rows *rows, const struct hlg_top_judged *judged,
		       const struct hlg_top_window *window, struct hlg_err *err);

/* Chooses rows by a part of their names, whatever its case (""; all), and sorts them;
 * rows of VM exits are behind the others. */
void hlg_top_rows_choose(struct hlg_top_rows *rows, enum hlg_top_sort sort,
			 const char *filter);
void hlg_top_rows_finish(struct hlg_top_rows *rows);

#endif
