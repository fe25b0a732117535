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

/* Places an image at all bases that were found, instead of those it has. Fails as
 * hlg_image_add_base does. */
int hlg_base_search_place(struct hlg_image *image, const struct hlg_found *found,
			  struct hlg_err *err);

/*
 * Gives every image that has no base those that the samples fit, if there are any, and
 * arranges the space again. An image whose code cannot be decoded, or which no base
 * fits, is left without. Fails without memory, or when images overlap.
 */
int hlg_base_search_all(struct hlg_space *space, const struct hlg_profile *profile,
			struct hlg_err *err);

#endif
