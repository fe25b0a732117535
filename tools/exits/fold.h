/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Guest addresses of one function as one: where bases are known beforehand, cells are by
 * function from the start, and their number does not grow with addresses.
 */
#ifndef HLG_TOOLS_EXITS_FOLD_H
#define HLG_TOOLS_EXITS_FOLD_H

#include "symtab/image/space.h"

#define HLG_EXITS_FOLDED 4096 /* addresses remembered */

struct hlg_exits_fold {
	const struct hlg_space *space; /* settled */
	struct {
		uint64_t ip, to;
	} * known;        /* HLG_EXITS_FOLDED of them */
	uint64_t outside; /* the first that was in no image */
	bool any_outside;
};

/* False without memory; finish in any case. */
bool hlg_exits_fold_init(struct hlg_exits_fold *fold, const struct hlg_space *space);
void hlg_exits_fold_finish(struct hlg_exits_fold *fold);

/* An address of the same place, for all of its addresses the same if possible. */
uint64_t hlg_exits_fold(void *fold, uint64_t ip);

#endif
