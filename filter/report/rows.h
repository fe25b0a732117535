/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rows of a report that its user asked for: what mode=, by=, top= and min= leave, one
 * after the other. Every format goes through them here.
 */
#ifndef HLG_FILTER_REPORT_ROWS_H
#define HLG_FILTER_REPORT_ROWS_H

#include "filter/report/report.h"

/* top=, or what it is when unset; 0: all. */
uint64_t hlg_rows_top(const struct hlg_report *report);

/* Is a row of this share shown behind n others? As top= and min= say, for all formats. */
bool hlg_rows_shows(const struct hlg_report *report, double share, uint64_t n);

/* The option that shows more, where the next is of this share: min if it is below that,
 * whatever else would end there; else the one that is named. */
const char *hlg_rows_limit(const struct hlg_report *report, double next,
			   const char *option);

/* How many of the rows (or regions) of a view the user wants to see; shares descend. */
size_t hlg_rows_shown(const struct hlg_report *report, size_t n,
		      double (*share)(const struct hlg_view *, size_t),
		      const struct hlg_view *view);
double hlg_rows_share(const struct hlg_view *view, size_t i);

/* How many rows of the border: by top= and min= as others; none with border=drop. */
size_t hlg_rows_borders_shown(const struct hlg_report *report,
			      const struct hlg_view *view);

/* What a view is of: what is kept, and the border unless that is left out. */
struct hlg_count hlg_rows_sum(const struct hlg_report *report,
			      const struct hlg_view *view);

/* How many observations that is worth, phases aside (view.h). */
double hlg_rows_observations(const struct hlg_report *report,
			     const struct hlg_view *view);

/* The same of the regions: regions=, else the format's number, but no more than top=. */
size_t hlg_rows_regions_shown(const struct hlg_report *report,
			      const struct hlg_view *view);

/* Fills the view's order as sort= has it. False without memory. */
bool hlg_rows_sort(struct hlg_view *view, int sort);

/* The row that stands at a place, from 0 on, of a view's order. Which rows are shown goes
 * by overhead: those from hlg_rows_shown() on are passed over. */
static inline size_t hlg_rows_at(const struct hlg_view *view, size_t place)
{
	return view->order ? view->order[place] : place;
}

/*
 * Calls view for what mode= and by= ask for: the whole report, or each group with its
 * series' name (not escaped), or nothing. to is handed on.
 */
int hlg_rows_each_view(void *to, const struct hlg_report *report,
		       void (*view)(void *to, const struct hlg_report *report,
				    const struct hlg_view *view, const char *series),
		       struct hlg_err *err);

/*
 * Calls row for each of the host's rows that mode= and top= ask for, with its share of
 * the host's weight; to is handed on.
 */
int hlg_rows_each_host(void *to, const struct hlg_report *report,
		       void (*row)(void *to, const struct hlg_host_row *row, double share,
				   const char *series),
		       struct hlg_err *err);
size_t hlg_rows_host_shown(const struct hlg_report *report);

/* Has the report samples of this event to show? Some are only read: KVM_RUN's. */
bool hlg_rows_has_event(const struct hlg_report *report, uint32_t event);

#endif
