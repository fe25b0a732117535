// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/guest-bases.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "symtab/bsearch.h"
#include "symtab/grow.h"
#include "symtab/image/lane.h"

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

/* Says how many of the samples of a guest, which are in the units [i, end), are outside.
 */
static void tell(struct hlg_guest_bases *bases, const char *path,
		 const struct hlg_runners *units, size_t i, size_t end, uint64_t outside)
{
	const struct hlg_runner *of = &units->at[i];
	const bool thread = of->sandbox < 0;
	hlg_note_list_adder *note = hlg_note_list_crowd_adder(bases->untold++);
	char part[40] = "of";
	uint64_t samples = 0;

	for (; i < end; i++)
		samples += units->at[i].samples;
	if (outside < samples)
		snprintf(part, sizeof(part), "for %" PRIu64 " of", outside);
	if (note)
		note(&bases->notes,
		     "%s: %s %" PRId32 " has %" PRIu64
		     " sample%s, %s which no base was found: outside here",
		     path, thread ? "thread" : "sandbox", thread ? of->tid : of->sandbox,
		     samples, samples == 1 ? "" : "s", part);
}

/* The guest whose first unit this is has no base, or no room. */
static void leave(struct hlg_guest_bases *bases, const char *path,
		  struct hlg_guest_bases_found *found, size_t unit)
{
	const size_t end = hlg_runners_guest(&found->units, unit);
	uint64_t samples = 0;

	for (size_t i = unit; i < end; i++) {
		found->units.at[i].untold = 1;
		samples += found->units.at[i].samples;
	}
	give(found, unit, HLG_LANE_NOBODY);
	tell(bases, path, &found->units, unit, end, samples);
}

/* All that were not found. */
static void leave_others(struct hlg_guest_bases *bases, const struct hlg_space *space,
			 const char *path, struct hlg_guest_bases_found *found)
{
	const struct hlg_runners *units = &found->units;
	size_t k = 0;

	for (size_t i = 0, j; i < units->n; i = j) {
		const struct hlg_runner *unit = &units->at[i];

		j = hlg_runners_guest(units, i);
		while (k < found->n && found->at[k].lane < i)
			k++;
		if (k < found->n && found->at[k].lane == i)
			continue;
		if (!unit->settled)
			leave(bases, path, found, i);
		else if (unit->lane == HLG_LANE_SHARED)
			tell(bases, path, units, i, j,
			     hlg_guest_bases_find_outside(space, units, i, j));
		bases->has_shared |= unit->lane == HLG_LANE_SHARED;
	}
}

bool hlg_guest_bases_settle(struct hlg_guest_bases *bases, const struct hlg_space *space,
			    const char *path, struct hlg_guest_bases_found *found)
{
	bool ok = true;

	if (!found->whole)
		leave_others(bases, space, path, found);

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
	return hlg_lane_of(ip) >= HLG_LANE_SHARED ? hlg_lane_ip(ip) : ip;
}

void hlg_guest_bases_tell(const struct hlg_guest_bases *bases,
			  struct hlg_note_list *notes)
{
	hlg_note_list_append(notes, &bases->notes);
	hlg_note_list_crowd_rest(notes, bases->untold, "samples that are outside here");
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
	space->has_shared = bases->has_shared;
	return rc < 0 ? rc : hlg_space_arrange(space, err);
}

void hlg_guest_bases_finish(struct hlg_guest_bases *bases)
{
	free(bases->at);
	hlg_note_list_finish(&bases->notes);
	*bases = (struct hlg_guest_bases){0};
}
