/* SPDX-License-Identifier: GPL-2.0-only */
/* What hlguest base says of an ELF that no base was found of. */
#ifndef HLG_TOOLS_BASE_NOT_FOUND_H
#define HLG_TOOLS_BASE_NOT_FOUND_H

#include "filter/run.h"
#include "filter/trust/addresses.h"

/*
 * Says why, and what to do. left: of all addresses what other images have not; others:
 * images before this one have some. best: what came nearest. Returns the status.
 */
int hlg_not_found_tell(const struct hlg_run *run, const struct hlg_image *image,
		       const struct hlg_addresses *all, const struct hlg_addresses *left,
		       const struct hlg_fit *best, bool others);

#endif
