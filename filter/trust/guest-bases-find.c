// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/guest-bases-find.h"

#include <stdlib.h>
#include <string.h>

#include "filter/trust/addresses.h"
#include "filter/trust/base-seek.h"
#include "filter/trust/guest-turns.h"
#include "filter/trust/verdict.h"
#include "symtab/bsearch.h"
#include "symtab/code/base-find.h"
#include "symtab/grow.h"
#include "symtab/image/lane.h"
#include "symtab/unique.h"

#define FIT 0.99 /* of a recording that is searched as a whole */

enum {
	FEW = 3, /* addresses on boundaries, of a guest that is taken for one at a base,
		  */
	MORE = 6 /* and of one that is taken for another ELF there than was found */
};

static bool is_sought(const struct hlg_image *image)
{
	return image->from == HLG_BASE_NONE && !image->map &&
	       image->elf.machine == EM_X86_64;
}

/* Was it placed before, so that it can be tested there? */
static bool is_placed(const struct hlg_image *image)
{
	return image->from != HLG_BASE_NONE && !image->map;
}

bool hlg_guest_bases_find_wanted(const struct hlg_space *space)
{
	for (size_t i = 0; space->n_lanes == 0 && i < space->n_images; i++)
		if (is_sought(space->images[i]))
			return true;
	return false;
}

bool hlg_guest_bases_find_begin(struct hlg_guest_bases_finder *finder,
				const struct hlg_space *space)
{
	*finder = (struct hlg_guest_bases_finder){.space = space};
	/* What cannot be decoded is not sought. */
	finder->codes = hlg_code_open_all(space);
	finder->fits = calloc(space->n_images + 1, sizeof(*finder->fits));
	return finder->codes && finder->fits;
}

void hlg_guest_bases_find_end(struct hlg_guest_bases_finder *finder)
{
	hlg_code_close_all(finder->codes, finder->space);
	free(finder->fits);
	*finder = (struct hlg_guest_bases_finder){0};
}

/* Adds where an image was found; to *misfits the samples inside that are on no known
 * boundary. */
static bool add_found(struct hlg_guest_bases_found *found, size_t number,
		      const struct hlg_found *bases, unsigned unit, uint64_t *misfits)
{
	for (size_t i = 0; i < bases->n; i++) {
		const struct hlg_fit *fit = &bases->fits[i];

		if (!HLG_GROW(found->at, found->n))
			return false;
		found->at[found->n++] =
			(struct hlg_guest_base){number, fit->base, fit->samples, unit};
		*misfits += fit->samples - fit->on_samples;
	}
	return true;
}

/* All that are sought, among the addresses of the guest whose first unit this is. Empties
 * addrs but for what is in none, and finishes it. */
static bool find_images(struct hlg_guest_bases_finder *finder,
			struct hlg_addresses *addrs, unsigned unit,
			struct hlg_guest_bases_found *found, uint64_t *misfits)
{
	const struct hlg_space *space = finder->space;
	struct hlg_base_sought *sought = calloc(space->n_images + 1, sizeof(*sought));
	bool ok = sought;

	for (size_t i = 0; ok && i < space->n_images; i++)
		if (is_sought(space->images[i]))
			sought[i].code = finder->codes[i];
	ok = ok && hlg_base_seek(sought, space, addrs, HLG_GUEST_BASES_LEAST, true);
	for (size_t i = 0; ok && i < space->n_images; i++)
		ok = add_found(found, i, &sought[i].found, unit, misfits);
	*misfits += hlg_addresses_samples(addrs);
	hlg_base_seek_finish(sought, space);
	free(sought);
	hlg_addresses_finish(addrs);
	return ok;
}

/* How the addresses of a guest lie in what was placed before. */
struct placed_fit {
	uint64_t on;                   /* distinct ones */
	const struct hlg_image *doubt; /* that more than 1 % of those inside do not fit:
					* another may lie across it; of several that which
					* most samples do not; or NULL */
	uint64_t misfits;              /* its samples that are on no known boundary */
};

