/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Is an image the file that was recorded? Build ids say so, before any sample does.
 */
#ifndef HLG_FILTER_TRUST_IDENTITY_H
#define HLG_FILTER_TRUST_IDENTITY_H

#include "filter/profile/builds.h"
#include "symtab/image/space.h"

enum hlg_identity {
	HLG_IDENTITY_UNKNOWN, /* nothing is told of it */
	HLG_IDENTITY_SAME,    /* a build that ran has its build id, or its bytes */
	HLG_IDENTITY_CHANGED, /* no id tells, but a file of its name had other bytes */
	HLG_IDENTITY_OTHER    /* another build ran */
};

/*
 * Of an image of a space, by the builds of its recordings. *ran is the one that differs,
 * else NULL. Another build ran if one of the image's file name has another build id; or
 * if record noted a guest that is none of the space's images, and this image is no build
 * that was noted or mapped.
 */
enum hlg_identity hlg_identity_of(const struct hlg_image *image,
				  const struct hlg_space *space,
				  const struct hlg_builds *builds,
				  const struct hlg_build **ran);

#endif
