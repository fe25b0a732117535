/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which image of a space is one of a saved profile: the same file, at whatever base. A
 * profile may have as many images as it says, so all of a space's are sorted once.
 */
#ifndef HLG_TOOLS_PPROF_MATCH_H
#define HLG_TOOLS_PPROF_MATCH_H

#include "symtab/image/space.h"
#include "tools/pprof/saved.h"

struct hlg_match_base;

struct hlg_match {
	const struct hlg_space *space;
	struct hlg_match_base *at; /* all bases of all images, sorted */
	size_t n;
};

/* Of a space that does not change as long as this is used. False without memory; to be
 * finished in any case. */
bool hlg_match_init(struct hlg_match *match, const struct hlg_space *space);

/*
 * The image of the space that a saved one is, rather one that lies at the same base than
 * another; NULL: none. *lies: does it lie at that base?
 */
const struct hlg_image *hlg_match_find(const struct hlg_match *match,
				       const struct hlg_saved_image *saved, bool *lies);

void hlg_match_finish(struct hlg_match *match);

#endif
