// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/guest-turns.h"

#include <elf.h>
#include <stdlib.h>

#include "filter/trust/apart.h"
#include "filter/trust/base-seek.h"
#include "filter/trust/verdict.h"

/* An image at a base, and the samples that it has on boundaries there. */
struct pick {
	const struct hlg_image *image; /* NULL: none */
	struct hlg_code *code;
	uint64_t base, on;
};

/* All that were taken. */
struct picks {
	struct pick *at;
	size_t n;
};

static enum hlg_boundary try(const struct pick *pick, uint64_t ip)
{
	struct hlg_place place;

	hlg_image_lookup(pick->image, ip - pick->base + pick->image->first, &place);
	return place.image ? hlg_verdict_at(pick->code, &place) : HLG_BOUNDARY_OFF;
}

/* *best becomes this one if more samples fit it. */
static void consider(struct pick *best, struct pick pick,
		     const struct hlg_addresses *left)
{
	for (size_t i = 0; i < left->n; i++)
		if (try(&pick, left->at[i].ip) == HLG_BOUNDARY_ON)
			pick.on += left->at[i].samples;
	if (pick.on > best->on)
		*best = pick;
}

/* An image at its base, or, where that is to be found, at those that it may have. Of many
 * bases some fits few addresses by chance: only the first to be taken needs no better. */
static bool try_image(struct pick *best, struct pick pick, const struct picks *taken,
		      const struct hlg_addresses *left)
{
	struct hlg_found found;
	bool ok;

	if (pick.image->from != HLG_BASE_NONE) {
		pick.base = pick.image->base;
		consider(best, pick, left);
		return true;
	}
	ok = hlg_base_find_all(pick.code, pick.image, left->at, left->n, &found);
	if (ok && (found.n || (!taken->n && found.best.on))) {
		pick.base = found.n ? found.fits[0].base : found.best.base;
		consider(best, pick, left);
	}
	for (size_t i = 0; ok && i < taken->n; i++) {
		pick.base = taken->at[i].base;
		consider(best, pick, left);
	}
	hlg_base_find_finish(&found);
	return ok;
}

static bool is_taken(const struct picks *taken, const struct hlg_image *image)
{
	for (size_t i = 0; i < taken->n; i++)
		if (taken->at[i].image == image)
			return true;
	return false;
}

/* Leaves what does not fit; *unknown: samples of which nothing tells. Returns the
 * addresses that do. */
static size_t leave_off(struct hlg_addresses *left, const struct pick *pick,
			uint64_t *unknown)
{
	size_t n = 0, on = 0;

	for (size_t i = 0; i < left->n; i++) {
		const enum hlg_boundary is = try(pick, left->at[i].ip);

		on += is == HLG_BOUNDARY_ON;
		if (is == HLG_BOUNDARY_OFF)
			left->at[n++] = left->at[i];
		if (is == HLG_BOUNDARY_UNKNOWN)
			*unknown += left->at[i].samples;
	}
	left->n = n;
	return on;
}

static bool is_across(const struct picks *taken, const struct pick *pick)
{
	for (size_t i = 0; i < taken->n; i++)
		if (hlg_base_seek_collide(taken->at[i].image, taken->at[i].base,
					  pick->image, pick->base))
			return true;
	return false;
}

/* Takes one after the other. *across: some lie across each other. */
static bool take_all(struct picks *taken, const struct hlg_space *space,
		     struct hlg_code *const *codes, struct hlg_addresses *left,
		     uint64_t *unknown, bool *across)
{
	bool ok = true;

	while (ok && left->n >= HLG_APART_TURNS) {
		struct pick best = {0};

		for (size_t i = 0; ok && i < space->n_images; i++) {
			const struct hlg_image *image = space->images[i];

			if (codes[i] && image->elf.machine == EM_X86_64 &&
			    !is_taken(taken, image))
				ok = try_image(&best,
					       (struct pick){image, codes[i], 0, 0},
					       taken, left);
		}
		if (!ok || !best.image ||
		    leave_off(left, &best, unknown) < HLG_APART_TURNS)
			break;
		*across |= is_across(taken, &best);
		taken->at[taken->n++] = best;
	}
	return ok;
}

bool hlg_guest_turns_find(const struct hlg_space *space, struct hlg_code *const *codes,
			  const struct hlg_addresses *all, bool *is)
{
	struct picks taken = {calloc(space->n_images + 1, sizeof(*taken.at)), 0};
	struct hlg_addresses left = {0};
	uint64_t unknown = 0;
	bool across = false;
	bool ok = taken.at && hlg_addresses_copy(&left, all) &&
		  take_all(&taken, space, codes, &left, &unknown, &across);

	*is = ok && across &&
	      (double)hlg_addresses_samples(&left) <=
		      (1 - HLG_VERDICT_NEARLY_ALL) *
			      (double)(hlg_addresses_samples(all) - unknown);
	hlg_addresses_finish(&left);
	free(taken.at);
	return ok;
}
