// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/guest-bases.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "filter/trust/addresses.h"
#include "filter/trust/apart.h"
#include "symtab/bsearch.h"
#include "symtab/grow.h"
#include "symtab/image/lane.h"
#include "symtab/plural.h"

/* Does a guest lie across just those that were placed before that others in a lane do? */
static bool share_alike(const struct hlg_guest_bases *bases,
			const struct hlg_space *space, const struct hlg_guest_base *guest,
			size_t n, unsigned lane)
{
	for (size_t i = 0; i < space->n_images; i++) {
		bool used = false, met = false;

		for (size_t k = 0; k < bases->n; k++) {
			used |= bases->at[k].lane == lane;
			met |= bases->at[k].lane == lane &&
			       hlg_guest_bases_find_meets(space, i, &bases->at[k], 1);
		}
		if (used && met != hlg_guest_bases_find_meets(space, i, guest, n))
			return false;
	}
	return true;
}

/* Is there room for all bases of a guest in a lane? In the first is what was placed
 * before; in each other, of this, what nobody there lies across: of who shares one all
 * must. */
static bool has_room(const struct hlg_guest_bases *bases, const struct hlg_space *space,
		     const struct hlg_guest_base *guest, size_t n, unsigned lane)
{
	if (lane == 0 && hlg_guest_bases_find_meets_any(space, guest, n))
		return false;
	for (size_t i = 0; i < bases->n; i++)
		for (size_t k = 0; bases->at[i].lane == lane && k < n; k++)
			if (hlg_guest_bases_find_collide(space, &bases->at[i], &guest[k]))
				return false;
	return lane == 0 || share_alike(bases, space, guest, n, lane);
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

/* Says how many of the samples of a guest are outside. */
static void tell(struct hlg_guest_bases *bases, const struct hlg_runners_recording *r,
		 const struct hlg_runner *of, uint64_t outside)
{
	const bool thread = of->sandbox < 0, turns = of->untold == HLG_UNTOLD_TURNS;
	hlg_note_list_adder *note;
	char part[40] = "of", *own = NULL;

	bases->untold++;
	bases->turns |= turns;
	if (!outside) /* none is selected that is */
		return;
	note = hlg_note_list_crowd_adder(bases->told++);
	if (outside < of->samples)
		snprintf(part, sizeof(part), "for %" PRIu64 " of", outside);
	if (note && turns)
		note(&bases->notes,
		     "%s: thread %" PRId32 " has %" PRIu64
		     " samples, which fit the ELFs only together: outside here (it ran "
		     "several in turn; record anew: %s)",
		     r->path, of->tid, of->samples, hlg_runners_again(r, &own));
	else if (note)
		note(&bases->notes,
		     "%s: %s %" PRId32 " has %" PRIu64
		     " sample%s, %s which no base was found: outside here",
		     r->path, thread ? "thread" : "sandbox",
		     thread ? of->tid : of->sandbox, of->samples,
		     hlg_plural_s(of->samples), part);
	free(own);
}

/* The guest whose first unit this is has no base, or no room. */
static void leave(struct hlg_guest_bases_found *found, size_t unit)
{
	const size_t end = hlg_runners_guest(&found->units, unit);

	for (size_t i = unit; i < end; i++)
		if (!found->units.at[i].untold)
			found->units.at[i].untold = HLG_UNTOLD_NONE;
	give(found, unit, HLG_LANE_NOBODY);
}

/* All that were not found. */
static void leave_others(struct hlg_guest_bases_found *found)
{
	const struct hlg_runners *units = &found->units;
	size_t k = 0;

	for (size_t i = 0; i < units->n; i = hlg_runners_guest(units, i)) {
		while (k < found->n && found->at[k].lane < i)
			k++;
		if (!(k < found->n && found->at[k].lane == i) && !units->at[i].settled)
			leave(found, i);
	}
}

/* The first lane that has room for n bases of a guest. */
static unsigned find_lane(const struct hlg_guest_bases *bases,
			  const struct hlg_space *space,
			  const struct hlg_guest_base *guest, size_t n)
{
	unsigned lane = 0;

	while (lane + 1 < HLG_LANE_SEVERAL && !has_room(bases, space, guest, n, lane))
		lane++;
	/* So many lie across each other that this one is nobody's. */
	return lane + 1 == HLG_LANE_SEVERAL ? HLG_LANE_NOBODY : lane;
}

/* Says who was not found. */
static void tell_all(struct hlg_guest_bases *bases, const struct hlg_space *space,
		     const struct hlg_runners_recording *r,
		     const struct hlg_runners *units)
{
	for (size_t i = 0, j; i < units->n; i = j) {
		const bool shared = units->at[i].lane == HLG_LANE_SHARED;
		struct hlg_runner guest;

		j = hlg_runners_guest(units, i);
		guest = hlg_runners_sum(&units->at[i], j - i);
		if (guest.untold || shared)
			tell(bases, r, &guest,
			     hlg_runners_outside(units->all, guest.begin, guest.end,
						 space, shared ? 0 : HLG_LANE_NOBODY));
		bases->has_shared |= shared;
	}
}

bool hlg_guest_bases_settle(struct hlg_guest_bases *bases, const struct hlg_space *space,
			    const struct hlg_runners_recording *r, bool selected,
			    struct hlg_guest_bases_found *found)
{
	bool ok = true;

	if (!found->whole)
		leave_others(found);

	for (size_t i = 0, j; ok && i < found->n; i = j) {
		const size_t unit = found->at[i].lane;
		unsigned lane;

		for (j = i; j < found->n && found->at[j].lane == unit; j++)
			;
		lane = find_lane(bases, space, &found->at[i], j - i);
		if (lane == HLG_LANE_NOBODY && !found->whole) {
			leave(found, unit);
			continue;
		}
		for (size_t k = i; lane != HLG_LANE_NOBODY && ok && k < j; k++)
			ok = add(bases, &found->at[k], lane);
		if (lane != HLG_LANE_NOBODY && lane >= bases->n_lanes)
			bases->n_lanes = lane + 1;
		give(found, unit, lane);
	}
	if (ok && selected && !found->whole)
		ok = hlg_runners_narrow(&found->units, r->profile);
	if (ok)
		tell_all(bases, space, r, &found->units);
	if (bases->turns && !bases->n_lanes)
		bases->n_lanes = 1;
	return ok;
}

int hlg_guest_bases_check(const struct hlg_guest_bases_found *found,
			  const struct hlg_space *space,
			  const struct hlg_runners_recording *r, struct hlg_err *err)
{
	const struct hlg_runners *units = &found->units;
	size_t turns = units->n;

	for (size_t i = 0; i < units->n; i++) {
		if (units->at[i].settled)
			return 0;
		if (turns == units->n && units->at[i].untold == HLG_UNTOLD_TURNS)
			turns = i;
	}
	return found->n || turns == units->n
		       ? 0
		       : hlg_apart_fail_turns(space, r, units->at[turns].tid, err);
}

bool hlg_guest_bases_move(const struct hlg_guest_bases_found *found,
			  const struct hlg_runners_recording *recording, unsigned n_lanes)
{
	if (found->whole)
		return found->lane == 0 ||
		       hlg_runners_move_all(recording, found->lane, n_lanes);
	return hlg_runners_move(&found->units, recording, n_lanes);
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
	return bases->untold && bases->n_lanes < 2 && !bases->turns;
}

uint64_t hlg_guest_bases_back(const void *ctx, uint64_t ip)
{
	(void)ctx;
	return hlg_lane_of(ip) >= HLG_LANE_SHARED ? hlg_lane_ip(ip) : ip;
}

void hlg_guest_bases_tell(const struct hlg_guest_bases *bases,
			  struct hlg_note_list *notes)
{
	hlg_note_list_append(notes, &bases->notes);
	hlg_note_list_crowd_rest(notes, bases->told, "samples that are outside here");
}

/* Does a base have any of these addresses? */
static bool has_any(const struct hlg_space *space, const struct hlg_guest_base *of,
		    const struct hlg_addresses *addrs)
{
	const struct hlg_image *image = space->images[of->image];
	const uint64_t first = of->base + hlg_lane_move(of->lane);
	const uint64_t last = first + (image->end - image->first - 1);
	const size_t n = HLG_BSEARCH_UPTO(addrs->at, addrs->n, ip, last);

	return n && addrs->at[n - 1].ip >= first;
}

bool hlg_guest_bases_narrow(struct hlg_guest_bases *bases, const struct hlg_space *space,
			    const struct hlg_profile *profile)
{
	struct hlg_addresses addrs = {0};
	bool *has = calloc(space->n_images + 1, sizeof(*has));
	bool ok = has && hlg_addresses_collect(&addrs, profile);
	size_t n = 0;

	for (size_t i = 0; ok && i < bases->n; i++)
		has[bases->at[i].image] |= has_any(space, &bases->at[i], &addrs);
	for (size_t i = 0; ok && i < bases->n; i++)
		if (!has[bases->at[i].image] || has_any(space, &bases->at[i], &addrs))
			bases->at[n++] = bases->at[i];
	if (ok)
		bases->n = n;
	hlg_addresses_finish(&addrs);
	free(has);
	return ok;
}

int hlg_guest_bases_place(const struct hlg_guest_bases *bases, struct hlg_space *space,
			  bool together, struct hlg_err *err)
{
	const bool one = bases->n_lanes < 2 && !bases->untold;
	int rc = 0;

	if ((bases->n == 0 && !bases->turns) || (one && !bases->selected))
		return 0;
	if (bases->n)
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
	space->n_lanes = together || one ? 0 : bases->n_lanes;
	space->has_shared = bases->has_shared;
	return rc < 0 ? rc : hlg_space_arrange(space, err);
}

void hlg_guest_bases_finish(struct hlg_guest_bases *bases)
{
	free(bases->at);
	hlg_note_list_finish(&bases->notes);
	*bases = (struct hlg_guest_bases){0};
}
