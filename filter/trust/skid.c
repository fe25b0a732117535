// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/skid.h"

#include "symtab/code/edge.h"

static bool mark_row(struct hlg_view *view, struct hlg_row *row, struct hlg_code *code,
		     uint64_t reach)
{
	struct hlg_edges edges;
	bool ok = hlg_edge_find(&edges, code, &row->place, reach);

	row->edge_known = ok;
	for (size_t i = 0; ok && i < row->n_hits; i++) {
		const struct hlg_hit *hit = &view->hits[row->first_hit + i];

		if (hlg_edge_has(&edges, hit->addr))
			row->edge += hit->count.samples;
	}
	hlg_edge_finish(&edges);
	return ok;
}

bool hlg_skid_count(struct hlg_view *view, const struct hlg_trust *trust, uint64_t reach)
{
	for (size_t i = 0; i < view->n_rows; i++) {
		struct hlg_row *row = &view->rows[i];
		const struct hlg_image_test *ti = hlg_trust_of(trust, row->place.image);

		if (ti && ti->code && row->place.symbol &&
		    !mark_row(view, row, ti->code, reach))
			return false;
	}
	return true;
}
