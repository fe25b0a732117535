// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/guest-bases.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filter/trust/addresses.h"
#include "symtab/bsearch.h"
#include "symtab/code/base-find.h"
#include "symtab/grow.h"
#include "symtab/image/lane.h"

#define FIT 0.99 /* of a recording that is searched as a whole */

enum {
	FEW = 3 /* addresses on boundaries, of a guest that is taken for one at a base */
};

static bool is_sought(const struct hlg_image *image)
{
	return image->from == HLG_BASE_NONE && !image->map &&
	       image->elf.machine == EM_X86_64;
}

bool hlg_guest_bases_wanted(const struct hlg_space *space)
{
	for (size_t i = 0; space->n_lanes == 0 && i < space->n_images; i++)
		if (is_sought(space->images[i]))
			return true;
	return false;
}

bool hlg_guest_bases_finder_begin(struct hlg_guest_bases_finder *finder,
				  const struct hlg_space *space)
{
	*finder = (struct hlg_guest_bases_finder){.space = space};
	finder->codes = calloc(space->n_images + 1, sizeof(*finder->codes));
	for (size_t i = 0; finder->codes && i < space->n_images; i++) {
		struct hlg_err err;

		/* What cannot be decoded is not sought. */
		if (is_sought(space->images[i]) &&
		    hlg_code_open(&finder->codes[i], space->images[i], &err) ==
			    HLG_ESYSTEM)
			return false;
	}
	return finder->codes != NULL;
}

void hlg_guest_bases_finder_finish(struct hlg_guest_bases_finder *finder)
{
	for (size_t i = 0; finder->codes && i < finder->space->n_images; i++)
		hlg_code_close(finder->codes[i]);
	free(finder->codes);
	*finder = (struct hlg_guest_bases_finder){0};
}

/* The addresses of a guest that are in no image. False without memory. */
static bool take(struct hlg_addresses *addrs, const struct hlg_space *space,
		 const struct hlg_runners *units, size_t begin, size_t end)
{
	const size_t first = units->at[begin].begin, last = units->at[end - 1].end;

	addrs->n = 0;
	addrs->at = malloc((last - first + 1) * sizeof(*addrs->at));
	for (size_t i = first; addrs->at && i < last; i++)
		addrs->at[addrs->n++] =
			(struct hlg_sampled){units->all[i].ip, units->all[i].samples};
	if (!addrs->at)
		return false;
	hlg_addresses_sort(addrs);
	hlg_addresses_keep_outside(addrs, space);
	return true;
}

static bool lies_in(uint64_t ip, const struct hlg_image *image, uint64_t base)
{
	return ip - base < image->end - image->first;
}

static int compare_bases(const void *a, const void *b)
{
	const struct hlg_fit *x = a, *y = b;

	return x->base < y->base ? -1 : x->base > y->base;
}

/* Leaves out the addresses inside an image at its bases, which do not overlap and become
 * sorted. */
static void leave_out(struct hlg_addresses *addrs, const struct hlg_image *image,
		      struct hlg_found *bases)
{
	size_t n = 0;

	if (bases->n == 0)
		return;
	qsort(bases->fits, bases->n, sizeof(*bases->fits), compare_bases);
	for (size_t i = 0; i < addrs->n; i++) {
		uint64_t ip = addrs->at[i].ip;
		size_t k = HLG_BSEARCH_UPTO(bases->fits, bases->n, base, ip);

		/* At the last base it may pass the end of memory. */
		if (!lies_in(ip, image, bases->fits[k ? k - 1 : 0].base) &&
		    !lies_in(ip, image, bases->fits[bases->n - 1].base))
			addrs->at[n++] = addrs->at[i];
	}
	addrs->n = n;
}

/* One image among the addresses of the guest whose first unit this is; to *misfits the
 * samples inside that are on no known boundary are added. */
static bool find_image(struct hlg_guest_bases_finder *finder, size_t number,
		       struct hlg_addresses *addrs, unsigned unit,
		       struct hlg_guest_bases_found *found, uint64_t *misfits)
{
	const struct hlg_image *image = finder->space->images[number];
	struct hlg_found bases;
	bool ok;

	if (addrs->n < HLG_GUEST_BASES_LEAST)
		return true;
	ok = hlg_base_find_all(finder->codes[number], image, addrs->at, addrs->n, &bases);
	for (size_t i = 0; ok && i < bases.n; i++) {
		const struct hlg_fit *fit = &bases.fits[i];

		ok = HLG_GROW(found->at, found->n);
		if (ok)
			found->at[found->n++] = (struct hlg_guest_base){
				number, fit->base, fit->samples, unit};
		*misfits += fit->samples - fit->on_samples;
	}
	if (ok)
		leave_out(addrs, image, &bases);
	hlg_base_find_finish(&bases);
	return ok;
}

