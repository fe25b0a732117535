// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/addresses.h"

#include <stdlib.h>
#include <string.h>

#include "symtab/bsearch.h"
#include "symtab/unique.h"

bool hlg_addresses_collect(struct hlg_addresses *addrs, const struct hlg_profile *profile)
{
	addrs->n = 0;
	addrs->at = malloc((profile->n_cells + 1) * sizeof(*addrs->at));
	if (!addrs->at)
		return false;
	for (size_t i = 0; i < hlg_profile_room(profile); i++) {
		const struct hlg_cell *cell = &profile->cells[i];

		if (cell->count.samples)
			addrs->at[addrs->n++] =
				(struct hlg_sampled){cell->ip, cell->count.samples};
	}
	hlg_addresses_sort(addrs);
	return true;
}

static void add(void *to, const void *from)
{
	struct hlg_sampled *at = to;

	at->samples += ((const struct hlg_sampled *)from)->samples;
}

void hlg_addresses_sort(struct hlg_addresses *addrs)
{
	addrs->n = HLG_UNIQUE(addrs->at, addrs->n, hlg_bsearch_compare, add);
}

/* Keeps those in no image, or in this one, or in another whose own they are not (is_own;
 * NULL: they are); of several lanes its own, as in none. */
static void keep(struct hlg_addresses *addrs, const struct hlg_space *space,
		 const struct hlg_image *image, hlg_addresses_own_fn *is_own,
		 const void *ctx)
{
	size_t n = 0;

	for (size_t i = 0; i < addrs->n; i++) {
		struct hlg_place place;

		if (space->n_lanes &&
		    hlg_lane_of(addrs->at[i].ip) != (image ? image->lane : 0))
			continue;
		hlg_space_lookup(space, addrs->at[i].ip, &place);
		if (place.image && place.image != image &&
		    (!is_own || is_own(ctx, &place)))
			continue;
		addrs->at[n] = addrs->at[i];
		addrs->at[n].ip = hlg_space_ip(space, addrs->at[n].ip);
		n++;
	}
	addrs->n = n;
}

uint64_t hlg_addresses_samples(const struct hlg_addresses *addrs)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < addrs->n; i++)
		samples += addrs->at[i].samples;
	return samples;
}

bool hlg_addresses_copy(struct hlg_addresses *to, const struct hlg_addresses *from)
{
	to->at = malloc((from->n + 1) * sizeof(*to->at));
	if (!to->at)
		return false;
	if (from->n)
		memcpy(to->at, from->at, from->n * sizeof(*to->at));
	to->n = from->n;
	return true;
}

bool hlg_addresses_pick_free(struct hlg_addresses *to, const struct hlg_addresses *from,
			     const struct hlg_space *space, const struct hlg_image *image,
			     hlg_addresses_own_fn *is_own, const void *ctx)
{
	if (!hlg_addresses_copy(to, from))
		return false;
	keep(to, space, image, is_own, ctx);
	return true;
}

bool hlg_addresses_pick(struct hlg_addresses *to, const struct hlg_addresses *from,
			const struct hlg_space *space, const struct hlg_image *image)
{
	return hlg_addresses_pick_free(to, from, space, image, NULL, NULL);
}

void hlg_addresses_keep_outside(struct hlg_addresses *addrs,
				const struct hlg_space *space)
{
	keep(addrs, space, NULL, NULL, NULL);
}

void hlg_addresses_leave_out(struct hlg_addresses *addrs, const struct hlg_image *image,
			     struct hlg_found *bases)
{
	const uint64_t size = image->end - image->first;
	size_t n = 0;

	if (bases->n == 0)
		return;
	qsort(bases->fits, bases->n, sizeof(*bases->fits), hlg_bsearch_compare);
	for (size_t i = 0; i < addrs->n; i++) {
		uint64_t ip = addrs->at[i].ip;
		size_t k = HLG_BSEARCH_UPTO(bases->fits, bases->n, base, ip);

		/* No base reaches further than the next does; at the last one the image
		 * may pass the end of memory. */
		if (ip - bases->fits[k ? k - 1 : 0].base >= size &&
		    ip - bases->fits[bases->n - 1].base >= size)
			addrs->at[n++] = addrs->at[i];
	}
	addrs->n = n;
}

void hlg_addresses_finish(struct hlg_addresses *addrs)
{
	free(addrs->at);
	*addrs = (struct hlg_addresses){0};
}
