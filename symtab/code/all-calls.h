/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who calls whom in an image, as its code and data tell: each call and tail call that
 * names its target, and the functions whose address is taken somewhere, so that they can
 * be called by pointer: in a word of the data (relocations are data, too), by lea, or as
 * a number in an instruction. Addresses that are put together in other ways (a 32-bit
 * distance in a table) are not seen.
 *
 * All addresses are the image's own, of the first byte of a function or label. Memory: 24
 * bytes for each call.
 */
#ifndef HLG_SYMTAB_CODE_ALL_CALLS_H
#define HLG_SYMTAB_CODE_ALL_CALLS_H

#include "symtab/code/body.h"

struct hlg_call {
	uint64_t to, from; /* functions */
	bool tail;         /* a jump, the frame given up */
};

struct hlg_all_calls {
	struct hlg_call *calls; /* by to */
	size_t n;
	uint64_t *taken; /* sorted */
	size_t n_taken;
};

/* Reads all of the code's image. False without memory; the caller finishes *calls in any
 * case. What cannot be read has no calls. */
bool hlg_all_calls_read(struct hlg_all_calls *calls, struct hlg_code *code,
			const struct hlg_image *image);
void hlg_all_calls_finish(struct hlg_all_calls *calls);

/* The calls of a function: *n from the returned one on. */
const struct hlg_call *hlg_all_calls_to(const struct hlg_all_calls *calls,
					uint64_t function, size_t *n);

bool hlg_all_calls_is_taken(const struct hlg_all_calls *calls, uint64_t function);

#endif
