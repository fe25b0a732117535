/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Do a guest's functions keep frame pointers? Whoever follows frame pointers cannot see
 * it: a function that leaves rbp alone is missing from its stacks, and nothing else is.
 *
 * Asked are the functions that call another one, as others need no frame. On x86-64, by
 * their bytes: one calls if it has a call (e8) to where a symbol begins, and keeps a
 * frame pointer if in its first bytes there is a push of rbp (55) and behind it
 * mov %rsp,%rbp, or both right behind each other anywhere. Of real guests by Rust 1.95
 * and clang 14: 221 of 222 where both were asked for frame pointers, 18 of 221 where not.
 */
#ifndef HLG_SYMTAB_CODE_FRAME_H
#define HLG_SYMTAB_CODE_FRAME_H

#include "symtab/image/image.h"

/* How to build a guest whose functions do; for messages. */
#define HLG_FRAME_ADVICE                                                                 \
	"build it with -fno-omit-frame-pointer, in Rust with "                           \
	"RUSTFLAGS=-Cforce-frame-pointers=yes"

struct hlg_frame_count {
	size_t calling; /* functions that call others */
	size_t framed;  /* those of them that keep a frame pointer */
	size_t entered; /* where the image is entered, if that keeps none: nothing calls
			   it */
};

/* Of all functions of an image; {0, 0} of a perf map or another machine's. */
int hlg_frame_count(const struct hlg_image *image, struct hlg_frame_count *count,
		    struct hlg_err *err);

/* Have most functions of an image an unwind table, as far as its file tells: .eh_frame
 * has one for as many (Linux Standard Base 5.0, 10.6), or there is a .debug_frame? */
bool hlg_frame_may_have_tables(const struct hlg_image *image);

/* Can callers in an image be recorded, as far as its file tells: by frame pointers, or by
 * unwind tables? True where that is not known. */
bool hlg_frame_may_have_callers(const struct hlg_image *image);

/* False where most do not. */
static inline bool hlg_frame_is_kept(const struct hlg_frame_count *count)
{
	return count->framed >= count->calling - count->framed;
}

/* All of them do that have a caller. */
static inline bool hlg_frame_is_always_kept(const struct hlg_frame_count *count)
{
	return count->framed + count->entered == count->calling;
}

#endif
