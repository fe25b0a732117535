// SPDX-License-Identifier: GPL-2.0-only
#include "filter/report/build.h"

#include <stdlib.h>
#include <string.h>

#include "filter/report/banner.h"
#include "filter/report/misfits.h"
#include "filter/report/notes.h"
#include "filter/report/rates.h"
#include "filter/report/rows.h"
#include "filter/trust/skid.h"
#include "filter/view/region.h"

/* Bytes of names in the rows of all groups: of each row on average, and besides. */
enum {
	ROW_NAME = 1024,
	FREE_NAMES = 64 << 20
};

/* False without memory. */
static bool sort_moments(struct hlg_report *r)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < r->n_cells; i++)
		samples += r->cells[i].count.samples;
	r->moments = hlg_moments_sorted(&r->profile->moments, samples, &r->n_moments);
	return r->moments && !r->profile->moments.lost;
}

static int compare_events(const void *a, const void *b, void *profile)
{
	const struct hlg_profile *p = profile;
	const struct hlg_event *x = &p->events[((const struct hlg_event_sum *)a)->event];
	const struct hlg_event *y = &p->events[((const struct hlg_event_sum *)b)->event];
	int order = strcmp(x->name, y->name);

	return order ? order : x->precise_ip - y->precise_ip;
}

static bool sum_events(struct hlg_report *r)
{
	const struct hlg_profile *p = r->profile;

	r->events = calloc(p->n_events + 1, sizeof(*r->events));
	if (!r->events)
		return false;
	r->n_events = p->n_events;
	for (uint32_t i = 0; i < p->n_events; i++)
		r->events[i].event = i;
	for (size_t i = 0; i < r->n_cells; i++)
		hlg_count_add(&r->events[p->series[r->cells[i].series].event].count,
			      r->cells[i].count);
	qsort_r(r->events, r->n_events, sizeof(*r->events), compare_events, (void *)p);
	return true;
}

static int compare_series(const void *a, const void *b, void *profile)
{
	return hlg_profile_compare_series(profile, *(const uint32_t *)a,
					  *(const uint32_t *)b);
}

/* Ranks the series: the order they were met in must not show in a report. */
static bool rank_series(struct hlg_report *r)
{
	uint32_t n = r->profile->n_series, *order = malloc((n + 1) * sizeof(*order));

	r->rank = malloc((n + 1) * sizeof(*r->rank));
	if (!order || !r->rank) {
		free(order);
		return false;
	}
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), compare_series, (void *)r->profile);
	for (uint32_t i = 0; i < n; i++)
		r->rank[order[i]] = i;
	free(order);
	return true;
}

static int compare_cells(const void *a, const void *b, void *rank)
{
	const struct hlg_cell *x = a, *y = b;
	const uint32_t *r = rank;

	if (x->series != y->series)
		return r[x->series] < r[y->series] ? -1 : 1;
	return x->ip < y->ip ? -1 : x->ip > y->ip;
}

static bool collect_cells(struct hlg_report *r)
{
	const struct hlg_profile *p = r->profile;

	r->cells = malloc((p->n_cells + 1) * sizeof(*r->cells));
	if (!r->cells || !rank_series(r))
		return false;
	for (size_t i = 0; i < hlg_profile_room(p); i++)
		if (p->cells[i].count.samples)
			r->cells[r->n_cells++] = p->cells[i];
	qsort_r(r->cells, r->n_cells, sizeof(*r->cells), compare_cells, r->rank);
	return true;
}

/* Moments of what a view is of. */
struct moments {
	const struct hlg_moment *at;
	size_t n;
	uint64_t clock; /* as hlg_view_input's */
};

static int build_view(struct hlg_report *r, struct hlg_view *view,
		      const struct hlg_cell *cells, size_t n_cells,
		      const struct moments *moments, enum hlg_weight weight,
		      struct hlg_err *err)
{
	struct hlg_view_input in = {.space = r->space,
				    .options = r->options,
				    .cells = cells,
				    .n_cells = n_cells,
				    .rank = r->rank,
				    .weight = weight,
				    .moments = moments->at,
				    .n_moments = moments->n,
				    .halved = r->profile->moments.halved,
				    .clock = moments->clock,
				    .border = r->suppressed ? NULL : &r->border,
				    .raw = r->suppressed,
				    .gaps = &r->gaps};
	int rc;

