// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/image/space.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/bsearch.h"
#include "symtab/grow.h"
#include "symtab/image/base.h"
#include "symtab/image/image-bases.h"

enum {
	NAMES = 512 /* bytes of names in a message */
};

int hlg_space_add(struct hlg_space *space, struct hlg_image *image, struct hlg_err *err)
{
	if (!HLG_GROW(space->images, space->n_images)) {
		int rc = hlg_err_memory(err, image->path);

		hlg_image_destroy(image);
		return rc;
	}
	image->number = space->n_images;
	space->images[space->n_images++] = image;
	return 0;
}

static size_t add_ranges(struct hlg_space_range *ranges, size_t n,
			 const struct hlg_image *image, struct hlg_base at)
{
	for (size_t i = 0; i < image->n_areas; i++) {
		const struct hlg_area *area = &image->areas[i];
		uint64_t last = area->end - 1 + at.bias;

		if (i && area[-1].end == area->start)
			ranges[n - 1].last = last;
		else
			ranges[n++] = (struct hlg_space_range){area->start + at.bias,
							       last, image, at};
	}
	return n;
}

static bool are_of_one_host(const struct hlg_image *a, const struct hlg_image *b)
{
	return a != b && a->file && b->file && strcmp(a->file, b->file) == 0;
}

#define ONE_OF_THEM "inject takes one at a time"

/* What can be done about two that overlap. Perf maps are told apart by no verb. */
static const char *how_to_part(const struct hlg_image *a, const struct hlg_image *b)
{
	if (a->map || b->map)
		return "state where they lie as FILE@ADDR, or name one";
	if (a->from == HLG_BASE_STATED && b->from == HLG_BASE_STATED)
		return "name one; hlguest report, annotate, diff, exits, flame, lookup "
		       "and windows take both; " ONE_OF_THEM;
	return "name one, or, if they lie elsewhere, state it as FILE@ADDR; hlguest "
	       "report, annotate, diff, exits, flame, lookup and windows take "
	       "both; " ONE_OF_THEM;
}

/* "x: its guests lie at the same addresses (name one of them: x@guest=1 x@guest=2)" */
static int fail_host(const struct hlg_space *space, const char *host, struct hlg_err *err)
{
	char words[NAMES] = "";
	size_t n = 0;

	for (size_t i = 0; i < space->n_images; i++) {
		const struct hlg_image *image = space->images[i];
		const bool is = image->file && strcmp(image->file, host) == 0;
		const size_t size = is ? 1 + strlen(image->typed) : 0;

		if (is && n + size + sizeof(" ...") > sizeof(words)) {
			strcpy(words + n, " ...");
			break;
		}
		if (is)
			sprintf(words + n, " %s", image->typed);
		n += size;
	}
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: its guests lie at the same addresses (name one of "
			   "them:%s)",
			   host, words);
}

static int check_overlap(struct hlg_space *space, struct hlg_err *err)
{
	for (size_t i = 1; i < space->n_ranges; i++) {
		const struct hlg_space_range *a = &space->ranges[i - 1], *b = a + 1;

		space->overlaps |= b->first <= a->last;
		if (b->first <= a->last && are_of_one_host(a->image, b->image))
			return fail_host(space, a->image->file, err);
		if (b->first <= a->last)
			return hlg_err_set(err, HLG_EINPUT,
					   "%s@0x%" PRIx64 ": overlaps %s@0x%" PRIx64
					   " at 0x%" PRIx64 " (%s)",
					   b->image->path, b->at.base, a->image->path,
					   a->at.base, hlg_space_ip(space, b->first),
					   how_to_part(a->image, b->image));
	}
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	const struct hlg_image *const *x = a, *const *y = b;

	return strcmp(hlg_image_file_name(*x), hlg_image_file_name(*y));
}

static int compare_names_and_bases(const void *a, const void *b)
{
	const struct hlg_image *const *x = a, *const *y = b;
	int order = compare_names(a, b);

	return order ? order : hlg_bsearch_order((*x)->base, (*y)->base);
}

static int compare_paths(const void *a, const void *b)
{
	const struct hlg_image *const *x = a, *const *y = b;

	return strcmp((*x)->path, (*y)->path);
}

