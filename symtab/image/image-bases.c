// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/image/image-bases.h"

#include <stdlib.h>

#include "symtab/bsearch.h"

/* One of an image's bases, by its number. */
struct numbered {
	uint64_t base;
	size_t number;
};

static int compare_numbered(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;
	int order = hlg_bsearch_order(x->base, y->base);

	return order ? order : x->number < y->number ? -1 : x->number > y->number;
}

bool hlg_image_bases_sum(struct hlg_image *image)
{
	const size_t n = hlg_image_n_bases(image);
	struct numbered *bases = calloc(n + 1, sizeof(*bases));
	size_t *firsts = calloc(n + 1, sizeof(*firsts));
	const bool ok = bases && firsts;
	size_t first = 0, places = 0;

	for (size_t i = 0; ok && i < n; i++)
		bases[i] = (struct numbered){hlg_image_base(image, i).base, i};
	if (ok)
		qsort(bases, n, sizeof(*bases), compare_numbered);
	for (size_t i = 0; ok && i < n; i++) {
		if (i == 0 || bases[i].base != bases[i - 1].base) {
			first = bases[i].number;
			places++;
		}
		firsts[bases[i].number] = first;
	}
	free(bases);
	free(image->firsts);
	image->firsts = firsts;
	image->n_firsts = ok ? n : 0;
	image->n_places = places;
	return ok;
}

size_t hlg_image_bases_first(const struct hlg_image *image, size_t i)
{
	const uint64_t base = hlg_image_base(image, i).base;
	size_t first = 0;

	if (i < image->n_firsts)
		return image->firsts[i];
	while (hlg_image_base(image, first).base != base)
		first++;
	return first;
}

size_t hlg_image_bases_places(const struct hlg_image *image)
{
	size_t n = 0;

	if (image->n_firsts)
		return image->n_places;
	for (size_t i = 0; i < hlg_image_n_bases(image); i++)
		n += hlg_image_bases_first(image, i) == i;
	return n;
}