/* Do less samples fit an image than that which is in doubt, in whatever order they were
 * named? */
static bool is_worse(const struct hlg_fit *fit, const struct hlg_image *image,
		     const struct placed_fit *than)
{
	return fit->off_samples > than->misfits ||
	       (fit->off_samples == than->misfits &&
		strcmp(image->path, than->doubt->path) < 0);
}

/* Decodes no more than functions that have samples: kernels are large. */
static struct placed_fit fit_placed(const struct hlg_guest_bases_finder *finder,
				    const struct hlg_addresses *addrs)
{
	const size_t n = finder->space->n_images;
	struct placed_fit sum = {0};

	memset(finder->fits, 0, n * sizeof(*finder->fits));
	for (size_t i = 0; i < addrs->n; i++) {
		enum hlg_boundary is;
		struct hlg_place place;
		struct hlg_fit *fit;

		hlg_space_lookup(finder->space, addrs->at[i].ip, &place);
		if (!place.image || !finder->codes[place.image->number] ||
		    place.image->elf.machine != EM_X86_64)
			continue;
		fit = &finder->fits[place.image->number];
		is = hlg_verdict_at(finder->codes[place.image->number], &place);
		fit->on += is == HLG_BOUNDARY_ON;
		fit->off += is == HLG_BOUNDARY_OFF;
		fit->off_samples += is == HLG_BOUNDARY_ON ? 0 : addrs->at[i].samples;
	}
	for (size_t i = 0; i < n; i++) {
		const struct hlg_fit *fit = &finder->fits[i];
		const struct hlg_image *image = finder->space->images[i];

		sum.on += fit->on;
		if ((double)fit->off <= (1 - FIT) * (double)(fit->on + fit->off) ||
		    (sum.doubt && !is_worse(fit, image, &sum)))
			continue;
		sum.doubt = image;
		sum.misfits = fit->off_samples;
	}
	return sum;
}

/* Do they lie at the same addresses, and are not one? */
bool hlg_guest_bases_find_collide(const struct hlg_space *space,
				  const struct hlg_guest_base *a,
				  const struct hlg_guest_base *b)
{
	return (a->image != b->image || a->base != b->base) &&
	       hlg_base_seek_collide(space->images[a->image], a->base,
				     space->images[b->image], b->base);
}

/* Do less than 1 % of the samples lie on no boundary? */
static bool nearly_all_fit(const struct hlg_addresses *addrs, uint64_t misfits)
{
	return (double)misfits <= (1 - FIT) * (double)hlg_addresses_samples(addrs);
}

/* Do bases of one guest lie across each other? Then it ran several in turn. */
static bool are_in_turn(const struct hlg_space *space, const struct hlg_guest_base *at,
			size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (hlg_guest_bases_find_collide(space, &at[i], &at[k]))
				return true;
	return false;
}

/* Bases of a guest: where what was placed before does not fit, across this, if fewer
 * samples are on no boundary then; else in what is in no image. */
static bool find_guest(struct hlg_guest_bases_finder *finder,
		       const struct hlg_addresses *all, unsigned unit,
		       struct hlg_guest_bases_found *found, bool *fits)
{
	const struct placed_fit placed = fit_placed(finder, all);
	const size_t n = found->n;
	struct hlg_addresses some = {0};
	uint64_t misfits = 0, across = 0;
	size_t before;
	bool ok = hlg_addresses_pick(&some, all, finder->space, NULL) &&
		  find_images(finder, &some, unit, found, &misfits);

