// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filter/report/rows.h"
#include "tools/diff/join.h"

enum {
	LEAST_SAMPLES = 20 /* of both sides, for a row to be tested among many */
};

/* What each recording of a side has in each row: weight[run * rows + row]. */
struct runs {
	uint64_t *weight;
	size_t n;
};

/* A row of the side as a whole, as it is looked for. */
struct where {
	const void *owner; /* of a row; or image of a region */
	uint64_t addr;     /* of a row: 1 of the border's, else 0 */
	size_t index;
};

static int compare_where(const void *a, const void *b)
{
	const struct where *x = a, *y = b;

	if (x->owner != y->owner)
		return (uintptr_t)x->owner < (uintptr_t)y->owner ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static struct where where_row(const struct hlg_view *view, bool regions, size_t i)
{
	if (regions)
		return (struct where){view->regions[i].image, view->regions[i].addr, i};
	return (struct where){hlg_view_row(view, i)->place.owner,
			      hlg_view_row(view, i)->border, i};
}

static size_t n_of(const struct hlg_diff_side *side, const struct hlg_view *view,
		   bool regions)
{
	return regions ? view->n_regions : hlg_diff_join_n(side, view);
}

/* Adds what one recording has to its line of weights. */
static void add_run(uint64_t *weight, const struct hlg_diff_side *side, size_t run,
		    const struct where *where, const size_t *to, bool regions)
{
	const struct hlg_view *view = &side->each[run];

	for (size_t i = 0; i < n_of(side, view, regions); i++) {
		struct where key = where_row(view, regions, i);
		const struct where *found =
			bsearch(&key, where, n_of(side, &side->all, regions),
				sizeof(*where), compare_where);
		struct hlg_count count =
			regions ? view->regions[i].count : hlg_view_row(view, i)->count;

		if (found)
			weight[to[found->index]] += hlg_count_weigh(view->weight, count);
	}
}

static bool weigh_runs(struct runs *runs, const struct hlg_diff_side *side,
		       const struct hlg_diff_rows *rows, const size_t *to, bool regions)
{
	size_t n = n_of(side, &side->all, regions);
	struct where *where = calloc(n + 1, sizeof(*where));

	runs->n = side->n_runs;
	if (!where || __builtin_mul_overflow(runs->n + 1, rows->n + 1, &n) ||
	    !(runs->weight = calloc(n, sizeof(*runs->weight)))) {
		free(where);
		return false;
	}
	n = n_of(side, &side->all, regions);
	for (size_t i = 0; i < n; i++)
		where[i] = where_row(&side->all, regions, i);
	qsort(where, n, sizeof(*where), compare_where);
	for (size_t i = 0; i < runs->n; i++)
		add_run(runs->weight + i * rows->n, side, i, where, to, regions);
	free(where);
	return true;
}

/* One row's share in every recording of a side. */
static void list_runs(struct hlg_dispersion_run *list, const struct hlg_diff_side *side,
		      const struct runs *runs, size_t n_rows, size_t row)
{
	for (size_t i = 0; i < runs->n; i++) {
		const struct hlg_view *view = &side->each[i];
		double total = hlg_diff_join_weight(side, view);
		double weight = (double)runs->weight[i * n_rows + row];

		list[i] = (struct hlg_dispersion_run){
			.share = total > 0 ? weight / total : 0,
			.weight = total,
			.n = hlg_rows_observations(&side->report, view)};
	}
}

/* How many observations a share of the side is worth, after what its phases leave of
 * them. Where recordings are compared, these show it themselves. */
static double worth(const struct hlg_diff_side *side, const struct hlg_row *row)
{
	return hlg_rows_observations(&side->report, &side->all) /
	       (row ? row->design : side->all.design);
}

static struct hlg_share share_of(const struct hlg_diff_side *side, struct hlg_count count,
				 const struct hlg_row *row)
{
	double total = hlg_diff_join_weight(side, &side->all);
	double weight = (double)hlg_count_weigh(side->all.weight, count);

	return hlg_interval_wilson(total > 0 ? weight / total : 0, worth(side, row));
}

/* What is done to each row's shares in the recordings of both sides. */
struct task {
	const struct hlg_diff *diff;
	struct hlg_diff_rows *rows;
	const struct runs *runs;
	struct hlg_dispersion_run *lists[2];
	struct hlg_dispersion all;
};

static void list_row(const struct task *t, size_t i)
{
	for (int s = 0; s < 2; s++)
		list_runs(t->lists[s], &t->diff->side[s], &t->runs[s], t->rows->n, i);
}

/* Too few samples to become significant, among many rows. */
static bool is_small(const struct hlg_diff_row *row)
{
	return row->count[0].samples + row->count[1].samples < LEAST_SAMPLES;
}

/* How much all rows differ between the recordings of a side. False without memory. */
static bool fit(struct task *t)
{
	struct hlg_dispersion_row *rows = calloc(t->rows->n + 1, sizeof(*rows));
	size_t n = 0;

	for (size_t i = 0; rows && i < t->rows->n; i++) {
		if (is_small(&t->rows->row[i]))
			continue;
		list_row(t, i);
		hlg_dispersion_begin(&rows[n]);
		for (int s = 0; s < 2; s++)
			hlg_dispersion_look(&rows[n], t->lists[s], t->runs[s].n);
		n++;
	}
	if (rows)
		hlg_dispersion_fit(&t->all, rows, n);
	free(rows);
	return rows != NULL;
}

static void compare(const struct task *t, struct hlg_diff_row *row)
{
	const struct hlg_diff_side *a = &t->diff->side[0], *b = &t->diff->side[1];

	for (int s = 0; s < 2; s++)
		row->share[s] = share_of(&t->diff->side[s], row->count[s], row->row[s]);
	if (t->diff->by_runs)
		hlg_compare_runs(&row->compared, t->lists[0], a->n_runs, t->lists[1],
				 b->n_runs, &t->all);
	else
		hlg_compare_samples(&row->compared,
				    (struct hlg_proportion){row->share[0].share,
							    worth(a, row->row[0])},
				    (struct hlg_proportion){row->share[1].share,
							    worth(b, row->row[1])});
	row->compared.diff = row->share[1].share - row->share[0].share;
}

/* Did the row take another amount in the mean of a side's recordings? p. Its share alone
 * does not tell: where another row took less, it has more of what is left. */
static double test_amount(struct task *t)
{
	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < t->runs[s].n; i++) {
			struct hlg_dispersion_run *run = &t->lists[s][i];

			run->n *= run->share;
			run->weight *= run->share / (double)t->diff->side[s].of[i];
		}
	return hlg_diff_total_amounts(t->diff, t->lists);
}