/* All images. Empties addrs but for what is in none, and finishes it. */
static bool find_guest(struct hlg_guest_bases_finder *finder, struct hlg_addresses *addrs,
		       unsigned unit, struct hlg_guest_bases_found *found,
		       uint64_t *misfits)
{
	bool ok = true;

	*misfits = 0;
	for (size_t i = 0; ok && i < finder->space->n_images; i++)
		if (finder->codes[i])
			ok = find_image(finder, i, addrs, unit, found, misfits);
	for (size_t i = 0; i < addrs->n; i++)
		*misfits += addrs->at[i].samples;
	hlg_addresses_finish(addrs);
	return ok;
}

/* Do they lie at the same addresses, and are not one? */
static bool collide(const struct hlg_space *space, const struct hlg_guest_base *a,
		    const struct hlg_guest_base *b)
{
	const struct hlg_image *x = space->images[a->image], *y = space->images[b->image];

	if (a->image == b->image && a->base == b->base)
		return false;
	return lies_in(b->base, x, a->base) || lies_in(a->base, y, b->base);
}

/* Does a guest lie where an image was placed before? */
static bool meets_placed(const struct hlg_space *space,
			 const struct hlg_guest_base *guest, size_t n)
{
	for (size_t i = 0; i < space->n_images; i++) {
		const struct hlg_image *image = space->images[i];
		const struct hlg_guest_base placed = {i, image->base, 0, 0};

		for (size_t k = 0; image->from != HLG_BASE_NONE && !image->map && k < n;
		     k++)
			if (collide(space, &placed, &guest[k]))
				return true;
	}
	return false;
}

bool hlg_guest_bases_find_whole(struct hlg_guest_bases_finder *finder,
				const struct hlg_profile *profile,
				struct hlg_guest_bases_found *found, bool *fits)
{
	struct hlg_addresses addrs = {0};
	uint64_t all = 0, misfits;
	bool ok = hlg_addresses_collect(&addrs, profile);

	*found = (struct hlg_guest_bases_found){.whole = true};
	if (ok)
		hlg_addresses_keep_outside(&addrs, finder->space);
	for (size_t i = 0; ok && i < addrs.n; i++)
		all += addrs.at[i].samples;
	if (ok)
		ok = find_guest(finder, &addrs, 0, found, &misfits);
	else
		hlg_addresses_finish(&addrs);
	*fits = ok && (double)misfits <= (1 - FIT) * (double)all &&
		!meets_placed(finder->space, found->at, found->n);
	return ok;
}

/* Moves one entry of each image and base to the front; returns how many there are. */
static size_t unite(struct hlg_guest_base *at, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0, k; i < n; i++) {
		for (k = 0; k < kept; k++)
			if (at[k].image == at[i].image && at[k].base == at[i].base)
				break;
		if (k == kept)
			at[kept++] = at[i];
	}
	return kept;
}

/* Does a guest of few addresses lie at a base that another was found at? All of it must,
 * none of it in data, and at no other. NULL: at none, or several. */
static const struct hlg_guest_base *match(const struct hlg_guest_bases_finder *finder,
					  const struct hlg_guest_base *known, size_t n,
					  const struct hlg_addresses *addrs)
{
	const struct hlg_guest_base *matched = NULL;

	for (size_t i = 0; i < n; i++) {
		struct hlg_fit fit;

		hlg_base_find_fit(finder->codes[known[i].image],
				  finder->space->images[known[i].image], addrs->at,
				  addrs->n, known[i].base, &fit);
		if (fit.on + fit.unknown - fit.data < addrs->n || fit.on < FEW)
			continue;
		if (matched)
			return NULL;
		matched = &known[i];
	}
	return matched;
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
	at.samples = 0;
	for (size_t i = 0; i < addrs->n; i++)
		at.samples += addrs->at[i].samples;
	found->at[found->n++] = at;
	return true;
}

/* Are nearly all samples of a guest in images that were placed before? addrs: in none. */
static bool is_placed(const struct hlg_runners *units, size_t begin, size_t end,
		      const struct hlg_addresses *addrs)
{
	uint64_t all = 0, outside = 0;

	for (size_t i = begin; i < end; i++)
		all += units->at[i].samples;
	for (size_t i = 0; i < addrs->n; i++)
		outside += addrs->at[i].samples;
	return (double)outside <= (1 - FIT) * (double)all;
}

