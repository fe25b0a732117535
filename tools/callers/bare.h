/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions without unwind tables, as libraries of C have some (memset): what they push
 * at first, and what a return address is. x86-64 only; addresses are the image's own.
 */
#ifndef HLG_TOOLS_CALLERS_BARE_H
#define HLG_TOOLS_CALLERS_BARE_H

#include "symtab/image/image.h"

#define HLG_CALLERS_BARE_PUSHES 7
#define HLG_CALLERS_BARE_CALL   7 /* bytes of the longest call without a prefix */

/* Reads from fd, of the image's file: registers that a function pushes, in this order, as
 * the processor numbers them. False where it takes more of the stack than that. */
bool hlg_callers_bare_pushes(const struct hlg_image *image, int fd, uint64_t start,
			     uint8_t pushes[static HLG_CALLERS_BARE_PUSHES], size_t *n);

/* Do these bytes end with a near call (opcode e8, or ff /2)? */
bool hlg_callers_bare_is_call(const uint8_t code[static HLG_CALLERS_BARE_CALL]);

/* Is the instruction before this address one? */
bool hlg_callers_bare_is_return(const struct hlg_image *image, int fd, uint64_t addr);

#endif
