/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Under which name a function is looked for in another build: its symbol's, without what
 * the compiler or linker makes anew each time. Left out are
 *
 * - the hash of Rust's legacy mangling, `17h` and sixteen hex digits before the last `E`
 *   of a path (rustc's symbol_names/legacy.rs);
 * - `.llvm.NUMBER` and `.lto_priv.NUMBER`, which tell file-local names apart once link
 *   time optimisation has put files together.
 *
 * Functions that share a name then are file-local ones, and nothing tells which of one
 * build is which of another. They are one row together, which says how many they are.
 */
#ifndef HLG_TOOLS_DIFF_KEY_H
#define HLG_TOOLS_DIFF_KEY_H

#include "symtab/image/image.h"

/* In memory to be freed; NULL without memory. */
char *hlg_diff_key(const char *symbol);

/* The same of a place that may have no symbol: then of how it is called (place-name.h). */
char *hlg_diff_key_of(const struct hlg_place *place);

#endif