	before = found->n;
	if (ok && placed.doubt)
		ok = hlg_addresses_pick(&some, all, finder->space, placed.doubt) &&
		     find_images(finder, &some, unit, found, &across);
	misfits += placed.misfits;
	if (found->n > before && across < misfits) {
		misfits = across;
		memmove(&found->at[n], &found->at[before],
			(found->n - before) * sizeof(*found->at));
		found->n -= before - n;
	} else {
		found->n = before;
	}
	*fits = nearly_all_fit(all, misfits);
	if (found->n > n && are_in_turn(finder->space, &found->at[n], found->n - n)) {
		found->n = n;
		*fits = false;
	}
	return ok;
}

/* Of one guest, whose units these are. */
static bool find_unit(struct hlg_guest_bases_finder *finder, size_t begin, size_t end,
		      struct hlg_guest_bases_found *found)
{
	struct hlg_runner *units = found->units.at;
	struct hlg_addresses all = {0};
	const size_t n = found->n;
	bool fits = true, turns = false;
	bool ok = hlg_runners_addresses(&found->units, begin, end, &all) &&
		  find_guest(finder, &all, (unsigned)begin, found, &fits);

	if (ok && !fits && units[begin].sandbox < 0)
		ok = hlg_guest_turns_find(finder->space, finder->codes, &all, &turns);
	for (size_t i = begin; turns && i < end; i++)
		units[i].untold = HLG_UNTOLD_TURNS;
	if (turns)
		found->n = n;
	hlg_addresses_finish(&all);
	return ok;
}

/* Does a guest lie where this image was placed before? */
bool hlg_guest_bases_find_meets(const struct hlg_space *space, size_t image,
				const struct hlg_guest_base *guest, size_t n)
{
	const struct hlg_guest_base placed = {image, space->images[image]->base, 0, 0};

	for (size_t k = 0; is_placed(space->images[image]) && k < n; k++)
		if (hlg_guest_bases_find_collide(space, &placed, &guest[k]))
			return true;
	return false;
}

bool hlg_guest_bases_find_meets_any(const struct hlg_space *space,
				    const struct hlg_guest_base *guest, size_t n)
{
	for (size_t i = 0; i < space->n_images; i++)
		if (hlg_guest_bases_find_meets(space, i, guest, n))
			return true;
	return false;
}

bool hlg_guest_bases_find_whole(struct hlg_guest_bases_finder *finder,
				const struct hlg_profile *profile,
				struct hlg_guest_bases_found *found, bool *fits)
{
	struct hlg_addresses addrs = {0}, some = {0};
	struct placed_fit placed = {0};
	uint64_t misfits = 0;
	bool ok = hlg_addresses_collect(&addrs, profile);

	*found = (struct hlg_guest_bases_found){.whole = true};
	if (ok)
		placed = fit_placed(finder, &addrs);
	if (ok)
		hlg_addresses_keep_outside(&addrs, finder->space);
	ok = ok && hlg_addresses_copy(&some, &addrs) &&
	     find_images(finder, &some, 0, found, &misfits);
	*fits = ok && !placed.doubt && nearly_all_fit(&addrs, misfits) &&
		!are_in_turn(finder->space, found->at, found->n) &&
		!hlg_guest_bases_find_meets_any(finder->space, found->at, found->n);
	hlg_addresses_finish(&addrs);
	return ok;
}

/* By image and base. */
static int compare_places(const void *a, const void *b)
{
	const struct hlg_guest_base *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return hlg_bsearch_order(x->base, y->base);
}

/* Where guests were found, each place once; and behind these the other ELFs that are
 * sought, each at all bases at which one was found or placed: many are loaded alike. */
struct known {
	struct hlg_guest_base *at;
	size_t n, n_all;
	uint64_t least; /* addresses on boundaries of what was placed, of who runs it:
			 * one, if nobody lies across it */
};

/* At which of n places does a guest lie? All of it must, none of it in data. *matched is
 * the last; returns how many there are. */
