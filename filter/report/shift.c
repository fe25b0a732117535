// SPDX-License-Identifier: GPL-2.0-only
#include "filter/report/shift.h"

#include <inttypes.h>
#include <stdio.h>

static void move(struct hlg_report *r, const struct hlg_image_test *ti)
{
	for (size_t i = 0; i < r->n_cells; i++) {
		struct hlg_place place;

		hlg_space_lookup(r->space, r->cells[i].ip, &place);
		if (place.image == ti->image && place.addr >= ti->tail.from)
			r->cells[i].ip += (uint64_t)ti->tail.shift;
	}
	hlg_note_list_warn(
		&r->notes,
		"%s: from 0x%" PRIx64 " on, %" PRIu64 " samples are counted %+" PRId64
		" bytes further on, as if another build of it ran "
		"(--assume-shift)",
		ti->image->path, ti->tail.from, ti->tail.samples, ti->tail.shift);
}

bool hlg_shift_cells(struct hlg_report *r)
{
	bool any = false;

	for (size_t i = 0; i < r->trust.n_images; i++)
		if (r->trust.images[i].tail.shift) {
			move(r, &r->trust.images[i]);
			any = true;
		}
	return any;
}

bool hlg_shift_mark(struct hlg_view *view, const struct hlg_trust *trust)
{
	for (size_t i = 0; i < view->n_rows; i++) {
		struct hlg_row *row = &view->rows[i];
		const struct hlg_image_test *ti = hlg_trust_of(trust, row->place.image);
		const struct hlg_tail *tail = ti ? &ti->tail : NULL;

		if (!tail || !tail->shift || row->apart ||
		    row->place.end <= tail->from + (uint64_t)tail->shift)
			continue;
		if (asprintf(&row->apart, "moved by %+" PRId64, tail->shift) < 0) {
			row->apart = NULL;
			return false;
		}
	}
	return true;
}
