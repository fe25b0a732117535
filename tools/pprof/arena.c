// SPDX-License-Identifier: GPL-2.0-only
#include "tools/pprof/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
	ALIGN = 16,
	CHUNK = 32 * 1024 /* bytes; what needs more gets a chunk of its own */
};

struct hlg_arena_chunk {
	struct hlg_arena_chunk *next;
	size_t used, size;
	_Alignas(ALIGN) unsigned char bytes[];
};

static struct hlg_arena_chunk *more(struct hlg_arena *arena, size_t need)
{
	size_t size = need > CHUNK ? need : CHUNK;
	struct hlg_arena_chunk *chunk = calloc(1, sizeof(*chunk) + size);

	if (!chunk)
		return NULL;
	chunk->size = size;
	chunk->next = arena->chunk;
	arena->chunk = chunk;
	return chunk;
}

void *hlg_arena_alloc(struct hlg_arena *arena, size_t n, size_t size)
{
	struct hlg_arena_chunk *chunk = arena->chunk;
	size_t need;
	void *p;

	if (__builtin_mul_overflow(n, size, &need) || need > SIZE_MAX / 2)
		return NULL;
	need = (need + ALIGN) / ALIGN * ALIGN; /* nothing has a place of its own, too */
	if (!chunk || chunk->size - chunk->used < need)
		chunk = more(arena, need);
	if (!chunk)
		return NULL;
	p = chunk->bytes + chunk->used;
	chunk->used += need;
	return p;
}

char *hlg_arena_text(struct hlg_arena *arena, const char *text, size_t len)
{
	char *copy = hlg_arena_alloc(arena, len + 1, 1);

	if (copy)
		memcpy(copy, text, len);
	return copy;
}

void hlg_arena_join(struct hlg_arena *arena, struct hlg_arena *from)
{
	struct hlg_arena_chunk **last = &from->chunk;

	while (*last)
		last = &(*last)->next;
	*last = arena->chunk;
	arena->chunk = from->chunk;
	from->chunk = NULL;
}

void hlg_arena_finish(struct hlg_arena *arena)
{
	while (arena->chunk) {
		struct hlg_arena_chunk *next = arena->chunk->next;

		free(arena->chunk);
		arena->chunk = next;
	}
}
