/* SPDX-License-Identifier: GPL-2.0-only */
/* The guest addresses of a profile, and which of them lie in which image of a space. */
#ifndef HLG_FILTER_TRUST_ADDRESSES_H
#define HLG_FILTER_TRUST_ADDRESSES_H

#include "filter/profile/profile.h"
#include "symtab/code/base-find.h"
#include "symtab/image/space.h"

/* Guest addresses with their samples. All zero before the first use. */
struct hlg_addresses {
	struct hlg_sampled *at;
	size_t n;
};

/* Collects those of the profile's selected guest samples: distinct, sorted by address.
 * False without memory; finish in any case. */
bool hlg_addresses_collect(struct hlg_addresses *addrs,
			   const struct hlg_profile *profile);

/* Sorts by address, and adds up the samples of equal ones. */
void hlg_addresses_sort(struct hlg_addresses *addrs);

/* How many samples all have. */
uint64_t hlg_addresses_samples(const struct hlg_addresses *addrs);

/* Copies all to *to, which is empty. False without memory. */
bool hlg_addresses_copy(struct hlg_addresses *to, const struct hlg_addresses *from);

/*
 * Copies to *to, which is empty, what lies in no image of the space (arranged), or in
 * this one if it is not NULL, in the order it has. False without memory.
 */
bool hlg_addresses_pick(struct hlg_addresses *to, const struct hlg_addresses *from,
			const struct hlg_space *space, const struct hlg_image *image);

/* Is an address at a place in an image that image's own? */
typedef bool hlg_addresses_own_fn(const void *ctx, const struct hlg_place *place);

/* The same, and what lies in another image, but is not its own (NULL: all is). */
bool hlg_addresses_pick_free(struct hlg_addresses *to, const struct hlg_addresses *from,
			     const struct hlg_space *space, const struct hlg_image *image,
			     hlg_addresses_own_fn *is_own, const void *ctx);

/* Keeps only those that lie in no image of the space (arranged). */
void hlg_addresses_keep_outside(struct hlg_addresses *addrs,
				const struct hlg_space *space);

/* Leaves out what lies inside an image at its bases, which become sorted. */
void hlg_addresses_leave_out(struct hlg_addresses *addrs, const struct hlg_image *image,
			     struct hlg_found *bases);

void hlg_addresses_finish(struct hlg_addresses *addrs);

#endif
