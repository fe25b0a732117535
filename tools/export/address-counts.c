// SPDX-License-Identifier: GPL-2.0-only
#include "tools/export/export.h"

#include <stdlib.h>

#include "symtab/unique.h"

static int compare(const void *a, const void *b)
{
	const struct hlg_address_count *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->column < y->column ? -1 : x->column > y->column;
}

static void add(void *to, const void *from)
{
	struct hlg_address_count *spot = to;

	hlg_count_add(&spot->count, ((const struct hlg_address_count *)from)->count);
}

bool hlg_address_counts_collect(struct hlg_address_counts *spots,
				const struct hlg_view *view, const struct hlg_row *row,
				const uint32_t *columns)
{
	struct hlg_address_count *spot = calloc(row->n_hits + 1, sizeof(*spot));

	*spots = (struct hlg_address_counts){spot, 0};
	if (!spot)
		return false;
	for (size_t i = 0; i < row->n_hits; i++) {
		const struct hlg_hit *hit = &view->hits[row->first_hit + i];

		spot[i] = (struct hlg_address_count){
			hit->addr, columns ? columns[hit->series] : 0, hit->count};
	}
	spots->n = HLG_UNIQUE(spot, row->n_hits, compare, add);
	return true;
}

void hlg_address_counts_finish(struct hlg_address_counts *spots)
{
	free(spots->spot);
	*spots = (struct hlg_address_counts){0};
}
