// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/base-seek.h"

#include <stdlib.h>
#include <string.h>

#include "symtab/bsearch.h"
#include "symtab/grow.h"

bool hlg_base_seek_collide(const struct hlg_image *a, uint64_t a_base,
			   const struct hlg_image *b, uint64_t b_base)
{
	return b_base - a_base < a->end - a->first || a_base - b_base < b->end - b->first;
}

/* Each in what is left by others, of which so many bases were taken. */
static bool seek_each(struct hlg_base_sought *sought, const struct hlg_space *space,
		      const struct hlg_addresses *addrs, size_t n_taken)
{
	bool ok = true;

	for (size_t i = 0; ok && i < space->n_images; i++) {
		struct hlg_base_sought *one = &sought[i];
		const bool is_less = n_taken > one->n;

		hlg_base_find_finish(&one->now);
		one->n = 0;
		if (one->code && is_less)
			ok = hlg_base_find_all(one->code, space->images[i], addrs->at,
					       addrs->n, &one->now);
	}
	return ok;
}

static uint64_t count_on(const struct hlg_found *found)
{
	uint64_t n = 0;

	for (size_t i = 0; i < found->n; i++)
		n += found->fits[i].on_samples;
	return n;
}

/* Do more samples fit a than b? Of equals goes first which is called so. */
static bool is_better(const struct hlg_base_sought *sought, const struct hlg_space *space,
		      size_t a, size_t b)
{
	const uint64_t x = count_on(&sought[a].now), y = count_on(&sought[b].now);

	if (x != y)
		return x > y;
	return strcmp(space->images[a]->path, space->images[b]->path) < 0;
}

/* That one which most samples fit: its number, or how many images there are. */
static size_t find_best(const struct hlg_base_sought *sought,
			const struct hlg_space *space)
{
	size_t best = space->n_images;

	for (size_t i = 0; i < space->n_images; i++)
		if (sought[i].now.n &&
		    (best == space->n_images || is_better(sought, space, i, best)))
			best = i;
	return best;
}

/* Where one was taken. */
struct taken {
	uint64_t base; /* first, for hlg_bsearch_compare */
	const struct hlg_image *image;
};

/* All that were taken, by base; to be freed. *longest: of their images. NULL without
 * memory. */
static struct taken *list_taken(const struct hlg_base_sought *sought,
				const struct hlg_space *space, size_t *n,
				uint64_t *longest)
{
	struct taken *taken;
	size_t max = 0;

	for (size_t i = 0; i < space->n_images; i++)
		max += sought[i].found.n;
	taken = calloc(max + 1, sizeof(*taken));
	*n = 0;
	*longest = 0;
	for (size_t i = 0; taken && i < space->n_images; i++) {
		const struct hlg_image *image = space->images[i];

		if (sought[i].found.n && image->end - image->first > *longest)
			*longest = image->end - image->first;
		for (size_t k = 0; k < sought[i].found.n; k++)
			taken[(*n)++] =
				(struct taken){sought[i].found.fits[k].base, image};
	}
	if (*n)
		qsort(taken, *n, sizeof(*taken), hlg_bsearch_compare);
	return taken;
}

/* Leaves bases at which nothing that was taken is in the way. */
static bool keep_free(struct hlg_base_sought *sought, const struct hlg_space *space,
		      size_t number)
{
	const struct hlg_image *image = space->images[number];
	struct hlg_found *now = &sought[number].now;
	size_t n = 0, n_taken;
	uint64_t longest;
	struct taken *taken = list_taken(sought, space, &n_taken, &longest);
	const bool ok = taken;

	for (size_t i = 0; taken && i < now->n; i++) {
		const uint64_t base = now->fits[i].base;
		const uint64_t last = base + (image->end - image->first - 1);
		size_t k = HLG_BSEARCH_BELOW(taken, n_taken, base,
					     base > longest ? base - longest : 0);

		while (k < n_taken && taken[k].base <= last &&
		       !hlg_base_seek_collide(image, base, taken[k].image, taken[k].base))
			k++;
		/* At the end of memory nothing lies. */
		if (last >= base && (k == n_taken || taken[k].base > last))
			now->fits[n++] = now->fits[i];
	}
	now->n = n;
	free(taken);
	return ok;
}

static bool take(struct hlg_base_sought *one, const struct hlg_image *image,
		 struct hlg_addresses *addrs)
{
	for (size_t i = 0; i < one->now.n; i++) {
		if (!HLG_GROW(one->found.fits, one->found.n))
			return false;
		one->found.fits[one->found.n++] = one->now.fits[i];
	}
	hlg_base_find_sort(&one->found);
	hlg_addresses_leave_out(addrs, image, &one->now);
	one->n = one->now.n;
	one->now.n = 0;
	return true;
}

/* With across, the first to be taken of a round, if it has no base yet, may lie across
 * others: its addresses do not. */
static bool take_round(struct hlg_base_sought *sought, const struct hlg_space *space,
		       struct hlg_addresses *addrs, bool across, size_t *n)
{
	bool ok = true;
	size_t best;

	*n = 0;
	while (ok && (best = find_best(sought, space)) < space->n_images) {
		if (!across || *n || sought[best].found.n)
			ok = keep_free(sought, space, best);
		ok = ok && take(&sought[best], space->images[best], addrs);
		*n += sought[best].n;
	}
	return ok;
}

bool hlg_base_seek(struct hlg_base_sought *sought, const struct hlg_space *space,
		   struct hlg_addresses *addrs, size_t least, bool across)
{
	size_t n = SIZE_MAX; /* at first each is sought */
	bool ok = true;

	while (ok && n && addrs->n >= least)
		ok = seek_each(sought, space, addrs, n) &&
		     take_round(sought, space, addrs, across, &n);
	return ok;
}

void hlg_base_seek_finish(struct hlg_base_sought *sought, const struct hlg_space *space)
{
	for (size_t i = 0; sought && i < space->n_images; i++) {
		hlg_base_find_finish(&sought[i].found);
		hlg_base_find_finish(&sought[i].now);
	}
}
