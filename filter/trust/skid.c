// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/skid.h"

#include <stdlib.h>

#include "symtab/code/edge.h"

/* A row's edges, which are found once: a view of each series asks for them. NULL without
 * memory. */
static const struct hlg_edges *edges_of(struct hlg_image_test *ti,
					const struct hlg_place *place, uint64_t reach)
{
	const struct hlg_symtab *tab = &ti->image->tab;
	struct hlg_edges *edges;

	if (!ti->edges)
		ti->edges = calloc(tab->n_syms, sizeof(*ti->edges));
	if (!ti->edges)
		return NULL;
	edges = &ti->edges[place->symbol - tab->syms];
	if (edges->addrs || hlg_edge_find(edges, ti->code, place, reach))
		return edges;
	hlg_edge_finish(edges);
	return NULL;
}

static bool count_edges(struct hlg_view *view, struct hlg_row *row,
			struct hlg_image_test *ti, uint64_t reach)
{
	const struct hlg_edges *edges = edges_of(ti, &row->place, reach);

	row->edge_known = edges;
	for (size_t i = 0; edges && i < row->n_hits; i++) {
		const struct hlg_hit *hit = &view->hits[row->first_hit + i];

		if (hlg_edge_has(edges, hit->addr))
			row->edge += hit->count.samples;
	}
	return edges;
}

bool hlg_skid_count(struct hlg_trust *trust, struct hlg_view *view, uint64_t reach)
{
	for (size_t i = 0; i < view->n_rows; i++) {
		struct hlg_row *row = &view->rows[i];
		struct hlg_image_test *ti = hlg_trust_of(trust, row->place.image);

		if (ti && ti->code && row->place.symbol &&
		    !count_edges(view, row, ti, reach))
			return false;
	}
	return true;
}
