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

/*
 * Collects them in no order, which takes less time: an address that several series share
 * is there for each of them. hlg_addresses_sort makes it what hlg_addresses_collect does.
 */
bool hlg_addresses_gather(struct hlg_addresses *addrs, const struct hlg_profile *profile);
void hlg_addresses_sort(struct hlg_addresses *addrs);

/* Keeps only those that lie in no image of the space (arranged). */
void hlg_addresses_keep_outside(struct hlg_addresses *addrs,
				const struct hlg_space *space);

void hlg_addresses_finish(struct hlg_addresses *addrs);

/* The addresses of a profile by image, sorted out once. Memory: 32 bytes an address. */
struct hlg_addresses_by_image {
	struct hlg_sampled *at; /* of no image, then of each by number; each by address */
	size_t *end; /* where those of no image, then of each image, end in at */
	struct hlg_sampled *some; /* what was asked for last */
	size_t n;                 /* of those */
};

/* space is arranged. False without memory; finish in any case. */
bool hlg_addresses_by_image_build(struct hlg_addresses_by_image *by,
				  const struct hlg_space *space,
				  const struct hlg_profile *profile);

/*
 * Puts in by->some, sorted by address, the addresses in no image and those in this one,
 * which is of the space or NULL.
 */
void hlg_addresses_by_image_ask(struct hlg_addresses_by_image *by,
				const struct hlg_image *image);

void hlg_addresses_by_image_finish(struct hlg_addresses_by_image *by);

#endif
