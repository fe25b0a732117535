/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory that is given back all at once. A zeroed struct is an empty arena. */
#ifndef HLG_TOOLS_PPROF_ARENA_H
#define HLG_TOOLS_PPROF_ARENA_H

#include <stddef.h>

struct hlg_arena {
	struct hlg_arena_chunk *chunk; /* the newest first */
};

/* Zeroed memory for n things of size bytes, aligned for anything; NULL without memory. */
void *hlg_arena_alloc(struct hlg_arena *arena, size_t n, size_t size);

/* A copy of len bytes of text, with a NUL behind it. */
char *hlg_arena_text(struct hlg_arena *arena, const char *text, size_t len);

/* Takes over what from holds; from is empty then. */
void hlg_arena_join(struct hlg_arena *arena, struct hlg_arena *from);

void hlg_arena_finish(struct hlg_arena *arena);

#endif
