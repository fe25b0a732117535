// SPDX-License-Identifier: GPL-2.0-only
#include "filter/stacks/by-series.h"

#include <stdlib.h>

#include "symtab/bsearch.h"

static int compare(const void *a, const void *b)
{
	const struct hlg_by_series_stack *x = a, *y = b;

	if (x->series != y->series)
		return x->series < y->series ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

bool hlg_by_series_make(struct hlg_by_series *by, const struct hlg_stacks *s)
{
	*by = (struct hlg_by_series){.halves = hlg_stacks_have_halves(s)};
	by->at = malloc(((size_t)s->n_stacks + 1) * sizeof(*by->at));
	if (!by->at)
		return false;
	for (uint32_t i = 0; i < s->n_stacks; i++)
		if (s->stacks[i].guest)
			by->at[by->n++] =
				(struct hlg_by_series_stack){s->stacks[i].series, i};
	qsort(by->at, by->n, sizeof(*by->at), compare);
	return true;
}

const struct hlg_by_series_stack *hlg_by_series_of(const struct hlg_by_series *by,
						   uint32_t series, size_t *n)
{
	size_t from = HLG_BSEARCH_BELOW(by->at, by->n, series, series);

	*n = HLG_BSEARCH_UPTO(by->at, by->n, series, series) - from;
	return by->at + from;
}

void hlg_by_series_finish(struct hlg_by_series *by)
{
	free(by->at);
	*by = (struct hlg_by_series){0};
}