/* "NAME@0xBASE", of an image that has a base. False without memory. */
static bool name_at(char **to, const char *name, const struct hlg_image *image)
{
	if (image->from != HLG_BASE_NONE &&
	    asprintf(to, "%s@0x%" PRIx64, name, image->base) < 0)
		*to = NULL;
	return image->from == HLG_BASE_NONE || *to;
}

/* Images of one name, by base: those that have one get labels, which tell each from the
 * others. */
static bool label(struct hlg_image **images, size_t n)
{
	bool at_one = false, ok = true;

	for (size_t i = 1; i < n; i++)
		at_one |= images[i]->base == images[i - 1]->base &&
			  images[i]->from != HLG_BASE_NONE &&
			  images[i - 1]->from != HLG_BASE_NONE;
	for (size_t i = 0; ok && i < n; i++)
		ok = name_at(&images[i]->label,
			     at_one ? images[i]->path : hlg_image_file_name(images[i]),
			     images[i]);
	return ok;
}

/* The same of images of one path. */
static bool word(struct hlg_image **images, size_t n)
{
	bool ok = true;

	for (size_t i = 0; ok && i < n; i++)
		ok = name_at(&images[i]->word, images[i]->path, images[i]);
	return ok;
}

/* Sorts images, and names those that are alike together. */
static bool name_alike(struct hlg_image **images, size_t n,
		       int (*sort)(const void *, const void *),
		       int (*compare)(const void *, const void *),
		       bool (*name)(struct hlg_image **, size_t))
{
	bool ok = true;

	if (n > 1)
		qsort(images, n, sizeof(*images), sort);
	for (size_t i = 0, j; ok && i < n; i = j) {
		for (j = i + 1; j < n && compare(&images[i], &images[j]) == 0; j++)
			;
		ok = j - i == 1 || name(&images[i], j - i);
	}
	return ok;
}

/* Names and paths that several images have get their bases. False without memory. */
static bool name_all(const struct hlg_space *space)
{
	const size_t n = space->n_images;
	struct hlg_image **images = calloc(n + 1, sizeof(*images));
	bool ok = images;

	for (size_t i = 0; ok && i < n; i++) {
		images[i] = space->images[i];
		free(images[i]->label);
		free(images[i]->word);
		images[i]->label = images[i]->word = NULL;
	}
	ok = ok && name_alike(images, n, compare_paths, compare_paths, word) &&
	     name_alike(images, n, compare_names_and_bases, compare_names, label);
	free(images);
	return ok;
}

/* Is it in the first lane, and may be in others? */
static bool is_shared(const struct hlg_image *image)
{
	return image->lane == 0 && !image->owned && image->from != HLG_BASE_NONE &&
	       image->from != HLG_BASE_FOUND;
}

/* Does an image lie at a base of this lane? *n counts them, *base is the last. */
static bool lies_in(const struct hlg_image *image, unsigned lane, size_t *n,
		    uint64_t *base)
{
	const size_t before = *n;

	for (size_t i = 0; i < hlg_image_n_bases(image); i++) {
		struct hlg_base at = hlg_image_base(image, i);

		if (hlg_lane_of(at.bias + image->first) != lane)
			continue;
		*base = at.base;
		++*n;
	}
	return *n > before;
}

/* What many ask of an image's bases. False without memory. */
static bool sum_up(const struct hlg_space *space, struct hlg_image *image)
{
	image->everywhere = is_shared(image);
	for (unsigned lane = 0; image->everywhere && lane < space->n_lanes; lane++) {
		size_t in = 0;
		uint64_t base;

		image->everywhere = lies_in(image, lane, &in, &base);
	}
	return hlg_image_bases_sum(image);
}

int hlg_space_arrange(struct hlg_space *space, struct hlg_err *err)
{
	size_t max = 0;

	for (size_t i = 0; i < space->n_images; i++) {
		max += space->images[i]->n_areas * hlg_image_n_bases(space->images[i]);
		if (!sum_up(space, space->images[i]))
			return hlg_err_memory(err, space->images[i]->path);
	}
	free(space->ranges);
	space->n_ranges = 0;
	space->ranges = malloc((max + 1) * sizeof(*space->ranges));
	if (!space->ranges || !name_all(space))
		return hlg_err_memory(err, "images");
	for (size_t i = 0; i < space->n_images; i++)
		for (size_t k = 0; k < hlg_image_n_bases(space->images[i]); k++)
			space->n_ranges = add_ranges(space->ranges, space->n_ranges,
						     space->images[i],
						     hlg_image_base(space->images[i], k));
	qsort(space->ranges, space->n_ranges, sizeof(*space->ranges),
	      hlg_bsearch_compare);
	return check_overlap(space, err);
}

