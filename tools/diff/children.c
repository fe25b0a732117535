// SPDX-License-Identifier: GPL-2.0-only
#include "tools/diff/children.h"

#include <stdlib.h>
#include <string.h>

#include "filter/report/callgraph.h"
#include "filter/report/children.h"
#include "filter/report/rows.h"
#include "symtab/code/frame.h"
#include "tools/diff/key.h"

static void free_rows(struct hlg_row *rows, size_t n)
{
	for (size_t i = 0; rows && i < n; i++) {
		free(rows[i].name);
		free(rows[i].apart);
	}
	free(rows);
}

/* Puts the children's rows in place of the view's; self of rows, then of the border. */
static bool replace(struct hlg_view *view, struct hlg_count *self,
		    const struct hlg_children *children)
{
	struct hlg_row *rows = calloc(children->n + 1, sizeof(*rows));
	struct hlg_row *borders = calloc(children->n + 1, sizeof(*borders));
	size_t n = 0, n_borders = 0;
	bool ok = rows && borders;

	for (int border = 0; border < 2; border++)
		for (size_t i = 0; ok && i < children->n; i++) {
			struct hlg_row row = hlg_children_row(children, i);

			if (row.border != border)
				continue;
			row.name = strdup(row.name);
			ok = row.name;
			if (self)
				self[n + n_borders] = children->rows[i].self;
			if (border)
				borders[n_borders++] = row;
			else
				rows[n++] = row;
		}
	if (!ok) {
		free_rows(rows, n);
		free_rows(borders, n_borders);
		return false;
	}
	free_rows(view->rows, view->n_rows);
	free_rows(view->borders, view->n_borders);
	view->rows = rows;
	view->n_rows = n;
	view->borders = borders;
	view->n_borders = n_borders;
	return true;
}

/* A row that is looked for by its name. */
struct named {
	size_t pair, row;
	int kind;
	char *key;
};

static int compare_names(const struct named *x, const struct named *y)
{
	if (x->pair != y->pair)
		return x->pair < y->pair ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind - y->kind;
	return strcmp(x->key, y->key);
}

static int compare_named(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int names = compare_names(x, y);

	return names ? names : x->row < y->row ? -1 : x->row > y->row;
}

/* Gives the first of rows of one name the samples of all, each once. seen: of each path
 * the number of the last that had it. */
static void unite(struct hlg_children *c, const struct named *named, size_t n,
		  size_t *seen)
{
	struct hlg_count sum = {0, 0};

	for (size_t i = 0; i < n; i++) {
		struct hlg_children_row *row = &c->rows[named[i].row];

		for (size_t k = 0; k < row->n_paths; k++) {
			const size_t path = c->stacks[row->first + k];

			if (seen[path] == named->row + 1)
				continue;
			seen[path] = named->row + 1;
			hlg_count_add(&sum, c->paths.paths[path].count);
		}
		row->count = (struct hlg_count){0, 0};
	}
	c->rows[named->row].count = sum;
}

/* The rows that are looked for by names, in order. False without memory. */
static bool list_named(struct named *named, size_t *n, const struct hlg_children *c,
		       const struct hlg_diff *diff, int side)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct hlg_row row = hlg_children_row(c, i);
		const size_t pair = hlg_paired_find(&diff->images, side, row.place.image);

		if (row.border || pair == diff->images.n || diff->images.pairs[pair].same)
			continue;
		named[*n] = (struct named){.pair = pair,
					   .row = i,
					   .kind = row.place.symbol ? HLG_FUNCTION
								    : (int)row.place.kind,
					   .key = hlg_diff_key_of(&row.place)};
		if (!named[(*n)++].key)
			return false;
	}
	if (*n)
		qsort(named, *n, sizeof(*named), compare_named);
	return true;
}

/* A sample that has several of one name in its stack is one of theirs, as they are one
 * row (join.c). */
static bool unite_names(struct hlg_children *c, const struct hlg_diff *diff, int side)
{
	struct named *named = calloc(c->n + 1, sizeof(*named));
	size_t *seen = calloc(c->paths.n + 1, sizeof(*seen));
	size_t n = 0;
	bool ok = named && seen && list_named(named, &n, c, diff, side);

	for (size_t i = 0, j; ok && i < n; i = j) {
		for (j = i + 1; j < n && compare_names(&named[i], &named[j]) == 0; j++)
			;
		if (j - i > 1)
			unite(c, &named[i], j - i, seen);
	}
	for (size_t i = 0; i < n; i++)
		free(named[i].key);
	free(named);
	free(seen);
	return ok;
}

static int include(struct hlg_view *view, struct hlg_count **self,
		   const struct hlg_diff *diff, int side, const struct hlg_report *report,
		   struct hlg_err *err)
{
	struct hlg_children children;
	int rc = hlg_children_build(&children, report, view, err);

	if (rc == 0 && !unite_names(&children, diff, side))
		rc = hlg_err_memory(err, "diff");
	if (rc == 0 && self)
		*self = calloc(children.n + 1, sizeof(**self));
	if (rc == 0 &&
	    ((self && !*self) || !replace(view, self ? *self : NULL, &children)))
		rc = hlg_err_memory(err, "diff");
	if (rc == 0 && report->options->border != HLG_BORDER_DROP) {
		view->kept = children.all;
		view->border = (struct hlg_count){0, 0};
	}
	hlg_children_finish(&children);
	return rc;
}

/* One recording's stacks are judged by themselves, with the side's images and check. */
static int include_run(const struct hlg_diff *diff, int s, size_t i, struct hlg_err *err)
{
	const struct hlg_diff_side *side = &diff->side[s];
	struct hlg_report report = side->report;
	int rc;

	report.profile = &side->runs[i];
	report.stacks = &side->run_stacks[i];
	report.callers = (struct hlg_caller_sums){0};
	report.by_series = (struct hlg_by_series){0};
	report.notes = (struct hlg_note_list){0};
	rc = hlg_callgraph_judge(&report, err);
	if (rc == 0)
		rc = include(&side->each[i], NULL, diff, s, &report, err);
	hlg_proof_close(report.proof);
	hlg_by_series_finish(&report.by_series);
	hlg_note_list_finish(&report.notes);
	return rc;
}

static bool may_have_tables(const struct hlg_space *space)
{
	for (size_t i = 0; i < space->n_images; i++)
		if (!hlg_frame_may_have_tables(space->images[i]))
			return false;
	return true;
}

int hlg_diff_children(struct hlg_diff *diff, int s, const char *of, struct hlg_err *err)
{
	struct hlg_diff_side *side = &diff->side[s];
	int rc;

	if (side->report.callers.refused)
		return hlg_err_set(
			err, HLG_EINPUT,
			"%s: the guest keeps no frame pointers, so its callers "
			"cannot be compared (%s%s; --force compares all the same)",
			of,
			may_have_tables(side->report.space)
				? "record --guest-stacks=cfi, or "
				: "",
			HLG_FRAME_ADVICE);
	if (!side->report.callers.stacks)
		return hlg_err_set(err, HLG_EINPUT, "%s: %s", of,
				   hlg_callgraph_none(side->report.space));
	rc = include(&side->all, &side->self, diff, s, &side->report, err);
	for (size_t i = 0; rc == 0 && i < side->n_runs; i++)
		rc = include_run(diff, s, i, err);
	return rc;
}