	/* Cells lie by series, so each series is met once. */
	for (size_t i = 0; i < n_cells; i++)
		if (i == 0 || cells[i].series != cells[i - 1].series)
			in.squares += r->profile->series[cells[i].series].squares;
	rc = hlg_view_build(view, &in, err);
	if (rc == 0 && !hlg_rows_sort(view, r->options->sort))
		rc = hlg_err_memory(err, "report");
	return rc < 0 ? rc : hlg_region_build(view, r->options->region, err);
}

static int build_whole(struct hlg_report *r, enum hlg_weight weight, struct hlg_err *err)
{
	const struct moments moments = {r->moments, r->n_moments, hlg_rates_clock(r)};

	return build_view(r, &r->all, r->cells, r->n_cells, &moments, weight, err);
}

/* Edges need code, which a report that names no function does not look at. */
static int count_edges(struct hlg_report *r, struct hlg_view *view, struct hlg_err *err)
{
	if (r->options->skid == 0 || r->suppressed ||
	    hlg_skid_count(&r->trust, view, r->options->skid))
		return 0;
	return hlg_err_memory(err, "report");
}

/* Are rows to be looked at for samples that do not fit? */
static bool marks(const struct hlg_report *r)
{
	return !r->suppressed && !r->options->force && r->trust.all.samples.off > 0;
}

/* The border, the view, and whether its samples fit, or those of elsewhere do there. */
static int build_placed(struct hlg_report *r, enum hlg_weight weight,
			const struct hlg_profile *elsewhere, struct hlg_border *exits,
			struct hlg_err *err)
{
	int rc = 0;

	if (exits) {
		r->border = *exits;
		*exits = (struct hlg_border){0};
	} else if (r->options->border != HLG_BORDER_KEEP)
		rc = hlg_border_find(&r->border, r->space, r->profile, r->cells,
				     r->n_cells, err);
	if (rc == 0)
		rc = build_whole(r, weight, err);
	if (rc == 0 && r->space->n_images)
		rc = hlg_trust_build(&r->trust, r->space, &r->all, elsewhere, err);
	return rc;
}

/* Of saved profiles without an ELF, what was found when they were saved. */
static void trust_saved(struct hlg_report *r)
{
	const struct hlg_checked *checked = &r->profile->checked;

	if (!checked->word || !hlg_space_is_made(r->space))
		return;
	r->trust.all.verdict = hlg_verdict_of_checked(checked->word);
	r->suppressed |= checked->suppressed && !r->options->force;
}

/* The view of everything, and how far it can be believed. */
static int build_all(struct hlg_report *r, enum hlg_weight weight,
		     const struct hlg_shift *shift, struct hlg_border *exits,
		     struct hlg_err *err)
{
	int rc = build_placed(r, weight, shift ? NULL : r->profile, exits, err);

	if (rc == 0 && shift && !hlg_shift_mark(shift, r))
		rc = hlg_err_memory(err, "report");
	if (rc == 0)
		trust_saved(r);
	if (rc == 0 && !r->options->force &&
	    (r->suppressed || r->trust.all.verdict == HLG_TRUST_MISMATCH ||
	     hlg_trust_guess(&r->trust))) {
		r->suppressed = true;
		hlg_view_finish(&r->all);
		rc = build_whole(r, weight, err);
	}
	if (rc == 0 && marks(r) && !hlg_misfits_mark(&r->all, &r->trust, &r->misfits))
		rc = hlg_err_memory(err, "report");
	hlg_misfits_settle(&r->misfits);
	if (rc == 0 && !hlg_size_test_view(&r->size_test, &r->all, r->options->region))
		rc = hlg_err_memory(err, "report");
	return rc < 0 ? rc : count_edges(r, &r->all, err);
}

/* The moments by series, each's by time; first[series] is where those of one begin, and
 * behind the last all end. NULL without memory; to be freed. */
static struct hlg_moment *part_moments(const struct hlg_report *r, size_t *first)
{
	struct hlg_moment *parted = calloc(r->n_moments + 1, sizeof(*parted));

	for (size_t i = 0; parted && i < r->n_moments; i++)
		first[r->moments[i].series + 1]++;
	for (uint32_t i = 0; i < r->profile->n_series; i++)
		first[i + 1] += first[i];
	for (size_t i = 0; parted && i < r->n_moments; i++)
		parted[first[r->moments[i].series]++] = r->moments[i];
	for (uint32_t i = r->profile->n_series; i > 0; i--)
		first[i] = first[i - 1];
	first[0] = 0;
	return parted;
}

/* Bytes of the names of a view's rows. */
static uint64_t sum_names(const struct hlg_view *view)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < view->n_rows + view->n_borders; i++)
		sum += strlen(hlg_view_row(view, i)->name);
	return sum;
}