static bool compare_all(const struct hlg_diff *diff, struct hlg_diff_rows *rows,
			const struct runs runs[2])
{
	struct task t = {.diff = diff, .rows = rows, .runs = runs};
	bool ok;

	for (int s = 0; s < 2; s++)
		t.lists[s] = calloc(runs[s].n + 1, sizeof(*t.lists[s]));
	ok = t.lists[0] && t.lists[1] && (!diff->by_runs || fit(&t));
	for (size_t i = 0; ok && i < rows->n; i++) {
		list_row(&t, i);
		compare(&t, &rows->row[i]);
		rows->row[i].amount = test_amount(&t);
	}
	free(t.lists[0]);
	free(t.lists[1]);
	return ok;
}

/* Small rows are left out where recordings are compared: each test makes all others
 * harder to pass. */
static bool adjust(const struct hlg_diff *diff, struct hlg_diff_rows *rows)
{
	double *p = calloc(2 * rows->n + 1, sizeof(*p)), *q = p + rows->n;
	size_t n = 0;
	bool ok = false;

	for (size_t i = 0; p && i < rows->n; i++)
		if (!diff->by_runs || !is_small(&rows->row[i]))
			p[n++] = rows->row[i].compared.p;
	if (p)
		ok = hlg_compare_adjust(q, p, n);
	for (size_t i = 0, k = 0; ok && i < rows->n; i++) {
		struct hlg_diff_row *row = &rows->row[i];

		row->q = diff->by_runs && is_small(row) ? 1 : q[k++];
		row->significant = row->q <= HLG_COMPARE_LEVEL;
		rows->n_significant += row->significant;
	}
	for (size_t i = 0; ok && i < rows->n; i++)
		p[i] = rows->row[i].amount;
	ok = ok && hlg_compare_adjust(q, p, rows->n);
	for (size_t i = 0; ok && i < rows->n; i++)
		rows->row[i].amount = q[i];
	free(p);
	return ok;
}

/* Where a row is, of the side after if it is there. */
static uint64_t address(const struct hlg_diff_row *row)
{
	int s = row->n[1] ? 1 : 0;

	return row->region[s] ? row->region[s]->addr : row->row[s]->place.start;
}

static int compare_rows(const void *a, const void *b)
{
	const struct hlg_diff_row *x = a, *y = b;
	double dx = fabs(x->compared.diff), dy = fabs(y->compared.diff);
	int order;

	if (x->significant != y->significant)
		return y->significant - x->significant;
	if (dx != dy)
		return dx > dy ? -1 : 1;
	order = strcmp(hlg_diff_name(x), hlg_diff_name(y));
	if (order)
		return order;
	if (x->pair != y->pair)
		return x->pair < y->pair ? -1 : 1;
	return address(x) < address(y) ? -1 : address(x) > address(y);
}

bool hlg_diff_judge_rows(const struct hlg_diff *diff, struct hlg_diff_rows *rows)
{
	struct runs runs[2] = {{0}, {0}};
	bool regions = rows == &diff->regions, ok = true;

	for (int s = 0; ok && s < 2; s++)
		ok = weigh_runs(&runs[s], &diff->side[s], rows, rows->to[s], regions);
	ok = ok && compare_all(diff, rows, runs) && adjust(diff, rows);
	if (ok)
		qsort(rows->row, rows->n, sizeof(*rows->row), compare_rows);
	for (int s = 0; s < 2; s++)
		free(runs[s].weight);
	return ok;
}
