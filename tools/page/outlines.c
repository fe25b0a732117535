// SPDX-License-Identifier: GPL-2.0-only
#include "tools/page/outlines.h"

#include <stdlib.h>

#include "symtab/bsearch.h"

/* Where those of the rows begin that lie in the image; sorted, to be freed. NULL without
 * memory. */
static uint64_t *starts_of(const struct hlg_image *image, const struct hlg_row *rows,
			   size_t n_rows, size_t *n)
{
	uint64_t *starts = malloc((n_rows + 1) * sizeof(*starts));

	for (size_t i = 0; starts && i < n_rows; i++)
		if (rows[i].place.image == image)
			starts[(*n)++] = rows[i].place.start;
	if (*n)
		qsort(starts, *n, sizeof(*starts), hlg_bsearch_compare);
	return starts;
}

struct hlg_page_outline *hlg_page_outlines_of(const struct hlg_image *image, bool each,
					      const struct hlg_row *rows, size_t n_rows,
					      size_t *n)
{
	const struct hlg_span *span = image->spans.span;
	struct hlg_page_outline *all = malloc((image->spans.n + 1) * sizeof(*all)),
				*last = NULL;
	size_t n_starts = 0;
	uint64_t *starts = each ? NULL : starts_of(image, rows, n_rows, &n_starts);

	*n = 0;
	if (!all || (!each && !starts)) {
		free(all);
		free(starts);
		return NULL;
	}
	for (size_t i = 0; i + 1 < image->spans.n; i++) { /* the last one has no end */
		uint64_t size = span[i + 1].start - span[i].start;
		bool own = each ||
			   (n_starts && bsearch(&span[i].start, starts, n_starts,
						sizeof(*starts), hlg_bsearch_compare));

		if (own || span[i].kind > HLG_GAP)
			last = NULL;
		if (span[i].kind > HLG_GAP) /* no code */
			continue;
		if (last) {
			last->size += size;
		} else {
			all[*n] = (struct hlg_page_outline){i, size, 0};
			last = own ? NULL : &all[*n];
			++*n;
		}
		if (last)
			last->symbols += span[i].kind != HLG_GAP;
	}
	free(starts);
	return all;
}
