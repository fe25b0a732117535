// SPDX-License-Identifier: GPL-2.0-only
#include "tools/page/offsets.h"

#define WIDE  (UINT64_C(1) << 36) /* a gap; 2^17 smaller ones add up to 2^53 */
#define CLOSE 4096

void hlg_page_offsets_make(struct hlg_page_offsets *o, const struct hlg_image *image)
{
	o->n = 1;
	o->part[0].at = 0;
	o->part[0].from = image->first;
	for (size_t i = 1; i < image->n_areas && o->n < HLG_PAGE_PARTS; i++) {
		uint64_t end = image->areas[i - 1].end, from = image->areas[i].start;

		if (from - end < WIDE)
			continue;
		o->part[o->n].at =
			hlg_page_offsets_of(o, end) + CLOSE + (from - end) % CLOSE;
		o->part[o->n++].from = from;
	}
}

uint64_t hlg_page_offsets_of(const struct hlg_page_offsets *o, uint64_t addr)
{
	size_t i = o->n - 1;

	while (i > 0 && o->part[i].from > addr)
		i--;
	return o->part[i].at + (addr - o->part[i].from);
}
