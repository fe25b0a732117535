// SPDX-License-Identifier: GPL-2.0-only
#include "filter/view/region.h"

#include <stdlib.h>

/* One hit, by window; row and image come from the row it is credited to. */
struct piece {
	const struct hlg_image *image;
	uint64_t addr;
	uint32_t row;
	struct hlg_count count;
};

static int compare_pieces(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->image != y->image)
		return hlg_view_compare_images(x->image, y->image);
	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static bool same_region(const struct piece *a, const struct piece *b)
{
	return a->image == b->image && a->addr == b->addr;
}

/* All hits as pieces, those of one region and row next to each other. */
static struct piece *cut(const struct hlg_view *view, uint64_t size)
{
	struct piece *pieces = malloc((view->n_hits + 1) * sizeof(*pieces));
	size_t n = 0;

	if (!pieces)
		return NULL;
	for (size_t r = 0; r < view->n_rows; r++) {
		const struct hlg_row *row = &view->rows[r];
		const struct hlg_image *image = row->place.image;

		for (size_t i = 0; i < row->n_hits; i++) {
			const struct hlg_hit *hit = &view->hits[row->first_hit + i];

			pieces[n++] = (struct piece){image, hit->addr & ~(size - 1),
						     (uint32_t)r, hit->count};
		}
	}
	qsort(pieces, n, sizeof(*pieces), compare_pieces);
	return pieces;
}

/* The heavier first; 0: both weigh as much. */
static int compare_counts(const struct hlg_view *view, struct hlg_count a,
			  struct hlg_count b)
{
	uint64_t x = hlg_count_weigh(view->weight, a);
	uint64_t y = hlg_count_weigh(view->weight, b);

	return x > y ? -1 : x < y;
}

static int compare_parts(const void *a, const void *b, void *view)
{
	const struct hlg_region_part *x = a, *y = b;
	int order = compare_counts(view, x->count, y->count);

	return order ? order : x->row < y->row ? -1 : x->row > y->row;
}

static int compare_regions(const void *a, const void *b, void *view)
{
	const struct hlg_region *x = a, *y = b;
	int order = compare_counts(view, x->count, y->count);

	if (order)
		return order;
	if (x->image != y->image)
		return hlg_view_compare_images(x->image, y->image);
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void collect(struct hlg_view *view, const struct piece *pieces)
{
	size_t n_parts = 0;

	for (size_t i = 0; i < view->n_hits; i++) {
		const struct piece *p = &pieces[i];
		bool again = i && same_region(p, p - 1);
		struct hlg_region *region = &view->regions[view->n_regions - again];

		if (!again) {
			*region = (struct hlg_region){.image = p->image,
						      .addr = p->addr,
						      .first_part = n_parts};
			view->n_regions++;
		}
		if (!again || p->row != p[-1].row) {
			view->parts[n_parts++] = (struct hlg_region_part){.row = p->row};
			region->n_parts++;
		}
		hlg_count_add(&view->parts[n_parts - 1].count, p->count);
		hlg_count_add(&region->count, p->count);
	}
}

int hlg_region_build(struct hlg_view *view, uint64_t size, struct hlg_err *err)
{
	double total = (double)hlg_count_weigh(view->weight, view->kept);
	struct piece *pieces;

	if (size == 0)
		return 0;
	pieces = cut(view, size);
	view->regions = malloc((view->n_hits + 1) * sizeof(*view->regions));
	view->parts = malloc((view->n_hits + 1) * sizeof(*view->parts));
	if (!pieces || !view->regions || !view->parts) {
		free(pieces);
		return hlg_err_memory(err, "report");
	}
	collect(view, pieces);
	free(pieces);
	for (size_t i = 0; i < view->n_regions; i++) {
		struct hlg_region *r = &view->regions[i];
		double w = (double)hlg_count_weigh(view->weight, r->count);

		r->share = hlg_interval_wilson(total > 0 ? w / total : 0,
					       hlg_view_worth(view));
		if (hlg_interval_is_few(r->count.samples, r->share.share))
			r->share.low = 0;
		qsort_r(view->parts + r->first_part, r->n_parts, sizeof(*view->parts),
			compare_parts, view);
	}
	qsort_r(view->regions, view->n_regions, sizeof(*view->regions), compare_regions,
		view);
	return 0;
}
