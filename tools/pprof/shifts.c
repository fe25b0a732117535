// SPDX-License-Identifier: GPL-2.0-only
#include "tools/pprof/shifts.h"

#include <assert.h>
#include <string.h>

#include "symtab/image/lane.h"

/* A saved profile, and where its images lie. */
struct shifts {
	const struct hlg_saved *saved;
	const struct hlg_space *space;
	const char *path; /* as messages have it */
	uint64_t *by;     /* of each image */
	struct hlg_err *err;
};

/* Is it the same file at whatever base? Without a build id, by its extent. */
static bool is_image(const struct hlg_image *here, const struct hlg_saved_image *saved)
{
	if (here->map != saved->extra.map)
		return false;
	if (saved->build_id[0] || here->elf.build_id[0])
		return strcmp(here->elf.build_id, saved->build_id) == 0;
	return here->first == saved->start - saved->extra.bias &&
	       here->end == saved->limit - saved->extra.bias;
}

/* Does the image lie with this bias here? */
static bool lies_at(const struct hlg_image *here, uint64_t bias)
{
	for (size_t i = 0; i < hlg_image_n_bases(here); i++)
		if (hlg_image_base(here, i).bias == bias)
			return true;
	return false;
}

/* One at the same base rather than another one. */
const struct hlg_image *hlg_shifts_image(const struct hlg_space *space,
					 const struct hlg_saved_image *saved)
{
	const struct hlg_image *found = NULL;

	for (size_t i = 0; i < space->n_images; i++) {
		const struct hlg_image *here = space->images[i];

		if (is_image(here, saved) && (!found || lies_at(here, saved->extra.bias)))
			found = here;
	}
	return found;
}

/* One whose base is still to be found keeps its samples where they were. */
static uint64_t shift_of(const struct hlg_image *here,
			 const struct hlg_saved_image *saved)
{
	if (here->from == HLG_BASE_NONE || lies_at(here, saved->extra.bias))
		return 0;
	return here->bias - saved->extra.bias;
}

/* Were two of these images saved where they overlap? Their samples together would tell of
 * no base, or of a wrong one. */
static bool overlap(const struct hlg_saved_image *a, const struct hlg_saved_image *b)
{
	return a->extra.bias != b->extra.bias && a->start < b->limit &&
	       b->start < a->limit;
}

/* Does no sample that was outside of all images lie in this one with that bias? */
static bool is_free(const struct hlg_saved *saved, const struct hlg_image *here,
		    uint64_t bias)
{
	const struct hlg_saved_cell *cells = saved->cells.at;

	assert(here);
	/* Outside comes first in the order of cells. */
	for (size_t i = 0; i < saved->cells.n && !cells[i].at.image; i++) {
		uint64_t ip = hlg_lane_ip(cells[i].at.ip) - bias;

		if (ip >= here->first && ip < here->end)
			return false;
	}
	return true;
}

/* The image at the least base of those it was saved at that is free; or NULL. */
static const struct hlg_saved_image *choose(const struct shifts *s,
					    const struct hlg_image *here)
{
	const struct hlg_saved_image *chosen = NULL;

	for (size_t i = 0; i < s->saved->images.n; i++) {
		const struct hlg_saved_image *saved = &s->saved->images.at[i];

		if (hlg_shifts_image(s->space, saved) == here &&
		    (!chosen || saved->extra.bias < chosen->extra.bias) &&
		    is_free(s->saved, here, saved->extra.bias))
			chosen = saved;
	}
	return chosen;
}

/* Has an image, whose base is to be found, parts that overlap? */
static bool is_folded(const struct shifts *s, const struct hlg_image *here)
{
	const struct hlg_saved_image *at = s->saved->images.at;

	for (size_t i = 0; i < s->saved->images.n; i++)
		for (size_t j = 0; j < i; j++)
			if (hlg_shifts_image(s->space, &at[i]) == here &&
			    hlg_shifts_image(s->space, &at[j]) == here &&
			    overlap(&at[i], &at[j]))
				return true;
	return false;
}

/* Brings all of it to one base, where each sample keeps its place in the image. */
static int fold(const struct shifts *s, const struct hlg_image *here)
{
	const struct hlg_saved_image *to = choose(s, here);

	if (!to)
		return hlg_err_set(s->err, HLG_EINPUT,
				   "%s: %s lies at bases that overlap, and samples are "
				   "outside of it at each (use @BASE: one that is free)",
				   s->path, here->path);
	for (size_t i = 0; i < s->saved->images.n; i++) {
		const struct hlg_saved_image *saved = &s->saved->images.at[i];

		if (hlg_shifts_image(s->space, saved) == here)
			s->by[i] = to->extra.bias - saved->extra.bias;
	}
	return 0;
}

/*
 * When an image was saved at another base, what lay outside of it could lie in it now and
 * would be credited to bytes it never ran.
 */
static int check_outside(const struct shifts *s)
{
	const struct hlg_saved_cell *cells = s->saved->cells.at;
	bool shifted = false;

	for (size_t i = 0; i < s->saved->images.n; i++)
		shifted |= s->by[i] != 0;
	for (size_t i = 0; shifted && i < s->saved->cells.n && !cells[i].at.image; i++) {
		struct hlg_place place;

		hlg_space_lookup(s->space, cells[i].at.ip, &place);
		if (place.image)
			return hlg_err_set(s->err, HLG_EINPUT,
					   "%s: has samples outside of its images that "
					   "lie in %s at its base here (use @BASE: the "
					   "one it was saved with, or one that is free)",
					   s->path, place.image->path);
	}
	return 0;
}

/* All that has samples must be here. */
static int check_images(const struct shifts *s)
{
	const struct hlg_saved_cell *cells = s->saved->cells.at;

	for (size_t i = 0; i < s->saved->cells.n; i++) {
		uint32_t image = cells[i].at.image;
		const struct hlg_saved_image *saved;

		if (image == 0 || (i && cells[i - 1].at.image == image))
			continue;
		saved = &s->saved->images.at[image - 1];
		if (!hlg_shifts_image(s->space, saved))
			return hlg_err_set(
				s->err, HLG_EINPUT,
				"%s: has samples in %s (%s%s), which is not among the "
				"images (name the same build)",
				s->path, saved->path,
				saved->build_id[0] ? "build id " : "no build id",
				saved->build_id);
	}
	return 0;
}

int hlg_shifts_find(const struct hlg_saved *saved, const struct hlg_space *space,
		    const char *path, uint64_t *by, struct hlg_err *err)
{
	const struct shifts s = {saved, space, path, by, err};
	int rc = 0;

	for (size_t i = 0; i < saved->images.n; i++) {
		const struct hlg_image *here =
			hlg_shifts_image(space, &saved->images.at[i]);

		by[i] = here ? shift_of(here, &saved->images.at[i]) : 0;
	}
	rc = check_images(&s);
	for (size_t i = 0; rc == 0 && i < space->n_images; i++)
		if (space->images[i]->from == HLG_BASE_NONE &&
		    is_folded(&s, space->images[i]))
			rc = fold(&s, space->images[i]);
	return rc < 0 ? rc : check_outside(&s);
}
