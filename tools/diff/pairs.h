/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which image of one side is which of the other.
 *
 * Two images are the same build if their build ids say so, or, of images without one, if
 * the files are alike byte by byte. What is left is paired by file name, then in the
 * order given: these are two builds of one thing, or images without a file
 * (hlg_image_make), of which nothing tells.
 */
#ifndef HLG_TOOLS_DIFF_PAIRS_H
#define HLG_TOOLS_DIFF_PAIRS_H

#include "symtab/image/space.h"

struct hlg_diff_image {
	const struct hlg_image *image[2]; /* before, after; NULL: not on that side */
	bool same;                        /* the same build */
};

struct hlg_diff_images {
	struct hlg_diff_image *pairs;
	size_t n;
	size_t *of[2]; /* by the number of an image of a side: the pair it is in */
	bool same;     /* all of them */
};

/* False without memory; the caller finishes it in any case. Both spaces outlive it. */
bool hlg_diff_images_pair(struct hlg_diff_images *images, const struct hlg_space *before,
			  const struct hlg_space *after);

/* The pair that an image of a side's space (0, 1) is in; images->n for NULL. */
size_t hlg_diff_images_find(const struct hlg_diff_images *images, int side,
			    const struct hlg_image *image);

void hlg_diff_images_finish(struct hlg_diff_images *images);

#endif
