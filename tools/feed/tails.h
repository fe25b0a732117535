/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which sandbox a sample is of, where its own callchain says so (the tail of
 * filter/stacks/chains.h, as of record --guest-stacks): without a word of KVM_RUN, and of
 * guest samples only. Sandboxes are numbered from 1 on without a gap, in the order of the
 * recording's numbers.
 */
#ifndef HLG_TOOLS_FEED_TAILS_H
#define HLG_TOOLS_FEED_TAILS_H

#include "filter/profile/sandboxes.h"
#include "symtab/err.h"
#include "tools/perfdata/record.h"

struct hlg_tails;

/*
 * Reads path, if it can be read twice and has callchains; *tails is NULL where none of
 * them names a sandbox.
 */
int hlg_tails_read(struct hlg_tails **tails, const char *path, struct hlg_err *err);

void hlg_tails_free(struct hlg_tails *tails);

/* Counts are zero. */
const struct hlg_sandboxes *hlg_tails_sandboxes(const struct hlg_tails *tails);

/* The sandbox of a sample; 0: not known. */
uint32_t hlg_tails_tell(const struct hlg_tails *tails,
			const struct hlg_perfdata_raw *raw);

#endif
