/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bases from the samples: what symtab/code/base-find.h does for one image, done for a
 * space and a profile. Only addresses that no image claims yet are asked.
 */
#ifndef HLG_FILTER_TRUST_BASE_SEARCH_H
#define HLG_FILTER_TRUST_BASE_SEARCH_H

#include "filter/profile/profile.h"
#include "symtab/code/base-find.h"
#include "symtab/image/space.h"

/* The distinct guest addresses of a profile, by address. */
struct hlg_addresses {
	struct hlg_sampled *at;
	size_t n;
};

/* Of the profile's selected guest samples. False without memory; finish in any case. */
bool hlg_addresses_collect(struct hlg_addresses *addrs,
			   const struct hlg_profile *profile);

/*
 * The same in no order, for less time, and what makes it that. Several series may share
 * an address, which is then there for each until it is sorted.
 */
bool hlg_addresses_gather(struct hlg_addresses *addrs, const struct hlg_profile *profile);
void hlg_addresses_sort(struct hlg_addresses *addrs);

/* Leaves out those that lie in an image of the space (arranged). */
void hlg_addresses_claim(struct hlg_addresses *addrs, const struct hlg_space *space);

void hlg_addresses_finish(struct hlg_addresses *addrs);

/* Places an image at all bases that were found, in place of those it has. */
int hlg_bases_set(struct hlg_image *image, const struct hlg_found *found,
		  struct hlg_err *err);

/*
 * Gives every image that has no base those that the samples fit, if there are any, and
 * arranges the space again. An image whose code cannot be decoded, or which no base
 * fits, is left without. Fails without memory, or when images overlap.
 */
int hlg_bases_find(struct hlg_space *space, const struct hlg_profile *profile,
		   struct hlg_err *err);

#endif
