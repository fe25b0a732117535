// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/addresses.h"

#include <stdlib.h>

/* 0: no image's. */
static size_t owner_of(const struct hlg_space *space, uint64_t ip)
{
	struct hlg_place place;

	hlg_space_lookup(space, ip, &place);
	return place.image ? place.image->number + 1 : 0;
}

/* By owner, and of one owner in the order they have: counted, then dealt out. */
static void deal(struct hlg_claims *claims, const struct hlg_addresses *addrs,
		 const size_t *owner, size_t n_owners)
{
	size_t sum = 0;

	for (size_t i = 0; i < addrs->n; i++)
		claims->end[owner[i]]++;
	for (size_t i = 0; i < n_owners; i++) {
		size_t n = claims->end[i];

		claims->end[i] = sum;
		sum += n;
	}
	for (size_t i = 0; i < addrs->n; i++)
		claims->at[claims->end[owner[i]]++] = addrs->at[i];
}

bool hlg_claims_build(struct hlg_claims *claims, const struct hlg_space *space,
		      const struct hlg_profile *profile)
{
	struct hlg_addresses addrs = {0};
	size_t *owner = NULL;
	bool ok = hlg_addresses_collect(&addrs, profile);

	*claims = (struct hlg_claims){.end = calloc(space->n_images + 1, sizeof(size_t))};
	if (ok) {
		owner = calloc(addrs.n + 1, sizeof(*owner));
		claims->at = malloc((addrs.n + 1) * sizeof(*claims->at));
	}
	ok = owner && claims->at && claims->end;
	for (size_t i = 0; ok && i < addrs.n; i++)
		owner[i] = owner_of(space, addrs.at[i].ip);
	if (ok)
		deal(claims, &addrs, owner, space->n_images + 1);
	free(owner);
	/* As long as all of them, and not needed any more. */
	claims->some = addrs.at;
	return ok;
}

void hlg_claims_ask(struct hlg_claims *claims, const struct hlg_image *image)
{
	const size_t *end = claims->end;
	size_t own = image ? end[image->number] : 0;
	size_t own_end = image ? end[image->number + 1] : 0;

	claims->n = 0;
	for (size_t none = 0; none < end[0] || own < own_end;) {
		const struct hlg_sampled *at = claims->at;
		bool mine = none == end[0] || (own < own_end && at[own].ip < at[none].ip);

		claims->some[claims->n++] = at[mine ? own++ : none++];
	}
}

void hlg_claims_finish(struct hlg_claims *claims)
{
	free(claims->at);
	free(claims->end);
	free(claims->some);
	*claims = (struct hlg_claims){0};
}
