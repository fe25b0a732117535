// SPDX-License-Identifier: GPL-2.0-only
#include "filter/view/gap.h"

#include <stdlib.h>

#include "symtab/grow.h"

bool hlg_gap_add(struct hlg_gap_cells *cells, const struct hlg_place *gap,
		 struct hlg_count count, size_t tag)
{
	if (!HLG_GROW(cells->cell, cells->n))
		return false;
	cells->cell[cells->n++] = (struct hlg_gap_cell){*gap, count, tag, false};
	return true;
}

static int compare_owners(const void *a, const void *b)
{
	const struct hlg_gap_cell *x = a, *y = b;
	uintptr_t i = (uintptr_t)x->gap.owner, j = (uintptr_t)y->gap.owner;

	return i < j ? -1 : i > j;
}

bool hlg_gap_padding(const struct hlg_place *gap, struct hlg_padding *pad)
{
	uint64_t size = gap->end - gap->start;
	unsigned char *bytes;

	*pad = (struct hlg_padding){0, 0};
	if (size > (uint64_t)gap->image->elf.id.size)
		return true; /* larger than its file: not all of it can be read */
	bytes = malloc(size);
	if (!bytes)
		return false;
	if (hlg_image_read(gap->image, gap->start, bytes, size) == size)
		*pad = hlg_padding_find(gap->image->elf.machine, bytes, size);
	free(bytes);
	return true;
}

bool hlg_gap_sort_out(struct hlg_gap_cells *cells)
{
	struct hlg_padding pad = {0, 0};

	if (cells->n)
		qsort(cells->cell, cells->n, sizeof(*cells->cell), compare_owners);
	for (size_t i = 0; i < cells->n; i++) {
		struct hlg_gap_cell *cell = &cells->cell[i];
		const struct hlg_place *gap = &cell->gap;
		uint64_t off = gap->addr - gap->start;

		if ((i == 0 || gap->owner != cell[-1].gap.owner) &&
		    !hlg_gap_padding(gap, &pad))
			return false;
		cell->filler = off < pad.lead || off >= gap->end - gap->start - pad.trail;
	}
	return true;
}

void hlg_gap_finish(struct hlg_gap_cells *cells)
{
	free(cells->cell);
	*cells = (struct hlg_gap_cells){0};
}