/* Guests of too few addresses are those that were found, where they fit these; but those
 * that run what was placed before. */
static bool match_others(const struct hlg_guest_bases_finder *finder,
			 struct hlg_guest_bases_found *found)
{
	struct hlg_runners *units = &found->units;
	const size_t n = found->n;
	struct hlg_guest_base *known = calloc(n + 1, sizeof(*known));
	size_t n_known, k = 0;
	bool ok = known;

	if (n && known)
		memcpy(known, found->at, n * sizeof(*known));
	n_known = ok ? unite(known, n) : 0;
	for (size_t i = 0, j; ok && i < units->n; i = j) {
		struct hlg_addresses addrs = {0};
		const struct hlg_guest_base *matched;

		j = hlg_runners_guest(units, i);
		while (k < n && found->at[k].lane < i)
			k++;
		if (k < n && found->at[k].lane == i)
			continue;
		ok = take(&addrs, finder->space, units, i, j);
		matched = NULL;
		if (ok && is_placed(units, i, j, &addrs))
			units->at[i].settled = true;
		else if (ok)
			matched = match(finder, known, n_known, &addrs);
		ok = ok && (!matched || add_matched(found, matched, i, &addrs));
		hlg_addresses_finish(&addrs);
	}
	if (found->n > n)
		qsort(found->at, found->n, sizeof(*found->at), compare_units);
	free(known);
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
	for (size_t i = 0, j; ok && i < units->n && sought < HLG_GUEST_BASES_MOST;
	     i = j, sought++) {
		struct hlg_addresses addrs = {0};
		uint64_t misfits;

		j = hlg_runners_guest(units, i);
		ok = take(&addrs, finder->space, units, i, j) &&
		     find_guest(finder, &addrs, (unsigned)i, found, &misfits);
	}
	return ok && match_others(finder, found);
}

/* Is there room for all bases of a guest in a lane? In the first are images that were
 * placed before. */
static bool has_room(const struct hlg_guest_bases *bases, const struct hlg_space *space,
		     const struct hlg_guest_base *guest, size_t n, unsigned lane)
{
	if (lane == 0 && meets_placed(space, guest, n))
		return false;
	for (size_t i = 0; i < bases->n; i++)
		for (size_t k = 0; bases->at[i].lane == lane && k < n; k++)
			if (collide(space, &bases->at[i], &guest[k]))
				return false;
	return true;
}

static bool add(struct hlg_guest_bases *bases, const struct hlg_guest_base *of,
		unsigned lane)
{
	for (size_t i = 0; i < bases->n; i++) {
		struct hlg_guest_base *at = &bases->at[i];

		if (at->image != of->image || at->base != of->base || at->lane != lane)
			continue;
		at->samples += of->samples;
		return true;
	}
	if (!HLG_GROW(bases->at, bases->n))
		return false;
	bases->at[bases->n] = *of;
	bases->at[bases->n++].lane = lane;
	return true;
}

static void give(struct hlg_guest_bases_found *found, size_t unit, unsigned lane)
{
	const size_t end = found->whole ? 0 : hlg_runners_guest(&found->units, unit);

	if (found->whole)
		found->lane = lane;
	for (size_t i = unit; i < end; i++)
		found->units.at[i].lane = lane;
}

/* The guest whose first unit this is has no base, or no room. */
static void leave(struct hlg_guest_bases *bases, const char *path,
		  struct hlg_guest_bases_found *found, size_t unit)
{
	const struct hlg_runner *first = &found->units.at[unit];
	const size_t end = hlg_runners_guest(&found->units, unit);
	const bool thread = first->sandbox < 0;
	hlg_note_list_adder *tell = hlg_note_list_crowd_adder(bases->untold++);
	uint64_t samples = 0;

	for (size_t i = unit; i < end; i++) {
		found->units.at[i].untold = 1;
		samples += found->units.at[i].samples;
	}
	give(found, unit, HLG_LANE_NOBODY);
	if (tell)
		tell(&bases->notes,
		     "%s: %s %" PRId32 " has %" PRIu64
		     " sample%s, of which no base was found: outside here",
		     path, thread ? "thread" : "sandbox",
		     thread ? first->tid : first->sandbox, samples,
		     samples == 1 ? "" : "s");
}

