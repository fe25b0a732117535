/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which builds of the guest's ELF ran, as recordings tell: a VMM that maps its guest's
 * file (PERF_RECORD_MMAP2 with a build id), and what hlguest record noted beside.
 *
 * Nothing else tells builds apart whose functions have the same shape: every sample of
 * the one lies on an instruction of the other.
 */
#ifndef HLG_FILTER_PROFILE_BUILDS_H
#define HLG_FILTER_PROFILE_BUILDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symtab/image/fingerprint.h"

enum {
	HLG_BUILDS_MAX = 64 /* of one recording; of more nothing is told */
};

struct hlg_build {
	char *file;                   /* without its folders; not escaped */
	struct hlg_fingerprint print; /* but for the build id only if noted */
	bool noted; /* by record: it is a guest's, whatever it is called */
	bool maybe; /* record saw it, and not whether it is a guest's: an image that is
		     * it ran, and of others it says nothing */
};

/* Of one recording, while it is read. All zero before the first use. */
struct hlg_builds {
	struct hlg_build *at;
	size_t n;
	int64_t written; /* the recording, in seconds since 1970; 0: unknown */
	bool more;       /* than HLG_BUILDS_MAX */
	bool lost;       /* one, for want of memory: what is told may be wrong */
};

/* Adds one, once; file may have folders. False without memory, which is lost, too. */
bool hlg_builds_add(struct hlg_builds *builds, const struct hlg_build *build);
void hlg_builds_merge(struct hlg_builds *to, const struct hlg_builds *from);
void hlg_builds_finish(struct hlg_builds *builds);

#endif
