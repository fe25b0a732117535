// SPDX-License-Identifier: GPL-2.0-only
#include "tools/top/rows.h"

#include <stdlib.h>
#include <string.h>

#include "filter/report/misfits.h"

static int compare_ips(const void *a, const void *b)
{
	const struct hlg_cell *x = a, *y = b;

	return x->ip < y->ip ? -1 : x->ip > y->ip;
}

/* What the window has at each address of the space, by address, as one series: who ran it
 * does not matter here. To be freed; NULL without memory. */
static struct hlg_cell *collect(const struct hlg_top_judged *judged,
				const struct hlg_top_window *w, enum hlg_top_which which,
				size_t *n)
{
	struct hlg_cell *cells = calloc((size_t)w->n_cells + 1, sizeof(*cells));
	size_t once = 0;

	*n = 0;
	for (uint32_t i = 0; cells && i < w->n_cells; i++) {
		const struct hlg_top_cell *cell = &w->cells[i];
		struct hlg_count count = hlg_top_window_count(cell, which);

		if (count.samples)
			cells[(*n)++] = (struct hlg_cell){
				.ip = hlg_batch_given_ip(&judged->batch, cell->series,
							 cell->ip),
				.count = count,
				.tid = HLG_MANY_TIDS};
	}
	if (!cells || *n == 0)
		return cells;
	qsort(cells, *n, sizeof(*cells), compare_ips);
	for (size_t i = 1; i < *n; i++) {
		if (cells[i].ip == cells[once].ip)
			hlg_count_add(&cells[once].count, cells[i].count);
		else
			cells[++once] = cells[i];
	}
	*n = once + 1;
	return cells;
}

/* Takes the name from rows that do not fit, where the report does. */
static bool mark(const struct hlg_report *r, struct hlg_view *view)
{
	return r->suppressed || r->options->force || r->trust.all.samples.off == 0 ||
	       hlg_misfits_mark(view, &r->trust, NULL);
}

static int compare_owners(const void *a, const void *b)
{
	const struct hlg_row *x = *(const struct hlg_row *const *)a;
	const struct hlg_row *y = *(const struct hlg_row *const *)b;

	if (x->border != y->border)
		return x->border - y->border;
	return (uintptr_t)x->place.owner < (uintptr_t)y->place.owner
		       ? -1
		       : x->place.owner != y->place.owner;
}

/* The rows of a view by what they are of; to be freed, NULL without memory. */
static const struct hlg_row **by_owner(const struct hlg_view *view, size_t *n)
{
	const struct hlg_row **rows;

	*n = view->n_rows + view->n_borders;
	rows = calloc(*n + 1, sizeof(*rows));
	for (size_t i = 0; rows && i < *n; i++)
		rows[i] = hlg_view_row(view, i);
	if (rows)
		qsort(rows, *n, sizeof(*rows), compare_owners);
	return rows;
}

static const struct hlg_row *find_row(const struct hlg_row *const *rows, size_t n,
				      const struct hlg_row *like)
{
	const struct hlg_row *const *found =
		bsearch(&like, rows, n, sizeof(*rows), compare_owners);

	return found ? *found : NULL;
}

/* What the report knows of a row. Samples of phases are worth less, by as much as it
 * found of all (design): when each sample was taken is not known here. */
static bool learn(struct hlg_row *row, const struct hlg_row *judged, double all, double n)
{
	double low = row->share.low;

	if (judged && judged->apart && !row->apart)
		row->apart = strdup(judged->apart);
	row->design = judged ? judged->design : all;
	row->share = hlg_interval_wilson(row->share.share, n / row->design);
	if (row->few)
		row->share.low = low;
	return !judged || !judged->apart || row->apart;
}

static bool learn_all(struct hlg_view *v, const struct hlg_view *judged)
{
	size_t n;
	const struct hlg_row **rows = by_owner(judged, &n);
	bool ok = rows != NULL;

	for (size_t i = 0; ok && i < v->n_rows; i++)
		ok = learn(&v->rows[i], find_row(rows, n, &v->rows[i]), judged->design,
			   v->observations);
	for (size_t i = 0; ok && i < v->n_borders; i++)
		ok = learn(&v->borders[i], find_row(rows, n, &v->borders[i]),
			   judged->design, v->guest_observations);
	free(rows);
	return ok;
}

