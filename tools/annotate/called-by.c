// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/called-by.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filter/write/table.h"
#include "symtab/unique.h"

enum {
	SHOWN = 4,
	SHARES = 21, /* cells of a share and its interval */
	LEAST = 16   /* of a name, on however narrow a screen */
};

/* Samples of a row whose direct caller is such a place. */
struct hlg_called_by_call {
	const struct hlg_row *row;
	const struct hlg_path_place *place;
	uint64_t weight;
};

static int compare(const void *a, const void *b)
{
	const struct hlg_called_by_call *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static void add(void *to, const void *from)
{
	struct hlg_called_by_call *call = to;

	call->weight += ((const struct hlg_called_by_call *)from)->weight;
}

static int compare_weights(const void *a, const void *b)
{
	const struct hlg_called_by_call *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return strcmp(x->place->name, y->place->name);
}

/* All calls of a view, each once; those of no weight are not shown. */
static bool collect(struct hlg_called_by *called)
{
	const struct hlg_paths *paths = &called->paths;
	struct hlg_called_by_call *calls = calloc(paths->n + 1, sizeof(*calls));
	size_t met = 0;

	called->calls = calls;
	if (!calls)
		return false;
	for (size_t i = 0; i < paths->n; i++) {
		const struct hlg_path *path = &paths->paths[i];
		uint64_t weight = hlg_count_weigh(called->view->weight, path->count);

		if (path->n < 2 || !weight)
			continue;
		calls[met++] = (struct hlg_called_by_call){
			path->row, &paths->places[paths->frames[path->first + 1].place],
			weight};
	}
	called->n = HLG_UNIQUE(calls, met, compare, add);
	return true;
}

/* The calls of a row: *n from the returned one on. */
static struct hlg_called_by_call *calls_of(const struct hlg_called_by *called,
					   const struct hlg_row *row, size_t *n)
{
	size_t low = 0, high = called->n, end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (called->calls[middle].row < row)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < called->n && called->calls[end].row == row;)
		end++;
	*n = end - low;
	return called->calls + low;
}

/* A line each: names may be long. samples: what the row's are worth, which tells how sure
 * shares are. */
static void put(FILE *f, const struct hlg_called_by_call *calls, size_t n, double samples,
		const struct hlg_screen *screen)
{
	static const char label[] = "  called by:";
	const int indent = (int)strlen(label);
	const long left = (long)screen->columns - indent - SHARES;
	const long cells = !screen->columns ? LONG_MAX : left > LEAST ? left : LEAST;
	uint64_t all = 0;
	char percent[16], margin[24];

	for (size_t i = 0; i < n; i++)
		all += calls[i].weight;
	for (size_t i = 0; i < n && i < SHOWN; i++) {
		struct hlg_share s = hlg_interval_wilson(
			(double)calls[i].weight / (double)all, samples);

		fprintf(f, "%-*s%7s %%  %s  ", indent, i ? "" : label,
			hlg_interval_percent(percent, s.share),
			hlg_interval_margin(margin, &s, false, screen->ascii));
		hlg_table_cut(f, calls[i].place->name, cells, screen->ascii);
		fputc('\n', f);
	}
	if (n > SHOWN)
		fprintf(f, "%*s  (%zu more: hlguest report -g callee)\n", indent, "",
			n - SHOWN);
}

bool hlg_called_by_put(FILE *f, struct hlg_called_by *called, const struct hlg_report *r,
		       const struct hlg_view *view, const struct hlg_row *row)
{
	struct hlg_called_by_call *calls;
	struct hlg_err err;
	size_t n;

	if (!r->callers.stacks)
		return true;
	if (called->view != view) {
		hlg_called_by_finish(called);
		if (hlg_paths_build(&called->paths, r, view, &err) < 0)
			return false;
		called->view = view;
		if (!collect(called))
			return false;
	}
	calls = calls_of(called, row, &n);
	if (n)
		qsort(calls, n, sizeof(*calls), compare_weights);
	put(f, calls, n, (double)row->count.samples / row->design, &r->screen);
	return true;
}

void hlg_called_by_finish(struct hlg_called_by *called)
{
	hlg_paths_finish(&called->paths);
	free(called->calls);
	*called = (struct hlg_called_by){0};
}
