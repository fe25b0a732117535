// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filter/report/build.h"
#include "filter/report/callgraph.h"
#include "filter/report/misfits.h"
#include "filter/view/region.h"
#include "tools/diff/children.h"
#include "tools/diff/columns.h"
#include "tools/diff/join.h"

static int judge_side(struct hlg_diff_side *side, struct hlg_err *err)
{
	int rc = hlg_report_build(&side->report, side->options, side->space,
				  side->profile, &side->no_host, NULL, NULL, err);

	if (rc < 0 || !side->options->children)
		return rc;
	side->report.stacks = side->stacks;
	return hlg_callgraph_judge(&side->report, err);
}

/* All guest samples of a profile, by function and region. */
static int view_of(struct hlg_view *view, const struct hlg_diff_side *side,
		   const struct hlg_profile *profile, enum hlg_weight weight, bool raw,
		   struct hlg_err *err)
{
	struct hlg_cell *cells = malloc((profile->n_cells + 1) * sizeof(*cells));
	uint32_t *rank = malloc((profile->n_series + 1) * sizeof(*rank));
	struct hlg_moment *moments = NULL;
	uint64_t samples = 0;
	struct hlg_view_input in = {.space = side->space,
				    .options = side->options,
				    .cells = cells,
				    .rank = rank,
				    .weight = weight,
				    .halved = profile->moments.halved,
				    .border = raw ? NULL : &side->report.border,
				    .raw = raw};
	int rc = cells && rank ? 0 : hlg_err_memory(err, "diff");

	for (size_t i = 0; rc == 0 && i < hlg_profile_room(profile); i++)
		if (profile->cells[i].count.samples)
			cells[in.n_cells++] = profile->cells[i];
	for (size_t i = 0; i < in.n_cells; i++)
		samples += cells[i].count.samples;
	if (rc == 0)
		in.moments = moments =
			hlg_moments_sorted(&profile->moments, samples, &in.n_moments);
	if (rc == 0 && (!moments || profile->moments.lost))
		rc = hlg_err_memory(err, "diff");
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
	free(moments);
	return rc;
}

/* Makes the views; raw as in struct hlg_view_input. */
static int make_views(struct hlg_diff_side *side, enum hlg_weight weight, bool raw,
		      struct hlg_err *err)
{
	int rc = view_of(&side->all, side, side->profile, weight, raw, err);

	/* As in the side's report, whose banner says so. */
	if (rc == 0 && side->report.misfits.n &&
	    !hlg_misfits_mark(&side->all, &side->report.trust, NULL))
		rc = hlg_err_memory(err, "diff");
	side->each = calloc(side->n_runs + 1, sizeof(*side->each));
	if (rc == 0 && !side->each)
		rc = hlg_err_memory(err, "diff");
	for (size_t i = 0; rc == 0 && i < side->n_runs; i++)
		rc = view_of(&side->each[i], side, &side->runs[i], weight, raw, err);
	return rc;
}

static void finish_side(struct hlg_diff_side *side)
{
	for (size_t i = 0; side->each && i < side->n_runs; i++)
		hlg_view_finish(&side->each[i]);
	free(side->each);
	free(side->self);
	side->each = NULL;
	hlg_view_finish(&side->all);
	hlg_host_finish(&side->no_host);
	hlg_report_finish(&side->report);
}

/* Regions of different builds hold different code, and have no name. */
static bool join(struct hlg_diff *diff)
{
	struct hlg_diff_rows *functions = &diff->functions, *regions = &diff->regions;

	return hlg_diff_join_rows(diff) && hlg_diff_tell_presence(diff, functions) &&
	       hlg_diff_judge_rows(diff, functions) &&
	       (!diff->images.same ||
		(hlg_diff_join_regions(diff) && hlg_diff_tell_presence(diff, regions) &&
		 hlg_diff_judge_rows(diff, regions)));
}

/* Do two names stand for one event? Negative without memory. */
static int is_one_event(const char *a, const char *b, struct hlg_err *err)
{
	char *x = hlg_event_key(a), *y = hlg_event_key(b);
	int one = x && y ? strcmp(x, y) == 0 : hlg_err_memory(err, "diff");

	free(x);
	free(y);
	return one;
}

/*
 * Events that fire together are no independent observations, and periods of different
 * events do not add up. The event of the side goes to diff->event.
 */
static int find_event(struct hlg_diff *diff, int s, struct hlg_err *err)
{
	const struct hlg_report *r = &diff->side[s].report;

	for (uint32_t i = 0; i < r->n_events; i++) {
		const struct hlg_event *event = &r->profile->events[r->events[i].event];
		int one;

		if (r->events[i].count.samples == 0)
			continue;
		if (!diff->event[s])
			diff->event[s] = event;
		one = is_one_event(diff->event[s]->name, event->name, err);
		if (one < 0)
			return one;
		if (!one)
			return hlg_err_set(err, HLG_EINPUT,
					   "%s: the samples are of several events, %s "
					   "and %s (take one: --event=%s)",
					   s ? "after" : "before", diff->event[s]->name,
					   event->name, diff->event[s]->name);
	}
	return 0;
}

