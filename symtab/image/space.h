/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The space: all images of one run at their bases, and what is at a guest address.
 *
 * Add images in any state, state bases, settle; then look up. Settling decides the bases
 * nobody stated and refuses images whose bytes overlap. It may be done again after a
 * base was changed.
 */
#ifndef HLG_SYMTAB_IMAGE_SPACE_H
#define HLG_SYMTAB_IMAGE_SPACE_H

#include "symtab/image/image.h"

/* Guest addresses [first, last] of one image's contiguous areas, at one of its bases. */
struct hlg_space_range {
	uint64_t first, last;
	const struct hlg_image *image;
	struct hlg_base at;
};

struct hlg_space {
	struct hlg_image **images; /* owned, in the order they were added: by number */
	size_t n_images;
	struct hlg_space_range *ranges; /* sorted, disjoint */
	size_t n_ranges;
	unsigned n_lanes; /* 0: addresses are in none; see hlg_space_part */
	bool has_shared;  /* some are in HLG_LANE_SHARED */
	bool overlaps;    /* images lie across each other: hlg_space_arrange() failed */
};

/* Takes image over; on failure (no memory) destroys it. */
int hlg_space_add(struct hlg_space *space, struct hlg_image *image, struct hlg_err *err);

/* Decides the bases that nobody stated, and arranges the images. One whose base would be
 * assumed, or would be its file's though it was sought, where another lies or would, too,
 * or no sample fits, stays without a base: in whatever order they were added. Fails
 * without memory, or when images overlap. */
int hlg_space_settle(struct hlg_space *space, struct hlg_err *err);

/*
 * Settles the space without deciding bases: an image without one is in the space, but no
 * address is its.
 */
int hlg_space_arrange(struct hlg_space *space, struct hlg_err *err);

/*
 * Arranges the space and puts images that overlap into lanes of their own, which they
 * stay in: each into the first where it has room. Fails as hlg_space_arrange does, where
 * perf maps or too many images overlap.
 */
int hlg_space_part(struct hlg_space *space, struct hlg_err *err);

/*
 * Who runs an image of another lane may run those of the first as well: each of these,
 * but those that were found by the samples of its guests, or of which it is stated who
 * runs them, comes to lie in each other lane, too, in which there is nothing where it is;
 * and in HLG_LANE_SHARED, where has_shared, unless one is there that was not found so.
 * The space is arranged, before and after. Does nothing without lanes, or a second time.
 * Fails as hlg_space_arrange does.
 */
int hlg_space_share(struct hlg_space *space, struct hlg_err *err);

/* The guest's own address of an ip that may be in a lane. */
static inline uint64_t hlg_space_ip(const struct hlg_space *space, uint64_t ip)
{
	return space->n_lanes ? hlg_lane_ip(ip) : ip;
}

/* Fills *place for any ip. The space must be settled. */
void hlg_space_lookup(const struct hlg_space *space, uint64_t ip,
		      struct hlg_place *place);

/* Is image, which may be NULL, one of the space? Then it is images[image->number]. */
static inline bool hlg_space_has(const struct hlg_space *space,
				 const struct hlg_image *image)
{
	return image && image->number < space->n_images &&
	       space->images[image->number] == image;
}

/*
 * How many images are in a lane, of one name each: but for those that lie in all lanes,
 * unless there are no others; to *image the first, or NULL; to *base
 * where it lies there, if that is one place, and it lies elsewhere, too; else
 * HLG_SPACE_NOWHERE.
 */
#define HLG_SPACE_NOWHERE UINT64_MAX
size_t hlg_space_in_lane(const struct hlg_space *space, unsigned lane,
			 const struct hlg_image **image, uint64_t *base);

/* Are there no files behind its images, so that nothing can be tested (hlg_image_make)?
 */
bool hlg_space_is_made(const struct hlg_space *space);

void hlg_space_finish(struct hlg_space *space);

#endif
