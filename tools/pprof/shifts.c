// SPDX-License-Identifier: GPL-2.0-only
#include "tools/pprof/shifts.h"

#include <inttypes.h>
#include <stdlib.h>

#include "symtab/bsearch.h"
#include "symtab/image/lane.h"
#include "tools/pprof/match.h"

/* A saved profile, and where its images lie. */
struct shifts {
	const struct hlg_saved *saved;
	const struct hlg_space *space;
	const char *path;            /* as messages have it */
	const struct hlg_pprof_how *how;
	struct hlg_shifts_image *at; /* of each image */
	uint64_t *outside; /* addresses of the samples outside of all images, sorted */
	size_t n_outside;
	struct hlg_err *err;
};

/* An image whose base is to be found, as it was saved once. */
struct part {
	const struct hlg_image *here;
	const struct hlg_saved_image *saved;
};

/* Did the samples not fit their images when they were saved? */
static bool is_misfit(const struct hlg_saved *saved)
{
	return saved->checks.n == 1 && saved->checks.at[0].word == HLG_CHECKED_MISMATCH;
}

/* lies: at its base here; n: how many bases it has in what is read. */
static uint64_t shift_of(const struct shifts *s, size_t i, bool lies, size_t n)
{
	const struct hlg_image *here = s->at[i].here;

	uint64_t by = here->bias - s->saved->images.at[i].extra.bias;

	if (here->from == HLG_BASE_NONE || lies)
		return 0;
	/* Into the lane that it has now, in any case. */
	if (is_misfit(s->saved) ||
	    (s->how->stay && n == 1 && here->from != HLG_BASE_STATED))
		return hlg_lane_move(hlg_lane_of(by));
	return by;
}

static int find_images(const struct shifts *s)
{
	const size_t n = s->saved->images.n;
	struct hlg_match match;
	bool *lies = calloc(n + 1, sizeof(*lies));
	size_t *bases = calloc(s->space->n_images + 1, sizeof(*bases));
	bool ok = hlg_match_init(&match, s->space) && lies && bases;

	for (size_t i = 0; ok && i < n; i++) {
		s->at[i].here =
			hlg_match_find(&match, &s->saved->images.at[i], &lies[i]);
		if (s->at[i].here)
			bases[s->at[i].here->number]++;
	}
	for (size_t i = 0; ok && i < n; i++)
		if (s->at[i].here)
			s->at[i].by =
				shift_of(s, i, lies[i], bases[s->at[i].here->number]);
	free(lies);
	free(bases);
	hlg_match_finish(&match);
	return ok ? 0 : hlg_err_memory(s->err, s->path);
}

/* Were two of these images saved where they overlap? Their samples together would tell of
 * no base, or of a wrong one. */
static bool overlap(const struct hlg_saved_image *a, const struct hlg_saved_image *b)
{
	return a->extra.bias != b->extra.bias && a->start < b->limit &&
	       b->start < a->limit;
}

/* Sorts them once: there may be as many as a file has room for. */
static bool sort_outside(struct shifts *s)
{
	const struct hlg_saved_cell *cells = s->saved->cells.at;
	size_t n = 0;

	if (s->outside)
		return true;
	/* Outside comes first in the order of cells. */
	while (n < s->saved->cells.n && !cells[n].at.image)
		n++;
	s->outside = calloc(n + 1, sizeof(*s->outside));
	if (!s->outside)
		return false;
	for (size_t i = 0; i < n; i++)
		s->outside[i] = hlg_lane_ip(cells[i].at.ip);
	s->n_outside = n;
	qsort(s->outside, n, sizeof(*s->outside), hlg_bsearch_compare);
	return true;
}

/* Does no sample that was outside of all images lie in this one with that bias? */
static bool is_free(const struct shifts *s, const struct hlg_image *here, uint64_t bias)
{
	uint64_t start = here->first + bias;
	size_t i = hlg_bsearch_below(s->outside, s->n_outside, sizeof(*s->outside), 0,
				     start);

	if (s->n_outside == 0)
		return true;
	/* It may go on at 0: behind the last one comes the first. */
	return s->outside[i < s->n_outside ? i : 0] - start >= here->end - here->first;
}

/* The part at the least base that is free; or NULL. */
static const struct hlg_saved_image *choose(const struct shifts *s,
					    const struct part *parts, size_t n)
{
	const struct hlg_saved_image *chosen = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct hlg_saved_image *saved = parts[i].saved;

		if ((!chosen || saved->extra.bias < chosen->extra.bias) &&
		    is_free(s, parts[i].here, saved->extra.bias))
			chosen = saved;
	}
	return chosen;
}

