/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Several ELFs, sought among the same addresses: what symtab/code/base-find.h does for
 * one, in whatever order they were named.
 *
 * Each is sought among all addresses. That one is taken which most samples fit, on
 * boundaries, then those that are in no other's way; and in what these leave each is
 * sought again, as long as any is found.
 */
#ifndef HLG_FILTER_TRUST_BASE_SEEK_H
#define HLG_FILTER_TRUST_BASE_SEEK_H

#include "filter/trust/addresses.h"

/* One image. All zero before. */
struct hlg_base_sought {
	struct hlg_code *code;  /* NULL: it is not sought, or cannot be decoded */
	struct hlg_found found; /* all its bases: fits only */
	struct hlg_found now;   /* in this round */
	size_t n;               /* how many of these were taken */
};

/*
 * sought: of each image of the space, by number. addrs: sorted by address; those that are
 * inside an image where it was found are left out. No round begins with less than least.
 * across: several ELFs may lie across each other, of whom it is known later who runs
 * which. False without memory; finish in any case, which closes no code.
 */
bool hlg_base_seek(struct hlg_base_sought *sought, const struct hlg_space *space,
		   struct hlg_addresses *addrs, size_t least, bool across);
void hlg_base_seek_finish(struct hlg_base_sought *sought, const struct hlg_space *space);

/* Do two images, or one, lie at the same addresses, each at a base? */
bool hlg_base_seek_collide(const struct hlg_image *a, uint64_t a_base,
			   const struct hlg_image *b, uint64_t b_base);

#endif
