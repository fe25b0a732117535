/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Named ranges of addresses that do not overlap: the newest takes its place from those
 * before it. Kept in order in blocks of about a thousand at most, so that to put one
 * costs about the same however many there are and in whatever order they come; the usual
 * few hundred are one block, that is, one sorted array.
 */
#ifndef HLG_FILTER_STACKS_ADDRESS_MAP_H
#define HLG_FILTER_STACKS_ADDRESS_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symtab/bsearch.h"

struct hlg_address_range {
	uint64_t start, end; /* [start, end), in the address space of whoever keeps it */
	uint64_t shift;      /* the keeper's; what is left of a range has it unchanged */
	uint32_t name;
};

struct hlg_address_map_block {
	uint64_t end; /* of its last range */
	struct hlg_address_range *ranges;
	uint32_t n, room; /* n: not 0 */
};

/* All zero: empty. */
struct hlg_address_map {
	struct hlg_address_map_block *blocks;
	size_t n_blocks;
	size_t n; /* ranges in all blocks */
};

/* What becomes of the ranges that a new one lies across. */
enum hlg_address_map_rest {
	HLG_ADDRESS_MAP_KEEP,  /* on both sides, what it does not cover stays */
	HLG_ADDRESS_MAP_FORGET /* they go as a whole */
};

/* An empty range does nothing. False without memory; then nothing has changed. */
bool hlg_address_map_put(struct hlg_address_map *ranges, struct hlg_address_range range,
			 enum hlg_address_map_rest rest);

/* to is all zero before. False without memory; then it still is. */
bool hlg_address_map_copy(struct hlg_address_map *to, const struct hlg_address_map *from);

void hlg_address_map_finish(struct hlg_address_map *ranges);

/* The range at an address, or NULL; until the next call that changes something. */
static inline const struct hlg_address_range *hlg_address_map_find(
	const struct hlg_address_map *ranges, uint64_t at)
{
	const struct hlg_address_map_block *block = ranges->blocks;
	size_t i;

	if (ranges->n_blocks == 0)
		return NULL;
	if (ranges->n_blocks > 1) /* seldom; without it nothing waits for this search */
		block += HLG_BSEARCH_UPTO(block, ranges->n_blocks - 1, end, at);
	i = HLG_BSEARCH_UPTO(block->ranges, block->n, end, at);
	return i < block->n && block->ranges[i].start <= at ? &block->ranges[i] : NULL;
}

#endif
