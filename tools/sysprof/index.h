/* SPDX-License-Identifier: GPL-2.0-only */
/* A hash of things that are kept elsewhere and called by numbers. */
#ifndef HLG_TOOLS_SYSPROF_INDEX_H
#define HLG_TOOLS_SYSPROF_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hlg_index {
	struct hlg_index_slot {
		uint32_t hash, number; /* number + 1; 0: free */
	} * slots;                     /* a power of two, at most half used */
	uint32_t n, room;
};

#define HLG_INDEX_NONE UINT32_MAX

/* Makes room for one more. False without memory, or for 2^30 things. */
bool hlg_index_reserve(struct hlg_index *index);

/*
 * The number of the thing that same(ctx, number) knows, among those of this hash; if
 * there is none, HLG_INDEX_NONE, and number new is entered for it. Reserve before.
 */
uint32_t hlg_index_find(struct hlg_index *index, uint64_t hash,
			bool (*same)(const void *ctx, uint32_t number), const void *ctx,
			uint32_t new);

void hlg_index_finish(struct hlg_index *index);

/* FNV-1a (Fowler, Noll, Vo), 64 bits, a word at a time. */
static inline uint64_t hlg_index_mix(uint64_t hash, uint64_t word)
{
	return (hash ^ word ^ word >> 32) * UINT64_C(0x100000001b3);
}

#define HLG_INDEX_SEED UINT64_C(0xcbf29ce484222325)

#endif
