// SPDX-License-Identifier: GPL-2.0-only
#include "filter/report/misfits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "symtab/bsearch.h"
#include "symtab/grow.h"
#include "symtab/unique.h"

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

static bool add(struct hlg_misfits *to, const struct hlg_row *row)
{
	if (!HLG_GROW(to->owner, to->n))
		return false;
	to->owner[to->n++] = (uintptr_t)row->place.owner;
	hlg_count_add(&to->count, row->count);
	return true;
}

bool hlg_misfits_mark(struct hlg_view *view, const struct hlg_trust *trust,
		      struct hlg_misfits *to)
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
		if (to && !add(to, row))
			return false;
	}
	return true;
}

static int compare_owners(const void *a, const void *b)
{
	return hlg_bsearch_order(*(const uintptr_t *)a, *(const uintptr_t *)b);
}

void hlg_misfits_settle(struct hlg_misfits *m)
{
	m->n = HLG_UNIQUE(m->owner, m->n, compare_owners, NULL);
}

bool hlg_misfits_has(const struct hlg_report *r, const struct hlg_place *place)
{
	const struct hlg_misfits *m = &r->misfits;
	const uintptr_t owner = (uintptr_t)place->owner;

	return m->n && bsearch(&owner, m->owner, m->n, sizeof(owner), compare_owners);
}
