/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds things by what they are. The things are kept elsewhere, in an array that only
 * grows; the index has their numbers in it, by hash. Memory: 16 to 32 bytes a thing.
 */
#ifndef HLG_FILTER_PROFILE_INDEX_H
#define HLG_FILTER_PROFILE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symtab/hash.h"

/* All zero before the first use. */
struct hlg_index {
	struct hlg_index_slot {
		uint32_t hash, number; /* number + 1; 0: free */
	} * slots;                     /* a power of two, at most half used */
	uint32_t n, room;
};

#define HLG_INDEX_NONE UINT32_MAX

/* Is the thing of that number the one that ctx describes? */
typedef bool hlg_index_same_fn(const void *ctx, uint32_t number);

/* The number of the thing, among those of this hash, or HLG_INDEX_NONE. */
uint32_t hlg_index_find(const struct hlg_index *index, uint64_t hash,
			hlg_index_same_fn *same, const void *ctx);

/*
 * Enters a thing that is not there. False without memory, or for 2^30 things; then
 * nothing has changed.
 */
bool hlg_index_add(struct hlg_index *index, uint64_t hash, uint32_t number);

/* Has the memory that finding something of this hash will read on its way: who looks for
 * many in turn need not wait for each. */
static inline void hlg_index_expect(const struct hlg_index *index, uint64_t hash)
{
	if (index->room)
		__builtin_prefetch(
			&index->slots[(uint32_t)hlg_hash_mix(hash) & (index->room - 1)]);
}

void hlg_index_finish(struct hlg_index *index);

#endif