/* By image, then by address. */
static int compare_parts(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	int order = hlg_bsearch_order(x->here->number, y->here->number);

	return order ? order : hlg_bsearch_order(x->saved->start, y->saved->start);
}

/* Do some of an image's parts overlap? Of those before, none goes on behind the furthest:
 * if it had another base, these two would overlap. */
static bool is_folded(const struct part *parts, size_t n)
{
	const struct hlg_saved_image *furthest = parts[0].saved;

	for (size_t i = 1; i < n; i++) {
		if (overlap(furthest, parts[i].saved))
			return true;
		if (parts[i].saved->limit > furthest->limit)
			furthest = parts[i].saved;
	}
	return false;
}

/* Brings all of an image to one base, where each sample keeps its place in it. */
static int fold(struct shifts *s, const struct part *parts, size_t n)
{
	const struct hlg_saved_image *to;

	if (!sort_outside(s))
		return hlg_err_memory(s->err, s->path);
	to = choose(s, parts, n);
	if (!to)
		return hlg_err_set(s->err, HLG_EINPUT,
				   "%s: %s lies at bases that overlap, and samples are "
				   "outside of it at each (use @BASE: one that is free)",
				   s->path, parts[0].here->path);
	for (size_t i = 0; i < n; i++)
		s->at[parts[i].saved - s->saved->images.at].by =
			to->extra.bias - parts[i].saved->extra.bias;
	return 0;
}

static int fold_images(struct shifts *s)
{
	struct part *parts = calloc(s->saved->images.n + 1, sizeof(*parts));
	size_t n = 0;
	int rc = parts ? 0 : hlg_err_memory(s->err, s->path);

	for (size_t i = 0; parts && i < s->saved->images.n; i++)
		if (s->at[i].here && s->at[i].here->from == HLG_BASE_NONE)
			parts[n++] =
				(struct part){s->at[i].here, &s->saved->images.at[i]};
	if (n)
		qsort(parts, n, sizeof(*parts), compare_parts);
	for (size_t i = 0, end; rc == 0 && i < n; i = end) {
		for (end = i + 1; end < n && parts[end].here == parts[i].here; end++)
			;
		if (is_folded(&parts[i], end - i))
			rc = fold(s, &parts[i], end - i);
	}
	free(parts);
	return rc;
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
		shifted |= s->at[i].by != 0;
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
		if (!s->at[image - 1].here)
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

static void note_image(const struct shifts *s, const struct hlg_image *here,
		       const struct hlg_saved_image *first, size_t n)
{
	if (n == 1)
		hlg_note_list_add(s->how->notes,
				  "%s: its guest was at base 0x%" PRIx64
				  " when this was saved, which is shown as 0x%" PRIx64,
				  here->path, hlg_lane_ip(first->start), here->base);
	else
		hlg_note_list_add(s->how->notes,
				  "%s: its guests were at %zu other bases when this was "
				  "saved, which are shown as 0x%" PRIx64,
				  here->path, n, here->base);
}

/* Says of images whose samples were moved from where they were to where these lie. */
static int note_shifted(const struct shifts *s)
{
	const struct hlg_saved_image *saved = s->saved->images.at;
	struct {
		size_t first, n;
	} *of = calloc(s->space->n_images + 1, sizeof(*of));

	if (!of)
		return hlg_err_memory(s->err, s->path);
	for (size_t i = 0; i < s->saved->images.n; i++)
		if (s->at[i].here && hlg_lane_ip(s->at[i].by) &&
		    of[s->at[i].here->number].n++ == 0)
			of[s->at[i].here->number].first = i;
	for (size_t k = 0; k < s->space->n_images; k++)
		if (of[k].n)
			note_image(s, s->space->images[k], &saved[of[k].first], of[k].n);
	free(of);
	return 0;
}

int hlg_shifts_find(const struct hlg_saved *saved, const struct hlg_space *space,
		    const char *path, const struct hlg_pprof_how *how,
		    struct hlg_shifts_image *shifts, struct hlg_err *err)
{
	struct shifts s = {.saved = saved,
			   .space = space,
			   .path = path,
			   .how = how,
			   .at = shifts,
			   .err = err};
	int rc = find_images(&s);

	if (rc == 0)
		rc = check_images(&s);
	if (rc == 0)
		rc = fold_images(&s);
	free(s.outside);
	if (rc == 0)
		rc = check_outside(&s);
	return rc == 0 && how->notes ? note_shifted(&s) : rc;
}
