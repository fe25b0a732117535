/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts that hlg_diff_build puts together: which rows of both sides are one, how
 * much they changed, and what there is to say of it. */
#ifndef HLG_TOOLS_DIFF_JOIN_H
#define HLG_TOOLS_DIFF_JOIN_H

#include "tools/diff/diff.h"

/* How many rows of a view are compared: those of the border, too, unless it is left out.
 */
size_t hlg_diff_join_n(const struct hlg_diff_side *side, const struct hlg_view *view);

/* What these weigh together: shares, of functions and of VM exits, are of that. */
double hlg_diff_join_weight(const struct hlg_diff_side *side,
			    const struct hlg_view *view);

/* What is said of that: "", ", VM exits among it", or ", VM exits left out". */
const char *hlg_diff_join_exits(const struct hlg_diff *diff);

/* Makes diff->functions from the sides' rows, diff->regions from their regions: all but
 * what judging fills in. False without memory. */
bool hlg_diff_join_rows(struct hlg_diff *diff);
bool hlg_diff_join_regions(struct hlg_diff *diff);

/* Tells rows that only one build has from those that only one side sampled. */
bool hlg_diff_tell_presence(const struct hlg_diff *diff, struct hlg_diff_rows *rows);

/* Tests every row and sorts them; those of diff->regions, or of diff->functions. */
bool hlg_diff_judge_rows(const struct hlg_diff *diff, struct hlg_diff_rows *rows);

/* Makes matched, shares, test and the notes. False without memory. */
bool hlg_diff_tell_words(struct hlg_diff *diff);

/* Adds what is noted of a side, as its report does, to the diff's; what is noted of both
 * once. */
void hlg_diff_tell_notes(struct hlg_diff *diff, int side,
			 const struct hlg_note_list *lines,
			 const struct hlg_note_list *others);

/* Two-sided p that amounts of both sides differ in the mean: lists[side][run] has n, and
 * the weight in the mean of the recordings that it sums. By their spread, or by sampling alone where
 * a side has fewer than HLG_COMPARE_RUNS. */
double hlg_diff_total_amounts(const struct hlg_diff *diff,
			      struct hlg_dispersion_run *const lists[2]);

/* Sums up and tests the totals, when the views are made. False without memory. */
bool hlg_diff_total(struct hlg_diff *diff);

#endif
