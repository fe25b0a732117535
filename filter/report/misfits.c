// SPDX-License-Identifier: GPL-2.0-only
#include "filter/report/misfits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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
		if (asprintf(&name, "[does not fit] 0x%" PRIx64, row->place.start) < 0)
			return false;
		free(row->name);
		row->name = name;
		row->misfit = true;
		hlg_count_add(sum, row->count);
		++*rows;
	}
	return true;
}
