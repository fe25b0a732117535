/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Mangled names that libiberty (20230104) would read for hours before it writes anything,
 * so that no bound on its text can stop it:
 *
 * C++: a pack expansion ("Dp", <type> of the Itanium C++ ABI, 5.1.5) is searched for its
 * parameter packs through every substitution ("S_", 5.1.10) as often as it is mentioned:
 * 40 times b<S1_, S1_>, each S1_ being the one before, are 2^40 steps.
 *
 * Rust v0: "for<'a, 'b>" of a binder ("G" and a number, RFC 2603) is counted to its end
 * also inside an impl path, which is not written. An identifier with letters beyond ASCII
 * takes the square of its length, so names over 16 KiB are costly too.
 */
#ifndef HLG_SYMTAB_NAME_DEMANGLE_LIMIT_H
#define HLG_SYMTAB_NAME_DEMANGLE_LIMIT_H

#include <stdbool.h>

/*
 * Is the name one that must not be given to libiberty? May take for one what only looks
 * like it: "FG" or "DG" with three or more letters or digits and a "_" behind, in a Rust
 * name. false says nothing of the text's length. Only where there is libiberty.
 */
bool hlg_demangle_limit_passed(const char *name);

#endif
