/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tail: was the guest another build of an ELF, of which one function is longer or
 * shorter? Then all that lies behind has moved, by as much, and sampled addresses from
 * some address on are on instruction boundaries if they are moved back.
 *
 * Every such address and every distance is tried, and scored as a base is (base-find.h):
 * the logarithm of how much more likely the addresses from there on are if they were
 * moved than if they lie where they are, or anywhere. The best counts if it pays for the
 * number of those that were tried, and beats each other distance, by base-find.h's odds.
 *
 * On AArch64 lines are scored (line-fit.h).
 *
 * It finds one place where code grew or shrank. It is a diagnosis: what a second change
 * moved is not found, and functions that merely changed places are not.
 */
#ifndef HLG_SYMTAB_CODE_TAIL_FIT_H
#define HLG_SYMTAB_CODE_TAIL_FIT_H

#include "symtab/code/base-find.h"

struct hlg_tail {
	uint64_t last, from; /* own addresses: the last sampled one that lies where it is,
			       and the first that has moved; last == from: all have */
	int64_t shift; /* from `from` on they fit if this is added; 0: nothing was found
			*/
	uint64_t samples; /* at addresses from `from` on */
};

/*
 * addrs: distinct own addresses of code's image, sorted, their samples with them. Decodes
 * code in full. Distances are up to 8192 bytes; of more than 2048 addresses every n-th is
 * tried. False without memory.
 */
bool hlg_tail_fit(struct hlg_tail *tail, struct hlg_code *code,
		  const struct hlg_image *image, const struct hlg_sampled *addrs,
		  size_t n);

#endif
