/* SPDX-License-Identifier: GPL-2.0-only */
/* Which builds of guests hlguest record noted beside a recording (tools/beside), for
 * filter/trust/identity.h. Whoever reads a recording asks, however he reads it.
 */
#ifndef HLG_TOOLS_FEED_NOTED_BUILDS_H
#define HLG_TOOLS_FEED_NOTED_BUILDS_H

#include "filter/profile/builds.h"

/* Adds what is noted of the recording or saved profile at path, and when that was
 * written. What cannot be read, or only once, says nothing. Without memory it is lost. */
void hlg_noted_builds_add(struct hlg_builds *builds, const char *path);

#endif