static size_t count_matches(const struct hlg_guest_bases_finder *finder,
			    const struct hlg_guest_base *at, size_t n, size_t least,
			    const struct hlg_addresses *addrs,
			    const struct hlg_guest_base **matched)
{
	size_t matches = 0;

	for (size_t i = 0; i < n; i++) {
		struct hlg_fit fit;

		hlg_base_find_fit(finder->codes[at[i].image],
				  finder->space->images[at[i].image], addrs->at, addrs->n,
				  at[i].base, &fit);
		if (fit.on + fit.unknown - fit.data < addrs->n || fit.on < least)
			continue;
		*matched = &at[i];
		matches++;
	}
	return matches;
}

/* Does a guest of few addresses lie at a base that another was found at, and at no other?
 * If at none, it may run another ELF there. NULL: it lies nowhere, or at several. */
static const struct hlg_guest_base *match(const struct hlg_guest_bases_finder *finder,
					  const struct known *known,
					  const struct hlg_addresses *addrs)
{
	const struct hlg_guest_base *matched = NULL;
	size_t n = count_matches(finder, known->at, known->n, FEW, addrs, &matched);

	if (n == 0)
		n = count_matches(finder, known->at + known->n, known->n_all - known->n,
				  MORE, addrs, &matched);
	return n == 1 ? matched : NULL;
}

static int compare_units(const void *a, const void *b)
{
	const struct hlg_guest_base *x = a, *y = b;

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	return hlg_bsearch_order(x->samples, y->samples);
}

static bool add_matched(struct hlg_guest_bases_found *found,
			const struct hlg_guest_base *matched, size_t unit,
			const struct hlg_addresses *addrs)
{
	struct hlg_guest_base at = *matched;

	if (!HLG_GROW(found->at, found->n))
		return false;
	at.lane = (unsigned)unit;
	at.samples = hlg_addresses_samples(addrs);
	found->at[found->n++] = at;
	return true;
}

/* Does a guest run what was placed before, by nearly all its samples? */
static bool is_inside(const struct hlg_guest_bases_finder *finder,
		      const struct hlg_runners *units, size_t begin, size_t end)
{
	const struct hlg_runner guest = hlg_runners_sum(&units->at[begin], end - begin);

	return (double)hlg_runners_outside(units->all, guest.begin, guest.end,
					   finder->space,
					   0) <= (1 - FIT) * (double)guest.samples;
}

/* Puts a guest that runs what was placed before into a lane. */
static void settle(struct hlg_runners *units, size_t begin, size_t end, unsigned lane)
{
	for (size_t i = begin; i < end; i++) {
		units->at[i].settled = true;
		units->at[i].lane = lane;
	}
}

/* A guest of which no base was found: does it lie where another was, or run what was
 * placed before? *matched: in the first case, where. False without memory. */
static bool match_guest(const struct hlg_guest_bases_finder *finder,
			struct hlg_runners *units, size_t begin, size_t end,
			const struct known *known, struct hlg_addresses *addrs,
			const struct hlg_guest_base **matched)
{
	struct hlg_addresses all = {0};
	struct placed_fit placed = {0};
	bool ok = hlg_runners_addresses(units, begin, end, &all);

	*matched = NULL;
	if (ok)
		placed = fit_placed(finder, &all);
	if (ok && placed.doubt) {
		ok = hlg_addresses_pick(addrs, &all, finder->space, placed.doubt);
		*matched = ok ? match(finder, known, addrs) : NULL;
	}
	if (ok && !*matched) {
		hlg_addresses_finish(addrs);
		ok = hlg_addresses_pick(addrs, &all, finder->space, NULL);
	}
	if (ok && !*matched && is_inside(finder, units, begin, end)) {
		settle(units, begin, end, 0);
	} else if (ok && !*matched) {
		*matched = match(finder, known, addrs);
		/* What else it has is nobody's. */
		if (!*matched && !placed.doubt && placed.on >= known->least)
			settle(units, begin, end, HLG_LANE_SHARED);
	}
	hlg_addresses_finish(&all);
	return ok;
}

