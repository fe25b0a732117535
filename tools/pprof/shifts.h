/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where images of a saved profile lie in a space: each sample keeps its place in its
 * image when that lies elsewhere now, as the user stated, or of profiles of several bases;
 * a note says so. But samples stay where they were, as a recording's do, where the profile
 * is all that is read and has one base of the image, and the user states none and does not
 * ask for that of the ELF (strict-base=yes): a base that does not fit is then seen. So do
 * those of images that did not fit when they were saved. An image whose base is still to be found keeps its
 * samples where they were, so that it is found from them; but where it was saved at bases
 * that overlap, as those of a fleet's tasks can, all its samples together would tell of
 * no base, and are brought to one of these.
 */
#ifndef HLG_TOOLS_PPROF_SHIFTS_H
#define HLG_TOOLS_PPROF_SHIFTS_H

#include "symtab/image/space.h"
#include "tools/pprof/pprof.h"
#include "tools/pprof/saved.h"

/* Of an image of a saved profile. */
struct hlg_shifts_image {
	const struct hlg_image *here; /* the one of the space that it is; NULL: none */
	uint64_t by;                  /* what its samples move by */
};

/*
 * shifts, room for all images of saved. The bases of the space are settled, or still to
 * be found. Fails if an image with samples is not in space, or if samples that were
 * outside of all images would come to lie in one. path: what the profile is called. Of
 * how progress is not used.
 */
int hlg_shifts_find(const struct hlg_saved *saved, const struct hlg_space *space,
		    const char *path, const struct hlg_pprof_how *how,
		    struct hlg_shifts_image *shifts,
		    struct hlg_err *err);

#endif
