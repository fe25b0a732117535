/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which image of one side is which of the other.
 *
 * Two images are the same build if their build ids say so, or, of images without one, if
 * the files are alike byte by byte. What is left is paired by file name, then in the
 * order given: these are two builds of one thing, or images without a file
 * (hlg_image_make), of which nothing tells.
 */
#ifndef HLG_TOOLS_INPUTS_PAIRED_H
#define HLG_TOOLS_INPUTS_PAIRED_H

#include "filter/view/border.h"
#include "symtab/image/space.h"

struct hlg_paired_image {
	const struct hlg_image *image[2]; /* before, after; NULL: not on that side */
	bool same;                        /* the same build */
};

struct hlg_paired {
	struct hlg_paired_image *pairs;
	size_t n;
	size_t *of[2]; /* by the number of an image of a side: the pair it is in */
	bool same;     /* all of them */
};

/* False without memory; the caller finishes it in any case. Both spaces outlive it. */
bool hlg_paired_make(struct hlg_paired *images, const struct hlg_space *before,
		     const struct hlg_space *after);

/* The pair that an image of a side's space (0, 1) is in; images->n for NULL. */
size_t hlg_paired_find(const struct hlg_paired *images, int side,
		       const struct hlg_image *image);

/* Of the same build an address is the border's on both sides if the samples of one tell
 * so: border has what was found on each, before and after. False without memory. */
bool hlg_paired_share_border(const struct hlg_paired *images,
			     struct hlg_border *const border[2]);

void hlg_paired_finish(struct hlg_paired *images);

#endif