/* The different bases of what was found or placed; to be freed. NULL without memory. */
static uint64_t *list_bases(const struct hlg_space *space, const struct known *known,
			    size_t *n)
{
	uint64_t *bases = calloc(known->n + space->n_images + 1, sizeof(*bases));
	size_t all = 0;

	for (size_t i = 0; bases && i < known->n; i++)
		bases[all++] = known->at[i].base;
	for (size_t i = 0; bases && i < space->n_images; i++)
		if (is_placed(space->images[i]))
			bases[all++] = space->images[i]->base;
	*n = HLG_UNIQUE(bases, all, hlg_bsearch_compare, NULL);
	return bases;
}

/* Adds an image at each of these where it was not found. */
static void add_others(struct known *known, size_t image, const uint64_t *bases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct hlg_guest_base at = {image, bases[i], 0, 0};

		if (!bsearch(&at, known->at, known->n, sizeof(at), compare_places))
			known->at[known->n_all++] = at;
	}
}

/* False without memory; known->at is to be freed in any case. */
static bool list_known(const struct hlg_guest_bases_finder *finder,
		       const struct hlg_guest_bases_found *found, struct known *known)
{
	const struct hlg_space *space = finder->space;
	const size_t n = found->n;
	uint64_t *bases;
	size_t n_bases;
	bool ok;

	known->at = calloc((n + space->n_images) * (space->n_images + 1) + 1,
			   sizeof(*known->at));
	if (!known->at)
		return false;
	if (n)
		memcpy(known->at, found->at, n * sizeof(*known->at));
	known->n = known->n_all = HLG_UNIQUE(known->at, n, compare_places, NULL);
	bases = list_bases(space, known, &n_bases);
	ok = bases;
	for (size_t i = 0; bases && i < space->n_images; i++)
		if (finder->codes[i] && is_sought(space->images[i]))
			add_others(known, i, bases, n_bases);
	free(bases);
	known->least =
		hlg_guest_bases_find_meets_any(space, known->at, known->n) ? FEW : 1;
	return ok;
}

/* All of whom no base was found. */
static bool match_others(const struct hlg_guest_bases_finder *finder,
			 struct hlg_guest_bases_found *found)
{
	struct hlg_runners *units = &found->units;
	const size_t n = found->n;
	struct known known = {0};
	bool ok = list_known(finder, found, &known);
	size_t k = 0;

	for (size_t i = 0, j; ok && i < units->n; i = j) {
		struct hlg_addresses addrs = {0};
		const struct hlg_guest_base *matched;

		j = hlg_runners_guest(units, i);
		while (k < n && found->at[k].lane < i)
			k++;
		if ((k < n && found->at[k].lane == i) || units->at[i].untold)
			continue;
		ok = match_guest(finder, units, i, j, &known, &addrs, &matched) &&
		     (!matched || add_matched(found, matched, i, &addrs));
		hlg_addresses_finish(&addrs);
	}
	if (found->n > n)
		qsort(found->at, found->n, sizeof(*found->at), compare_units);
	free(known.at);
	return ok;
}

bool hlg_guest_bases_find(struct hlg_guest_bases_finder *finder,
			  const struct hlg_profile *profile,
			  struct hlg_guest_bases_found *found)
{
	struct hlg_runners *units = &found->units;
	size_t sought = 0;
	bool ok;

	*found = (struct hlg_guest_bases_found){0};
	ok = hlg_runners_collect(units, profile);
	for (size_t i = 0, j; ok && i < units->n && sought < HLG_RUNNERS_SOUGHT;
	     i = j, sought++) {
		j = hlg_runners_guest(units, i);
		ok = find_unit(finder, i, j, found);
	}
	return ok && match_others(finder, found);
}

void hlg_guest_bases_find_finish(struct hlg_guest_bases_found *found)
{
	hlg_runners_finish(&found->units);
	free(found->at);
	*found = (struct hlg_guest_bases_found){0};
}
