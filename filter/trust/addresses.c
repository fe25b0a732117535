// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/addresses.h"

#include <stdlib.h>

#include "symtab/bsearch.h"

bool hlg_addresses_gather(struct hlg_addresses *addrs, const struct hlg_profile *profile)
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
	return true;
}

void hlg_addresses_sort(struct hlg_addresses *addrs)
{
	struct hlg_sampled *at = addrs->at;
	size_t n = 0;

	qsort(at, addrs->n, sizeof(*at), hlg_bsearch_compare);
	for (size_t i = 0; i < addrs->n; i++) {
		if (n && at[n - 1].ip == at[i].ip)
			at[n - 1].samples += at[i].samples;
		else
			at[n++] = at[i];
	}
	addrs->n = n;
}

bool hlg_addresses_collect(struct hlg_addresses *addrs, const struct hlg_profile *profile)
{
	if (!hlg_addresses_gather(addrs, profile))
		return false;
	hlg_addresses_sort(addrs);
	return true;
}

void hlg_addresses_keep_outside(struct hlg_addresses *addrs,
				const struct hlg_space *space)
{
	size_t n = 0;

	for (size_t i = 0; i < addrs->n; i++) {
		struct hlg_place place;

		hlg_space_lookup(space, addrs->at[i].ip, &place);
		if (!place.image)
			addrs->at[n++] = addrs->at[i];
	}
	addrs->n = n;
}

void hlg_addresses_finish(struct hlg_addresses *addrs)
{
	free(addrs->at);
	*addrs = (struct hlg_addresses){0};
}

/* 0: no image's. */
static size_t owner_of(const struct hlg_space *space, uint64_t ip)
{
	struct hlg_place place;

	hlg_space_lookup(space, ip, &place);
	return place.image ? place.image->number + 1 : 0;
}

/* By owner, and of one owner in the order they have: counted, then dealt out. */
static void deal(struct hlg_addresses_by_image *by, const struct hlg_addresses *addrs,
		 const size_t *owner, size_t n_owners)
{
	size_t sum = 0;

	for (size_t i = 0; i < addrs->n; i++)
		by->end[owner[i]]++;
	for (size_t i = 0; i < n_owners; i++) {
		size_t n = by->end[i];

		by->end[i] = sum;
		sum += n;
	}
	for (size_t i = 0; i < addrs->n; i++)
		by->at[by->end[owner[i]]++] = addrs->at[i];
}

bool hlg_addresses_by_image_build(struct hlg_addresses_by_image *by,
				  const struct hlg_space *space,
				  const struct hlg_profile *profile)
{
	struct hlg_addresses addrs = {0};
	size_t *owner = NULL;
	bool ok = hlg_addresses_collect(&addrs, profile);

	*by = (struct hlg_addresses_by_image){
		.end = calloc(space->n_images + 1, sizeof(size_t))};
	if (ok) {
		owner = calloc(addrs.n + 1, sizeof(*owner));
		by->at = malloc((addrs.n + 1) * sizeof(*by->at));
	}
	ok = owner && by->at && by->end;
	for (size_t i = 0; ok && i < addrs.n; i++)
		owner[i] = owner_of(space, addrs.at[i].ip);
	if (ok)
		deal(by, &addrs, owner, space->n_images + 1);
	free(owner);
	/* As long as all of them, and not needed any more. */
	by->some = addrs.at;
	return ok;
}

void hlg_addresses_by_image_ask(struct hlg_addresses_by_image *by,
				const struct hlg_image *image)
{
	const size_t *end = by->end;
	size_t own = image ? end[image->number] : 0;
	size_t own_end = image ? end[image->number + 1] : 0;

	by->n = 0;
	for (size_t none = 0; none < end[0] || own < own_end;) {
		const struct hlg_sampled *at = by->at;
		bool mine = none == end[0] || (own < own_end && at[own].ip < at[none].ip);

		by->some[by->n++] = at[mine ? own++ : none++];
	}
}

void hlg_addresses_by_image_finish(struct hlg_addresses_by_image *by)
{
	free(by->at);
	free(by->end);
	free(by->some);
	*by = (struct hlg_addresses_by_image){0};
}
