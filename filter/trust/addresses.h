/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Claims: which of a profile's addresses lie in which image of a space, sorted out once
 * for all images. Memory: 32 bytes an address.
 */
#ifndef HLG_FILTER_TRUST_ADDRESSES_H
#define HLG_FILTER_TRUST_ADDRESSES_H

#include "filter/trust/base-search.h"

struct hlg_claims {
	struct hlg_sampled *at; /* of no image, then of each by number; each by address */
	size_t *end; /* where those of no image, then of each image, end in at */
	struct hlg_sampled *some; /* what was asked for last */
	size_t n;                 /* of those */
};

/* space is arranged. False without memory; finish in any case. */
bool hlg_claims_build(struct hlg_claims *claims, const struct hlg_space *space,
		      const struct hlg_profile *profile);

/*
 * Puts in some, by address, those of no image and those of this one, which is of the
 * space or NULL.
 */
void hlg_claims_ask(struct hlg_claims *claims, const struct hlg_image *image);

void hlg_claims_finish(struct hlg_claims *claims);

#endif
