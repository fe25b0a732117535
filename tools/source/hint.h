/* SPDX-License-Identifier: GPL-2.0-only */
/* What a function is that shares its name with others, from its DWARF. */
#ifndef HLG_TOOLS_SOURCE_HINT_H
#define HLG_TOOLS_SOURCE_HINT_H

#include "tools/source/source.h"

struct hlg_hint {
	struct hlg_sources *sources;
	bool demangle;
};

/*
 * The function that most of its code was inlined from, as the body of a closure is; else
 * the line it begins at, "main.rs:12". ctx is a struct hlg_hint. To be freed; NULL where
 * nothing is known, and without memory.
 */
char *hlg_hint_of(void *ctx, const struct hlg_place *place);

#endif
