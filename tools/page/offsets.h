/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An image's own addresses as numbers that are exact in a script, whose numbers are
 * doubles: offsets from its lowest address, as long as areas are not far from each other.
 * What lies behind a wide gap, as the upper half of a kernel behind the code that boots
 * it, is a part of its own, which stands soon behind the one before. Offsets ascend as
 * addresses do, and leave the same rest by 4096.
 */
#ifndef HLG_TOOLS_PAGE_OFFSETS_H
#define HLG_TOOLS_PAGE_OFFSETS_H

#include "symtab/image/image.h"

enum {
	HLG_PAGE_PARTS = 64 /* of made-up files with more the last ones are inexact */
};

struct hlg_page_offsets {
	struct {
		uint64_t at, from; /* the offset, and the address there */
	} part[HLG_PAGE_PARTS];
	size_t n;
};

void hlg_page_offsets_make(struct hlg_page_offsets *offsets,
			   const struct hlg_image *image);

/* The offset of an address in the image. */
uint64_t hlg_page_offsets_of(const struct hlg_page_offsets *offsets, uint64_t addr);

#endif
