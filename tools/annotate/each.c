// SPDX-License-Identifier: GPL-2.0-only
/* Which rows of which views are listed. */
#include <stdlib.h>

#include "filter/report/rows.h"
#include "filter/view/place-name.h"
#include "tools/annotate/annotate.h"

struct show {
	const struct hlg_annotate *a;
	void (*each)(void *ctx, const struct hlg_listing *listing,
		     const struct hlg_view *view, const char *series);
	void *ctx;
	const struct hlg_view *view;
	const char *series;
};

static int show_row(const struct show *s, const struct hlg_row *row, struct hlg_err *err)
{
	const struct hlg_listing_input in = {.report = s->a->report,
					     .view = s->view,
					     .row = row,
					     .sources = s->a->sources,
					     .syntax = s->a->syntax};
	struct hlg_listing listing;
	int rc = hlg_listing_build(&listing, &in, err);

	/* Too late for a note. */
	if (rc == 0 && row->place.image && hlg_image_unread(row->place.image) &&
	    !s->a->report->unread)
		rc = hlg_image_fail_unread(row->place.image, err);
	if (rc == 0)
		s->each(s->ctx, &listing, s->view, s->series);
	hlg_listing_finish(&listing);
	return rc;
}

/* A place without samples has a row all the same. */
static int show_place(const struct show *s, const struct hlg_place *place,
		      struct hlg_err *err)
{
	struct hlg_row none = {.place = *place};
	int rc;

	for (size_t i = 0; i < s->view->n_rows; i++)
		if (s->view->rows[i].place.owner == place->owner)
			return show_row(s, &s->view->rows[i], err);
	none.share = hlg_interval_wilson(0, s->view->observations);
	none.name = hlg_place_name(place, s->a->report->options->demangle);
	if (!none.name)
		return hlg_err_memory(err, "annotate");
	rc = show_row(s, &none, err);
	free(none.name);
	return rc;
}

static int show_view(const struct show *s, struct hlg_err *err)
{
	const struct hlg_report *r = s->a->report;
	size_t n;
	int rc = 0;

	for (size_t i = 0; i < s->a->places->n && rc == 0; i++)
		rc = show_place(s, &s->a->places->place[i], err);
	if (s->a->places->n)
		return rc;
	n = hlg_rows_shown(r, s->view->n_rows, hlg_rows_share, s->view);
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = show_row(s, &s->view->rows[i], err);
	return rc;
}

int hlg_annotate_each(const struct hlg_annotate *a,
		      void (*each)(void *ctx, const struct hlg_listing *listing,
				   const struct hlg_view *view, const char *series),
		      void *ctx, struct hlg_err *err)
{
	const struct hlg_report *r = a->report;
	struct show s = {.a = a, .each = each, .ctx = ctx, .view = &r->all};
	int rc = 0;

	if (r->suppressed)
		return 0;
	if (r->n_groups == 0)
		return show_view(&s, err);
	for (uint32_t i = 0; i < r->n_groups && rc == 0; i++) {
		char *series = hlg_report_series_name(r, r->groups[i].series);

		if (!series)
			return hlg_err_memory(err, "annotate");
		s.series = series;
		s.view = &r->groups[i].view;
		rc = show_view(&s, err);
		free(series);
	}
	return rc;
}
