/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which bases of an image are one and the same, in several lanes? Right whenever it is
 * asked: what was summed up is forgotten when a base is set, added or cleared.
 */
#ifndef HLG_SYMTAB_IMAGE_IMAGE_BASES_H
#define HLG_SYMTAB_IMAGE_IMAGE_BASES_H

#include "symtab/image/image.h"

/* Which is the first of those that are the same as the i-th. */
size_t hlg_image_bases_first(const struct hlg_image *image, size_t i);

/* How many different ones there are. */
size_t hlg_image_bases_places(const struct hlg_image *image);

/* Makes these quick: spaces do, of all their images, when they are arranged. False
 * without memory. */
bool hlg_image_bases_sum(struct hlg_image *image);

#endif
