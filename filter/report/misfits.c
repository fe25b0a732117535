// SPDX-License-Identifier: GPL-2.0-only
#include "filter/report/misfits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "symtab/bsearch.h"

static struct hlg_boundaries test(const struct hlg_view *view, const struct hlg_row *row,
				  struct hlg_code *code)
{
	struct hlg_boundaries sum = {0};

	for (size_t i = 0; i < row->n_hits; i++) {
		const struct hlg_hit *hit = &view->hits[row->first_hit + i];

		hlg_verdict_count(&sum, hlg_trust_at(code, row, hit), hit->count.samples);
	}
	return sum;
}

char *hlg_misfits_name(const struct hlg_place *place)
{
	char *name;

	return asprintf(&name, "[does not fit] 0x%" PRIx64, place->start) < 0 ? NULL
									      : name;
}

bool hlg_misfits_mark(struct hlg_view *view, const struct hlg_trust *trust,
		      struct hlg_count *sum, size_t *rows)
{
	for (size_t i = 0; i < view->n_rows; i++) {
		struct hlg_row *row = &view->rows[i];
		const struct hlg_image_test *ti = hlg_trust_of(trust, row->place.image);
		struct hlg_boundaries at;
		char *name;

		if (!ti || !ti->code || !row->place.symbol)
			continue;
		at = test(view, row, ti->code);
		if ((double)at.on >= HLG_VERDICT_NEARLY_ALL * (double)(at.on + at.off))
			continue;
		name = hlg_misfits_name(&row->place);
		if (!name)
			return false;
		free(row->name);
		row->name = name;
		row->misfit = true;
		hlg_count_add(sum, row->count);
		++*rows;
	}
	return true;
}

static int compare_owners(const void *a, const void *b)
{
	return hlg_bsearch_order(*(const uintptr_t *)a, *(const uintptr_t *)b);
}

bool hlg_misfits_list(struct hlg_report *r)
{
	size_t n = 0;

	if (!r->n_misfits)
		return true;
	r->misfit = calloc(r->n_misfits, sizeof(*r->misfit));
	if (!r->misfit)
		return false;
	for (size_t i = 0; i < r->all.n_rows; i++)
		if (r->all.rows[i].misfit)
			r->misfit[n++] = (uintptr_t)r->all.rows[i].place.owner;
	qsort(r->misfit, n, sizeof(*r->misfit), compare_owners);
	return true;
}

bool hlg_misfits_has(const struct hlg_report *r, const struct hlg_place *place)
{
	const uintptr_t owner = (uintptr_t)place->owner;

	return r->n_misfits &&
	       bsearch(&owner, r->misfit, r->n_misfits, sizeof(owner), compare_owners);
}
