/* SPDX-License-Identifier: GPL-2.0-only */
/* The source lines of all images of a space; each image's are opened when asked for. */
#ifndef HLG_TOOLS_SOURCE_SOURCES_H
#define HLG_TOOLS_SOURCE_SOURCES_H

#include "symtab/image/space.h"
#include "tools/source/source.h"

struct hlg_sources {
	const struct hlg_space *space;
	struct hlg_source **source; /* one for each image, or NULL */
	bool *tried;
};

/* space outlives *sources. False without memory; close in any case. */
bool hlg_sources_open(struct hlg_sources *sources, const struct hlg_space *space);

/*
 * The lines of an image of the space; NULL where there are none, and for no image. Says
 * on standard error if they are left out (hlg_source_open).
 */
struct hlg_source *hlg_sources_of(struct hlg_sources *sources,
				  const struct hlg_image *image);

void hlg_sources_close(struct hlg_sources *sources);

#endif
