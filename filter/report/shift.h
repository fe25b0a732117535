/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * assume-shift=yes: where another build of an image ran, which trust found by its tail
 * (symtab/code/tail-fit.h), samples are counted where they would lie in this one: with
 * their callers and their times, before a report is made of them.
 */
#ifndef HLG_FILTER_REPORT_SHIFT_H
#define HLG_FILTER_REPORT_SHIFT_H

#include "filter/report/report.h"
#include "filter/stacks/stacks.h"

/* What is moved, of each image of the space by its number; n is 0 if nothing is. */
struct hlg_shift {
	struct hlg_tail *tails; /* shift is 0: the image stays */
	size_t n;
};

/* What a report's trust found to have moved. False without memory; finish in any case. */
bool hlg_shift_find(struct hlg_shift *shift, const struct hlg_report *report);
void hlg_shift_finish(struct hlg_shift *shift);

/*
 * Moves all that was counted at addresses of the guest: cells, moments and slices of the
 * profile, where guests were left and entered, and the stacks with their callers and
 * slices (NULL: there are none). The space is settled. False without memory; then they
 * are good for nothing.
 */
bool hlg_shift_move(const struct hlg_shift *shift, const struct hlg_space *space,
		    struct hlg_profile *profile, struct hlg_stacks *stacks);

/* Marks the rows of the report's view that have what was moved: "moved by +304" stands
 * behind their names, and a note tells it. False without memory. */
bool hlg_shift_mark(const struct hlg_shift *shift, struct hlg_report *report);

#endif
