// SPDX-License-Identifier: GPL-2.0-only
#include "tools/exits/histogram.h"

#include <stdlib.h>
#include <string.h>

bool hlg_histogram_grow(struct hlg_histogram *h, uint32_t bucket)
{
	uint32_t first = bucket - bucket % HLG_HISTOGRAM_OCTAVE,
		 end = first + HLG_HISTOGRAM_OCTAVE;
	uint32_t *n;

	if (h->room && h->first < first)
		first = h->first;
	if (h->room && h->first + h->room > end)
		end = h->first + h->room;
	n = calloc(end - first, sizeof(*n));
	if (!n)
		return false;
	if (h->room)
		memcpy(n + (h->first - first), h->n, h->room * sizeof(*n));
	free(h->n);
	*h = (struct hlg_histogram){.n = n, .first = first, .room = end - first};
	return true;
}

void hlg_histogram_finish(struct hlg_histogram *h)
{
	free(h->n);
	*h = (struct hlg_histogram){0};
}
