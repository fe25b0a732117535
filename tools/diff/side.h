/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One side of a comparison: what its recordings held together, and each for itself, seen
 * in one space.
 */
#ifndef HLG_TOOLS_DIFF_SIDE_H
#define HLG_TOOLS_DIFF_SIDE_H

#include "filter/report/report.h"
#include "filter/stats/compare.h"

struct hlg_diff_side {
	/* In: not owned. The space is settled, the profile is the sum of the runs'. */
	const struct hlg_options *options;
	const struct hlg_space *space;
	const struct hlg_profile *profile;
	const struct hlg_profile *runs; /* of each recording that was read */
	char *const *paths;             /* where these came from, for people */
	size_t n_runs;
	/* Out. */
	struct hlg_report report; /* trust, notes, events; not the rows to compare */
	struct hlg_host no_host;
	struct hlg_view all;   /* the rows to compare */
	struct hlg_view *each; /* of each run: rows of the same owners, not all of them */
};

/* Judges the samples. The caller finishes the side in any case; it must not move. */
int hlg_diff_side_judge(struct hlg_diff_side *side, struct hlg_err *err);

/* Makes the views, by this weight; raw as in struct hlg_view_input. */
int hlg_diff_side_view(struct hlg_diff_side *side, enum hlg_weight weight, bool raw,
		       struct hlg_err *err);

void hlg_diff_side_finish(struct hlg_diff_side *side);

#endif