static bool have_common(const struct hlg_image *a, const struct hlg_image *b)
{
	for (size_t i = 0; i < a->n_areas; i++)
		for (size_t k = 0; k < b->n_areas; k++)
			if (a->areas[i].start + a->bias <=
				    b->areas[k].end - 1 + b->bias &&
			    b->areas[k].start + b->bias <= a->areas[i].end - 1 + a->bias)
				return true;
	return false;
}

/* Has the image no byte in common with those in front of it, in its lane? */
static bool has_room(const struct hlg_space *space, const struct hlg_image *image)
{
	for (size_t i = 0; i < image->number; i++) {
		const struct hlg_image *other = space->images[i];

		if (other->lane == image->lane && other->from != HLG_BASE_NONE &&
		    have_common(image, other))
			return false;
	}
	return true;
}

int hlg_space_part(struct hlg_space *space, struct hlg_err *err)
{
	int rc = hlg_space_arrange(space, err);

	if (rc != HLG_EINPUT)
		return rc;
	space->n_lanes = 1;
	for (size_t i = 0; i < space->n_images; i++) {
		struct hlg_image *image = space->images[i];

		if (image->map || image->from == HLG_BASE_NONE)
			continue;
		while (!has_room(space, image) && image->lane + 1 < HLG_LANE_SEVERAL)
			hlg_image_set_lane(image, image->lane + 1);
		if (image->lane >= space->n_lanes)
			space->n_lanes = image->lane + 1;
	}
	return hlg_space_arrange(space, err);
}

/* One that has bytes where an image would, if all of it were moved by bias; or NULL. */
static const struct hlg_image *in_the_way(const struct hlg_space *space,
					  const struct hlg_image *image, uint64_t bias)
{
	for (size_t i = 0; i < image->n_areas; i++) {
		const uint64_t last = image->areas[i].end - 1 + bias;
		size_t behind =
			HLG_BSEARCH_UPTO(space->ranges, space->n_ranges, first, last);

		if (behind &&
		    space->ranges[behind - 1].last >= image->areas[i].start + bias)
			return space->ranges[behind - 1].image;
	}
	return NULL;
}

enum assumed {
	SETTLED,
	ASSUMED,
	CONTESTED, /* another lies there, or is assumed to */
};

static int assume(struct hlg_space *space, enum assumed *of, struct hlg_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < space->n_images; i++) {
		struct hlg_image *image = space->images[i];

		if (image->from != HLG_BASE_NONE || image->nowhere)
			continue;
		rc = hlg_base_decide(image, err);
		of[i] = rc == 0 ? ASSUMED : SETTLED;
	}
	return rc;
}

static bool is_contested(const struct hlg_space *space, const enum assumed *of,
			 const struct hlg_image *image)
{
	for (size_t i = 0; i < space->n_images; i++)
		if (of[i] != SETTLED && space->images[i] != image &&
		    have_common(space->images[i], image))
			return true;
	return in_the_way(space, image, image->bias);
}

/* What is contested is left out: it blocks no report, and none of two goes before the
 * other. */
static int settle_assumed(struct hlg_space *space, enum assumed *of, struct hlg_err *err)
{
	int rc = assume(space, of, err);

	for (size_t i = 0; rc == 0 && i < space->n_images; i++)
		if (of[i] == ASSUMED && is_contested(space, of, space->images[i]))
			of[i] = CONTESTED;
	for (size_t i = 0; rc == 0 && i < space->n_images; i++)
		if (of[i] == CONTESTED)
			hlg_image_clear_base(space->images[i]);
	return rc == 0 ? hlg_space_arrange(space, err) : rc;
}

