// SPDX-License-Identifier: GPL-2.0-only
#include "filter/report/rows.h"

#include <stdlib.h>
#include <string.h>

uint64_t hlg_rows_top(const struct hlg_report *r)
{
	return r->options->top != HLG_UNSET ? r->options->top : r->options->most;
}

/* min= as a share. */
static double least_share(const struct hlg_report *r)
{
	return r->options->min == HLG_UNSET ? 0 : (double)r->options->min / 1e11;
}

double hlg_rows_share(const struct hlg_view *view, size_t i)
{
	return view->rows[i].share.share;
}

size_t hlg_rows_borders_shown(const struct hlg_report *r, const struct hlg_view *view)
{
	size_t shown = 0;

	if (r->options->border == HLG_BORDER_DROP)
		return 0;
	while (shown < view->n_borders &&
	       hlg_rows_shows(r, view->borders[shown].share.share, shown))
		shown++;
	return shown;
}

struct hlg_count hlg_rows_sum(const struct hlg_report *r, const struct hlg_view *view)
{
	struct hlg_count sum = view->kept;

	if (r->options->border != HLG_BORDER_DROP)
		hlg_count_add(&sum, view->border);
	return sum;
}

double hlg_rows_observations(const struct hlg_report *r, const struct hlg_view *view)
{
	/* What is left out had its part of them. */
	return view->guest.samples ? view->guest_observations *
					     (double)hlg_rows_sum(r, view).samples /
					     (double)view->guest.samples
				   : 0;
}

size_t hlg_rows_regions_shown(const struct hlg_report *r, const struct hlg_view *view)
{
	uint64_t most = r->options->regions, top = hlg_rows_top(r);
	size_t shown = 0;

	if (most == HLG_UNSET) {
		most = r->options->most_regions;
		most = most && (top == 0 || most < top) ? most : top;
	}
	while (shown < view->n_regions && (most == 0 || shown < most) &&
	       view->regions[shown].share.share >= least_share(r))
		shown++;
	return shown;
}

/* Rows by sort=, and where that says nothing by overhead. */
struct order {
	const struct hlg_row *rows;
	int sort;
};

static int compare_rows(const void *a, const void *b, void *of)
{
	const struct order *o = of;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	const struct hlg_row *x = &o->rows[i], *y = &o->rows[j];
	int order = 0;

	switch (o->sort) {
	case HLG_SORT_SIZE: {
		uint64_t p = x->place.end - x->place.start;
		uint64_t q = y->place.end - y->place.start;

		order = (p < q) - (p > q);
		break;
	}
	case HLG_SORT_NAME:
		order = strcmp(x->name, y->name);
		break;
	case HLG_SORT_ADDRESS:
		order = (x->place.start > y->place.start) -
			(x->place.start < y->place.start);
		break;
	default:
		break;
	}
	return order ? order : (i > j) - (i < j);
}

bool hlg_rows_sort(struct hlg_view *view, int sort)
{
	struct order order = {view->rows, sort};

	if (sort == HLG_SORT_OVERHEAD)
		return true;
	view->order = calloc(view->n_rows + 1, sizeof(*view->order));
	if (!view->order)
		return false;
	for (size_t i = 0; i < view->n_rows; i++)
		view->order[i] = i;
	qsort_r(view->order, view->n_rows, sizeof(*view->order), compare_rows, &order);
	return true;
}

bool hlg_rows_shows(const struct hlg_report *r, double share, uint64_t n)
{
	uint64_t top = hlg_rows_top(r);

	return (top == 0 || n < top) && share >= least_share(r);
}

const char *hlg_rows_limit(const struct hlg_report *r, double next, const char *option)
{
	return hlg_rows_shows(r, next, 0) ? option : "min";
}

size_t hlg_rows_shown(const struct hlg_report *r, size_t n,
		      double (*share)(const struct hlg_view *, size_t),
		      const struct hlg_view *view)
{
	size_t shown = 0;

	while (shown < n && hlg_rows_shows(r, share(view, shown), shown))
		shown++;
	return shown;
}

int hlg_rows_each_view(void *to, const struct hlg_report *report,
		       void (*view)(void *to, const struct hlg_report *report,
				    const struct hlg_view *view, const char *series),
		       struct hlg_err *err)
{
	if (report->options->mode == HLG_SHOW_HOST)
		return 0;
	if (!report->n_groups)
		view(to, report, &report->all, NULL);
	for (uint32_t i = 0; i < report->n_groups; i++) {
		char *series = hlg_report_series_name(report, report->groups[i].series);

		if (!series)
			return hlg_err_memory(err, "report");
		view(to, report, &report->groups[i].view, series);
		free(series);
	}
	return 0;
}

size_t hlg_rows_host_shown(const struct hlg_report *report)
{
	uint64_t top = hlg_rows_top(report);

	if (report->options->mode == HLG_SHOW_GUEST)
		return 0;
	return top && top < report->n_host ? top : report->n_host;
}

int hlg_rows_each_host(void *to, const struct hlg_report *report,
		       void (*row)(void *to, const struct hlg_host_row *row, double share,
				   const char *series),
		       struct hlg_err *err)
{
	size_t n = hlg_rows_host_shown(report);
	const double total = (double)hlg_count_weigh(report->all.weight,
						     hlg_profile_host(report->profile));

	for (size_t i = 0; i < n; i++) {
		const struct hlg_host_row *host = &report->host->rows[i];
		uint64_t weight = hlg_count_weigh(report->all.weight, host->count);
		char *series = NULL;

		if (report->by) {
			series = hlg_report_series_name(report, host->series);
			if (!series)
				return hlg_err_memory(err, "report");
		}
		row(to, host, total > 0 ? (double)weight / total : 0, series);
		free(series);
	}
	return 0;
}

bool hlg_rows_has_event(const struct hlg_report *r, uint32_t event)
{
	for (uint32_t i = 0; i < r->n_events; i++)
		if (r->events[i].event == event && r->events[i].count.samples &&
		    r->options->mode != HLG_SHOW_HOST)
			return true;
	for (size_t i = 0; i < r->n_host; i++)
		if (r->profile->series[r->host->rows[i].series].event == event &&
		    r->options->mode != HLG_SHOW_GUEST)
			return true;
	return false;
}