/* All that were not found. */
static void leave_others(struct hlg_guest_bases *bases, const char *path,
			 struct hlg_guest_bases_found *found)
{
	size_t k = 0;

	for (size_t i = 0; i < found->units.n; i = hlg_runners_guest(&found->units, i)) {
		while (k < found->n && found->at[k].lane < i)
			k++;
		if ((k == found->n || found->at[k].lane != i) &&
		    !found->units.at[i].settled)
			leave(bases, path, found, i);
	}
}

bool hlg_guest_bases_settle(struct hlg_guest_bases *bases, const struct hlg_space *space,
			    const char *path, struct hlg_guest_bases_found *found)
{
	bool ok = true;

	if (!found->whole)
		leave_others(bases, path, found);

	for (size_t i = 0, j; ok && i < found->n; i = j) {
		const size_t unit = found->at[i].lane;
		unsigned lane = 0;

		for (j = i; j < found->n && found->at[j].lane == unit; j++)
			;
		while (lane + 1 < HLG_LANE_SEVERAL &&
		       !has_room(bases, space, &found->at[i], j - i, lane))
			lane++;
		/* So many lie across each other that this one is nobody's. */
		if (lane + 1 == HLG_LANE_SEVERAL)
			lane = HLG_LANE_NOBODY;
		if (lane == HLG_LANE_NOBODY && !found->whole) {
			leave(bases, path, found, unit);
			continue;
		}
		for (size_t k = i; lane != HLG_LANE_NOBODY && ok && k < j; k++)
			ok = add(bases, &found->at[k], lane);
		if (lane != HLG_LANE_NOBODY && lane >= bases->n_lanes)
			bases->n_lanes = lane + 1;
		give(found, unit, lane);
	}
	return ok;
}

bool hlg_guest_bases_move(const struct hlg_guest_bases_found *found,
			  const struct hlg_runners_recording *recording, unsigned n_lanes)
{
	if (found->whole)
		return found->lane == 0 ||
		       hlg_runners_move_all(recording, found->lane, n_lanes);
	return hlg_runners_move(&found->units, recording, n_lanes);
}

void hlg_guest_bases_found_finish(struct hlg_guest_bases_found *found)
{
	hlg_runners_finish(&found->units);
	free(found->at);
	*found = (struct hlg_guest_bases_found){0};
}

/* By image, and as found bases are: by samples, then base. */
static int compare(const void *a, const void *b)
{
	const struct hlg_guest_base *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	if (x->base != y->base)
		return x->base < y->base ? -1 : 1;
	return x->lane < y->lane ? -1 : x->lane > y->lane;
}

bool hlg_guest_bases_lie_together(const struct hlg_guest_bases *bases)
{
	return bases->untold && bases->n_lanes < 2;
}

uint64_t hlg_guest_bases_back(const void *ctx, uint64_t ip)
{
	(void)ctx;
	return hlg_lane_of(ip) == HLG_LANE_NOBODY ? hlg_lane_ip(ip) : ip;
}

void hlg_guest_bases_tell(const struct hlg_guest_bases *bases,
			  struct hlg_note_list *notes)
{
	hlg_note_list_append(notes, &bases->notes);
	hlg_note_list_crowd_rest(notes, bases->untold,
				 "have samples that are outside here");
}

int hlg_guest_bases_place(const struct hlg_guest_bases *bases, struct hlg_space *space,
			  bool together, struct hlg_err *err)
{
	int rc = 0;

	if (bases->n == 0 || (bases->n_lanes < 2 && !bases->untold))
		return 0;
	qsort(bases->at, bases->n, sizeof(*bases->at), compare);
	for (size_t i = 0; rc == 0 && i < bases->n; i++) {
		const struct hlg_guest_base *at = &bases->at[i];
		struct hlg_image *image = space->images[at->image];

		/* Of the bases to come, not of those it has. */
		image->lane = at->lane;
		rc = image->from == HLG_BASE_NONE
			     ? hlg_image_set_base(image, at->base, HLG_BASE_FOUND, err)
			     : hlg_image_add_base(image, at->base, err);
	}
	for (size_t i = bases->n; i--;)
		space->images[bases->at[i].image]->lane = bases->at[i].lane;
	space->n_lanes = together ? 0 : bases->n_lanes;
	return rc < 0 ? rc : hlg_space_arrange(space, err);
}

void hlg_guest_bases_finish(struct hlg_guest_bases *bases)
{
	free(bases->at);
	hlg_note_list_finish(&bases->notes);
	*bases = (struct hlg_guest_bases){0};
}