int hlg_space_settle(struct hlg_space *space, struct hlg_err *err)
{
	enum assumed *of = calloc(space->n_images + 1, sizeof(*of));
	int rc = 0;

	if (!of)
		return hlg_err_memory(err, "images");
	for (size_t i = 0; rc == 0 && i < space->n_images; i++)
		if (!space->images[i]->sought && !space->images[i]->nowhere)
			rc = hlg_base_read(space->images[i], err);
	if (rc == 0)
		rc = hlg_space_arrange(space, err);
	if (rc == 0)
		rc = settle_assumed(space, of, err);
	free(of);
	return rc;
}

/* What of an image is at a base of the first lane comes to lie in a lane, too. *contested
 * becomes true if what may be run instead is in the way. */
static int share(const struct hlg_space *space, struct hlg_image *image,
		 struct hlg_base at, unsigned lane, bool *contested, struct hlg_err *err)
{
	const struct hlg_image *other =
		in_the_way(space, image, at.bias + hlg_lane_move(lane));
	int rc;

	*contested |= other && other != image && other->from != HLG_BASE_FOUND;
	if (other)
		return 0;
	image->lane = lane; /* of bases to come */
	rc = hlg_image_add_base(image, at.base, err);
	image->lane = 0;
	return rc;
}

static int share_image(const struct hlg_space *space, struct hlg_image *image,
		       struct hlg_err *err)
{
	const size_t n = hlg_image_n_bases(image);
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < n; i++) {
		const struct hlg_base at = hlg_image_base(image, i);
		bool contested = false;

		if (hlg_lane_of(at.bias + image->first) != 0)
			continue;
		for (unsigned lane = 1; rc == 0 && lane < space->n_lanes; lane++)
			rc = share(space, image, at, lane, &contested, err);
		if (rc == 0 && space->has_shared && !contested)
			rc = share(space, image, at, HLG_LANE_SHARED, &contested, err);
	}
	return rc;
}

int hlg_space_share(struct hlg_space *space, struct hlg_err *err)
{
	int rc = 0;

	if (space->n_lanes == 0)
		return 0;
	for (size_t i = 0; rc == 0 && i < space->n_images; i++)
		if (is_shared(space->images[i]))
			rc = share_image(space, space->images[i], err);
	return rc == 0 ? hlg_space_arrange(space, err) : rc;
}

void hlg_space_lookup(const struct hlg_space *space, uint64_t ip, struct hlg_place *place)
{
	size_t behind = HLG_BSEARCH_UPTO(space->ranges, space->n_ranges, first, ip);

	*place = (struct hlg_place){.kind = HLG_OUTSIDE, .addr = hlg_space_ip(space, ip)};
	if (behind && ip <= space->ranges[behind - 1].last) {
		const struct hlg_space_range *range = &space->ranges[behind - 1];

		hlg_image_lookup(range->image, ip - range->at.bias, place);
	}
}

/* Of images that lie everywhere, or of those that do not. */
static size_t in_lane(const struct hlg_space *space, unsigned lane, bool everywhere,
		      const struct hlg_image **image, uint64_t *base)
{
	size_t names = 0, n = 0, all = 0;

	*image = NULL;
	*base = HLG_SPACE_NOWHERE;
	for (size_t i = 0; i < space->n_images; i++) {
		const struct hlg_image *other = space->images[i];

		if (other->everywhere != everywhere || !lies_in(other, lane, &n, base))
			continue;
		names += !*image || !hlg_image_are_of_one_name(*image, other);
		*image = *image ? *image : other;
	}
	for (size_t i = 0; *image && i < space->n_images; i++)
		if (hlg_image_are_of_one_name(*image, space->images[i]))
			all += hlg_image_bases_places(space->images[i]);
	if (n != 1 || all == 1)
		*base = HLG_SPACE_NOWHERE;
	return names;
}

size_t hlg_space_in_lane(const struct hlg_space *space, unsigned lane,
			 const struct hlg_image **image, uint64_t *base)
{
	const size_t names = in_lane(space, lane, false, image, base);

	return names ? names : in_lane(space, lane, true, image, base);
}

bool hlg_space_is_made(const struct hlg_space *space)
{
	for (size_t i = 0; i < space->n_images; i++)
		if (!space->images[i]->made)
			return false;
	return true;
}

void hlg_space_finish(struct hlg_space *space)
{
	for (size_t i = 0; i < space->n_images; i++)
		hlg_image_destroy(space->images[i]);
	free(space->images);
	free(space->ranges);
	memset(space, 0, sizeof(*space));
}
