/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who called the function that a guest was in, by its registers, the top of its stack and
 * the unwind tables of its ELF (call frame information: .eh_frame, or .debug_frame of
 * the ELF or its debug file; DWARF 5, 6.4). libdw reads the tables; a build without it
 * has none.
 *
 * Where a sample hits a function without a table, as libraries of C have some (memset),
 * its caller is found by the pushes that the function begins with (bare.h).
 *
 * Tables, registers and stack may be hostile: what is read lies in the copy of the stack,
 * each frame lies above the one before, and there are HLG_WALK_FRAMES callers at most. A
 * return address that is not in the code of the ELF is no caller. ELFs of x86-64 only.
 */
#ifndef HLG_TOOLS_CALLERS_UNWIND_H
#define HLG_TOOLS_CALLERS_UNWIND_H

#include <stddef.h>

#include "symtab/image/image.h"
#include "tools/callers/stack.h"

/* How to build a guest that has tables; for messages. */
#define HLG_CALLERS_UNWIND_ADVICE                                                        \
	"build it with -fasynchronous-unwind-tables, in Rust with "                      \
	"RUSTFLAGS=-Cforce-unwind-tables=yes"

struct hlg_callers_unwind;

/*
 * The tables of an image, which lives longer. *unwind is for the caller to close; NULL
 * after an error: there are none, they cannot be read, or this build cannot.
 */
int hlg_callers_unwind_open(struct hlg_callers_unwind **unwind,
			    const struct hlg_image *image, struct hlg_err *err);
void hlg_callers_unwind_close(struct hlg_callers_unwind *unwind);

/* How many of an image's functions have tables? */
struct hlg_callers_unwind_count {
	size_t functions, covered;
};

void hlg_callers_unwind_count(struct hlg_callers_unwind *unwind,
			      struct hlg_callers_unwind_count *count);

/* True where most have. */
static inline bool hlg_callers_unwind_is_covered(
	const struct hlg_callers_unwind_count *count)
{
	return count->covered > count->functions - count->covered;
}

/*
 * The callers of a guest in which the image is moved by bias, the innermost first: n of
 * them, as the guest's addresses. Returns why there are no more: HLG_WALK_WHOLE, _DEEP,
 * _CUT, _FAULT (in a hole) or _NO_CFI.
 */
enum hlg_walk_end hlg_callers_unwind_stack(struct hlg_callers_unwind *unwind,
					   uint64_t bias,
					   const struct hlg_callers_copy *copy,
					   uint64_t callers[static HLG_WALK_ROOM],
					   uint32_t *n);

#endif