static int check_events(struct hlg_diff *diff, struct hlg_err *err)
{
	int one = 1;

	for (int s = 0; s < 2; s++) {
		int rc = find_event(diff, s, err);

		if (rc < 0)
			return rc;
	}
	if (diff->event[0] && diff->event[1])
		one = is_one_event(diff->event[0]->name, diff->event[1]->name, err);
	if (one < 0)
		return one;
	if (!one)
		return hlg_err_set(
			err, HLG_EINPUT,
			"the sides were sampled by different events, %s before "
			"and %s after: they cannot be compared (record both "
			"with one event, as hlguest record -e %s)",
			diff->event[0]->name, diff->event[1]->name, diff->event[0]->name);
	return 0;
}

static void count_runs(struct hlg_diff *diff, int side)
{
	const struct hlg_diff_side *s = &diff->side[side];

	for (size_t i = 0; s->each && i < s->n_runs; i++)
		diff->n_runs[side] += hlg_count_weigh(diff->weight, s->each[i].kept) > 0;
	diff->by_runs |= diff->n_runs[side] >= HLG_COMPARE_RUNS;
}

/* What was found unreadable while images were paired came too late for a note. */
static int check_read(const struct hlg_diff_side *side, struct hlg_err *err)
{
	for (size_t i = 0; i < side->space->n_images; i++)
		if (hlg_image_unread(side->space->images[i]) && !side->report.unread)
			return hlg_image_fail_unread(side->space->images[i], err);
	return 0;
}

int hlg_diff_build(struct hlg_diff *diff, struct hlg_err *err)
{
	int rc = 0;

	for (int s = 0; rc == 0 && s < 2; s++)
		rc = judge_side(&diff->side[s], err);
	if (rc == 0)
		rc = check_events(diff, err);
	if (rc < 0)
		return rc;
	if (!hlg_paired_make(&diff->images, diff->side[0].space, diff->side[1].space) ||
	    !hlg_paired_share_border(
		    &diff->images, (struct hlg_border *[]){&diff->side[0].report.border,
							   &diff->side[1].report.border}))
		return hlg_err_memory(err, "diff");
	for (int i = 0; rc == 0 && i < 2; i++)
		rc = check_read(&diff->side[i], err);
	if (rc < 0)
		return rc;
	diff->weight = (enum hlg_weight)diff->side[0].options->weight;
	diff->withheld =
		diff->side[0].report.suppressed || diff->side[1].report.suppressed;
	diff->incomparable = diff->withheld && !diff->images.same;
	for (int s = 0; s < 2; s++)
		diff->side[s].report.exits_alone =
			hlg_space_is_made(diff->side[0].space) ||
			hlg_space_is_made(diff->side[1].space);
	for (int s = 0; rc == 0 && s < 2; s++) {
		rc = make_views(&diff->side[s], diff->weight, diff->withheld, err);
		if (rc == 0 && diff->side[s].options->children && !diff->withheld)
			rc = hlg_diff_children(diff, s, hlg_diff_columns_side[s], err);
		count_runs(diff, s);
	}
	if (rc == 0 && (!hlg_diff_total(diff) || (!diff->incomparable && !join(diff)) ||
			!hlg_diff_tell_words(diff)))
		rc = hlg_err_memory(err, "diff");
	return rc;
}

static void finish_rows(struct hlg_diff_rows *rows)
{
	free(rows->row);
	free(rows->to[0]);
	free(rows->to[1]);
	memset(rows, 0, sizeof(*rows));
}

void hlg_diff_finish(struct hlg_diff *diff)
{
	finish_rows(&diff->functions);
	finish_rows(&diff->regions);
	hlg_note_list_finish(&diff->notes);
	free(diff->shares);
	free(diff->gate.undecided);
	hlg_paired_finish(&diff->images);
	finish_side(&diff->side[0]);
	finish_side(&diff->side[1]);
}

double hlg_diff_growth(const struct hlg_diff_row *row)
{
	double before = row->share[0].share, after = row->share[1].share;

	if (before > 0)
		return after / before - 1;
	return after > 0 ? INFINITY : 0;
}

const struct hlg_diff_row *hlg_diff_grown(const struct hlg_diff *diff, double least,
					  const struct hlg_diff_row *but)
{
	for (size_t i = 0; i < diff->functions.n; i++) {
		const struct hlg_diff_row *row = &diff->functions.row[i];

		if (row != but && row->significant && hlg_diff_growth(row) > least &&
		    row->compared.diff > 0 && hlg_diff_total_grew(diff, row, least))
			return row;
	}
	return NULL;
}

const struct hlg_diff_row *hlg_diff_outside(const struct hlg_diff *diff)
{
	for (size_t i = 0; i < diff->functions.n; i++) {
		const struct hlg_diff_row *row = &diff->functions.row[i];
		const struct hlg_place *place = hlg_diff_place(row, row->n[1] ? 1 : 0);

		if (place && place->kind == HLG_OUTSIDE)
			return row;
	}
	return NULL;
}

static bool is_misfit(const struct hlg_diff_row *row, int side)
{
	return row->row[side] && row->row[side]->misfit;
}

bool hlg_diff_is_misfit(const struct hlg_diff_row *row)
{
	return is_misfit(row, 0) || is_misfit(row, 1);
}

const char *hlg_diff_name(const struct hlg_diff_row *row)
{
	int s = row->n[1] && !is_misfit(row, 0) ? 1 : 0;

	return row->row[s] ? row->row[s]->name : "";
}

const struct hlg_place *hlg_diff_place(const struct hlg_diff_row *row, int side)
{
	return row->row[side] ? &row->row[side]->place : NULL;
}
