// SPDX-License-Identifier: GPL-2.0-only
#include "tools/diff/side.h"

#include <stdlib.h>

#include "filter/report/build.h"
#include "filter/view/region.h"

int hlg_diff_side_judge(struct hlg_diff_side *side, struct hlg_err *err)
{
	return hlg_report_build(&side->report, side->options, side->space, side->profile,
				&side->no_host, err);
}

/* All guest samples of a profile, by function and region. */
static int view_of(struct hlg_view *view, const struct hlg_diff_side *side,
		   const struct hlg_profile *profile, enum hlg_weight weight, bool raw,
		   struct hlg_err *err)
{
	struct hlg_cell *cells = malloc((profile->n_cells + 1) * sizeof(*cells));
	uint32_t *rank = malloc((profile->n_series + 1) * sizeof(*rank));
	struct hlg_view_input in = {.space = side->space,
				    .options = side->options,
				    .cells = cells,
				    .rank = rank,
				    .weight = weight,
				    .raw = raw};
	int rc = cells && rank ? 0 : hlg_err_memory(err, "diff");

	for (size_t i = 0; rc == 0 && i < hlg_profile_room(profile); i++)
		if (profile->cells[i].count.samples)
			cells[in.n_cells++] = profile->cells[i];
	for (uint32_t i = 0; rc == 0 && i < profile->n_series; i++) {
		rank[i] = i; /* the order of hits does not show */
		in.squares += profile->series[i].squares;
	}
	if (rc == 0)
		rc = hlg_view_build(view, &in, err);
	if (rc == 0)
		rc = hlg_region_build(view, side->options->region, err);
	free(cells);
	free(rank);
	return rc;
}

int hlg_diff_side_view(struct hlg_diff_side *side, enum hlg_weight weight, bool raw,
		       struct hlg_err *err)
{
	int rc = view_of(&side->all, side, side->profile, weight, raw, err);

	side->each = calloc(side->n_runs + 1, sizeof(*side->each));
	if (rc == 0 && !side->each)
		rc = hlg_err_memory(err, "diff");
	for (size_t i = 0; rc == 0 && i < side->n_runs; i++)
		rc = view_of(&side->each[i], side, &side->runs[i], weight, raw, err);
	return rc;
}

void hlg_diff_side_finish(struct hlg_diff_side *side)
{
	for (size_t i = 0; side->each && i < side->n_runs; i++)
		hlg_view_finish(&side->each[i]);
	free(side->each);
	side->each = NULL;
	hlg_view_finish(&side->all);
	hlg_host_finish(&side->no_host);
	hlg_report_finish(&side->report);
}
