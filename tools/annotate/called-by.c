// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/called-by.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "filter/write/table.h"

enum {
	SHOWN = 4
};

struct caller {
	const struct hlg_path_place *place;
	uint64_t weight;
};

static int compare(const void *a, const void *b)
{
	const struct caller *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->place && y->place ? strcmp(x->place->name, y->place->name) : 0;
}

/* Sums up the samples of a row by the frame above it; returns what all weigh. */
static uint64_t sum_up(struct caller *callers, const struct hlg_paths *paths,
		       const struct hlg_view *view, const struct hlg_row *row)
{
	uint64_t all = 0;

	for (size_t i = 0; i < paths->n; i++) {
		const struct hlg_path *path = &paths->paths[i];
		uint64_t weight = hlg_count_weigh(view->weight, path->count);
		uint32_t place;

		if (path->row != row || path->n < 2)
			continue;
		place = paths->frames[path->first + 1].place;
		callers[place].place = &paths->places[place];
		callers[place].weight += weight;
		all += weight;
	}
	return all;
}

/* A line each: names may be long. */
static void put(FILE *f, const struct caller *callers, size_t n, uint64_t all,
		const struct hlg_screen *screen)
{
	static const char label[] = "  called by:";
	const int indent = (int)strlen(label);
	const long cells = screen->columns > 50 ? (long)screen->columns - indent - 12
			   : screen->columns    ? 38
						: LONG_MAX;
	size_t found = 0;
	char percent[16];

	while (found < n && callers[found].weight)
		found++;
	for (size_t i = 0; i < found && i < SHOWN; i++) {
		fprintf(f, "%-*s%7s %%  ", indent, i ? "" : label,
			hlg_interval_percent(percent,
					     (double)callers[i].weight / (double)all));
		hlg_table_cut(f, callers[i].place->name, cells, screen->ascii);
		fputc('\n', f);
	}
	if (found > SHOWN)
		fprintf(f, "%*s  (%zu more: hlguest report -g callee)\n", indent, "",
			found - SHOWN);
}

bool hlg_called_by_put(FILE *f, struct hlg_called_by *called, const struct hlg_report *r,
		       const struct hlg_view *view, const struct hlg_row *row)
{
	struct caller *callers;
	struct hlg_err err;
	uint64_t all;

	if (!r->callers.stacks)
		return true;
	if (called->view != view) {
		hlg_called_by_finish(called);
		if (hlg_paths_build(&called->paths, r, view, &err) < 0)
			return false;
		called->view = view;
	}
	callers = calloc((size_t)called->paths.n_places + 1, sizeof(*callers));
	if (!callers)
		return false;
	all = sum_up(callers, &called->paths, view, row);
	qsort(callers, called->paths.n_places, sizeof(*callers), compare);
	if (all)
		put(f, callers, called->paths.n_places, all, &r->screen);
	free(callers);
	return true;
}

void hlg_called_by_finish(struct hlg_called_by *called)
{
	hlg_paths_finish(&called->paths);
	*called = (struct hlg_called_by){0};
}