static int build_view(struct hlg_view *view, const struct hlg_top_judged *judged,
		      const struct hlg_top_window *w, enum hlg_top_which which,
		      struct hlg_err *err)
{
	static const uint32_t rank[] = {0};
	const struct hlg_report *r = &judged->report;
	size_t n;
	struct hlg_cell *cells = collect(judged, w, which, &n);
	const struct hlg_view_input in = {.space = r->space,
					  .options = r->options,
					  .cells = cells,
					  .n_cells = n,
					  .rank = rank,
					  .squares =
						  hlg_top_window_sums(w, which).squares,
					  .border = r->suppressed ? NULL : &r->border,
					  .weight = r->all.weight,
					  .raw = r->suppressed};
	int rc = cells ? hlg_view_build(view, &in, err) : hlg_err_memory(err, "rows");

	if (rc == 0 && !(learn_all(view, &r->all) && mark(r, view)))
		rc = hlg_err_memory(err, "rows");
	free(cells);
	return rc;
}

static bool is_chosen(const struct hlg_row *row, const char *filter)
{
	return !filter[0] || strcasestr(row->name, filter);
}

static double share_of(const struct hlg_row *row)
{
	return row ? row->share.share : -1;
}

/* Rows of equal rank stand as they do in the view since the start. */
static int compare_rows(const void *a, const void *b, void *sort)
{
	const struct hlg_top_row *x = a, *y = b;
	double p = 0, q = 0;
	int order = 0;

	if (x->since->border != y->since->border)
		return x->since->border - y->since->border;
	if (*(enum hlg_top_sort *)sort == HLG_TOP_BY_NAME)
		order = strcasecmp(x->since->name, y->since->name);
	if (*(enum hlg_top_sort *)sort == HLG_TOP_BY_RECENT) {
		p = share_of(x->recent);
		q = share_of(y->recent);
	}
	if (order == 0 && p == q && *(enum hlg_top_sort *)sort != HLG_TOP_BY_NAME) {
		p = share_of(x->since);
		q = share_of(y->since);
	}
	if (order == 0 && p != q)
		return p > q ? -1 : 1;
	return order ? order : x->since < y->since ? -1 : x->since > y->since;
}

/* Puts each recent row beside the one since the start; that has all addresses. */
static int join(struct hlg_top_rows *rows, struct hlg_err *err)
{
	size_t n = rows->since.n_rows + rows->since.n_borders, n_recent;
	const struct hlg_row **recent = by_owner(&rows->recent, &n_recent);

	rows->all = calloc(n + 1, sizeof(*rows->all));
	rows->rows = calloc(n + 1, sizeof(*rows->rows));
	if (!recent || !rows->all || !rows->rows) {
		free(recent);
		return hlg_err_memory(err, "rows");
	}
	for (size_t i = 0; i < n; i++) {
		const struct hlg_row *row = hlg_view_row(&rows->since, i);

		rows->all[rows->n_all++] =
			(struct hlg_top_row){row, find_row(recent, n_recent, row)};
	}
	free(recent);
	return 0;
}

void hlg_top_rows_choose(struct hlg_top_rows *rows, enum hlg_top_sort sort,
			 const char *filter)
{
	rows->n = 0;
	for (size_t i = 0; i < rows->n_all; i++)
		if (is_chosen(rows->all[i].since, filter))
			rows->rows[rows->n++] = rows->all[i];
	if (rows->n)
		qsort_r(rows->rows, rows->n, sizeof(*rows->rows), compare_rows, &sort);
}

int hlg_top_rows_build(struct hlg_top_rows *rows, const struct hlg_top_judged *judged,
		       const struct hlg_top_window *window, struct hlg_err *err)
{
	int rc;

	*rows = (struct hlg_top_rows){.n = 0};
	for (int i = 0; i < 2; i++) {
		rows->sums[i] = hlg_top_window_sums(window, (enum hlg_top_which)i);
		rows->took[i] = hlg_top_window_took(window, (enum hlg_top_which)i);
	}
	rc = build_view(&rows->since, judged, window, HLG_TOP_SINCE, err);
	if (rc == 0)
		rc = build_view(&rows->recent, judged, window, HLG_TOP_RECENT, err);
	if (rc == 0)
		rc = join(rows, err);
	if (rc == 0)
		hlg_top_rows_choose(rows, HLG_TOP_BY_RECENT, "");
	return rc;
}

void hlg_top_rows_finish(struct hlg_top_rows *rows)
{
	hlg_view_finish(&rows->since);
	hlg_view_finish(&rows->recent);
	free(rows->all);
	free(rows->rows);
	*rows = (struct hlg_top_rows){.n = 0};
}
