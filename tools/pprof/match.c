// SPDX-License-Identifier: GPL-2.0-only
#include "tools/pprof/match.h"

#include <stdlib.h>
#include <string.h>

#include "symtab/bsearch.h"

/* An image at one of its bases. Each stands first without one, so that it is found at
 * whatever base. */
struct hlg_match_base {
	bool map;
	const char *build_id; /* not owned */
	uint64_t first, end;  /* its own addresses; 0 where a build id tells it */
	bool lies;            /* is there a base? */
	uint64_t bias;
	size_t number; /* of the image in the space */
};

/* Of one file? */
static int compare_files(const struct hlg_match_base *a, const struct hlg_match_base *b)
{
	int order = a->map - b->map;

	if (order == 0)
		order = strcmp(a->build_id, b->build_id);
	if (order == 0)
		order = hlg_bsearch_order(a->first, b->first);
	return order ? order : hlg_bsearch_order(a->end, b->end);
}

static int compare(const void *a, const void *b)
{
	const struct hlg_match_base *x = a, *y = b;
	int order = compare_files(x, y);

	if (order == 0)
		order = x->lies - y->lies;
	if (order == 0)
		order = hlg_bsearch_order(x->bias, y->bias);
	return order ? order : hlg_bsearch_order(x->number, y->number);
}

static struct hlg_match_base base_of(bool map, const char *build_id, uint64_t first,
				     uint64_t end)
{
	struct hlg_match_base base = {.map = map, .build_id = build_id};

	if (!build_id[0]) {
		base.first = first;
		base.end = end;
	}
	return base;
}

bool hlg_match_init(struct hlg_match *match, const struct hlg_space *space)
{
	size_t n = space->n_images;

	for (size_t i = 0; i < space->n_images; i++)
		n += hlg_image_n_bases(space->images[i]);
	*match = (struct hlg_match){.space = space,
				    .at = calloc(n + 1, sizeof(*match->at))};
	if (!match->at)
		return false;
	for (size_t i = 0; i < space->n_images; i++) {
		const struct hlg_image *image = space->images[i];
		struct hlg_match_base base = base_of(image->map, image->elf.build_id,
						     image->first, image->end);

		base.number = i;
		match->at[match->n++] = base;
		base.lies = true;
		for (size_t k = 0; k < hlg_image_n_bases(image); k++) {
			base.bias = hlg_image_base(image, k).bias;
			match->at[match->n++] = base;
		}
	}
	qsort(match->at, match->n, sizeof(*match->at), compare);
	return true;
}

/* How many stand before key? */
static size_t count_before(const struct hlg_match *match,
			   const struct hlg_match_base *key)
{
	size_t from = 0, to = match->n;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (compare(&match->at[middle], key) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

const struct hlg_image *hlg_match_find(const struct hlg_match *match,
				       const struct hlg_saved_image *saved, bool *lies)
{
	uint64_t bias = saved->extra.bias;
	struct hlg_match_base key = base_of(saved->extra.map, saved->build_id,
					    saved->start - bias, saved->limit - bias);
	size_t at = count_before(match, &key);
	const struct hlg_match_base *found = &match->at[at];

	*lies = false;
	if (at == match->n || compare_files(found, &key) != 0)
		return NULL;
	/* Of several that lie there the last, of others the first. */
	key.lies = true;
	key.bias = bias;
	key.number = SIZE_MAX;
	at = count_before(match, &key) - 1;
	*lies = match->at[at].lies && match->at[at].bias == bias;
	return match->space->images[*lies ? match->at[at].number : found->number];
}

void hlg_match_finish(struct hlg_match *match)
{
	free(match->at);
	*match = (struct hlg_match){0};
}