/* Takes the names of a group from what is left for all: each has its rows' names anew. */
static int take_names(const struct hlg_view *view, uint64_t *left, struct hlg_err *err)
{
	uint64_t names = sum_names(view);

	*left += ROW_NAME * (view->n_rows + view->n_borders);
	if (names > *left)
		return hlg_err_set(
			err, HLG_EINPUT,
			"report: its groups repeat too long names (leave out "
			"--by=, or select a few with --pid=, --tid= or --cpu=)");
	*left -= names;
	return 0;
}

/* One group for each series that has cells. */
static int split_by(struct hlg_report *r, const struct hlg_moment *moments,
		    const size_t *first, struct hlg_err *err)
{
	uint64_t names = FREE_NAMES + sum_names(&r->all);
	int rc = 0;

	for (size_t i = 0, j; rc == 0 && i < r->n_cells; i = j) {
		struct hlg_group *group = &r->groups[r->n_groups++];
		struct moments of = {.clock = 0};

		for (j = i + 1;
		     j < r->n_cells && r->cells[j].series == r->cells[i].series; j++)
			;
		group->series = r->cells[i].series;
		of.at = moments + first[group->series];
		of.n = first[group->series + 1] - first[group->series];
		rc = build_view(r, &group->view, r->cells + i, j - i, &of,
				(enum hlg_weight)r->options->weight, err);
		if (rc == 0)
			rc = take_names(&group->view, &names, err);
		if (rc == 0)
			rc = count_edges(r, &group->view, err);
		if (rc == 0 && marks(r) &&
		    !hlg_misfits_mark(&group->view, &r->trust, &r->parted))
			rc = hlg_err_memory(err, "report");
	}
	hlg_misfits_settle(&r->parted);
	return rc;
}

static int split(struct hlg_report *r, struct hlg_err *err)
{
	size_t *first = calloc((size_t)r->profile->n_series + 1, sizeof(*first));
	struct hlg_moment *moments = first ? part_moments(r, first) : NULL;
	int rc = 0;

	r->groups = calloc(r->profile->n_series + 1, sizeof(*r->groups));
	if (moments && r->groups)
		rc = split_by(r, moments, first, err);
	else
		rc = hlg_err_memory(err, "report");
	free(moments);
	free(first);
	return rc;
}

/* Do more events than one have something to show? */
static bool several_events(const struct hlg_report *r)
{
	const bool guests = r->options->mode != HLG_SHOW_HOST;
	uint32_t first = UINT32_MAX;

	for (uint32_t i = 0; guests && i < r->n_events; i++) {
		if (r->events[i].count.samples == 0)
			continue;
		if (first != UINT32_MAX)
			return true;
		first = r->events[i].event;
	}
	for (size_t i = 0; i < r->host->n_rows; i++) {
		uint32_t event = r->profile->series[r->host->rows[i].series].event;

		if (r->profile->events[event].kind == HLG_EVENT_TRACEPOINT)
			continue;
		if (first != UINT32_MAX && first != event)
			return true;
		first = event;
	}
	return false;
}

int hlg_report_build(struct hlg_report *r, const struct hlg_options *options,
		     const struct hlg_space *space, const struct hlg_profile *profile,
		     struct hlg_host *host, const struct hlg_shift *shift,
		     struct hlg_border *exits, struct hlg_err *err)
{
	enum hlg_weight weight = (enum hlg_weight)options->weight;
	int rc;

	*r = (struct hlg_report){.options = options,
				 .space = space,
				 .profile = profile,
				 .host = host,
				 .by = options->by};
	if (profile->sandboxes.lost || !collect_cells(r) || !sum_events(r) ||
	    !sort_moments(r))
		return hlg_err_memory(err, "report");
	if (several_events(r)) {
		r->by |= HLG_BY_EVENT;
		weight = HLG_WEIGHT_SAMPLES;
	}
	rc = build_all(r, weight, shift, exits, err);
	if (rc == 0 && r->by)
		rc = split(r, err);
	if (rc == 0 && options->unnamed && (r->suppressed || !hlg_banner_is_ok(r)))
		r->unnamed = options->unnamed(options->unnamed_of, &r->trust);
	if (rc == 0 && (r->trust.all.verdict >= HLG_TRUST_MIXED || r->suppressed)) {
		r->banner = hlg_banner_text(r);
		rc = r->banner ? 0 : hlg_err_memory(err, "report");
	}
	r->n_host = hlg_host_sort(host, profile, weight);
	if (rc == 0)
		hlg_notes_add(r);
	return rc == 0 && hlg_report_lost(r) ? hlg_err_memory(err, "report") : rc;
}
