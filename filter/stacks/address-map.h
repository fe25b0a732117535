/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Named ranges of addresses that do not overlap: the newest takes its place from those
 * before it. A balanced tree (tsearch(3)), in which ranges that overlap are equal: to put
 * or find one takes as long as it has levels, in whatever order they come.
 */
#ifndef HLG_FILTER_STACKS_ADDRESS_MAP_H
#define HLG_FILTER_STACKS_ADDRESS_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hlg_address_range {
	uint64_t start, end; /* [start, end), in the address space of whoever keeps it */
	uint64_t shift;      /* the keeper's; what is left of a range has it unchanged */
	uint32_t name;
};

/* All zero: empty. */
struct hlg_address_map {
	void *root; /* tsearch's: of struct hlg_address_range, each an allocation */
	size_t n;   /* ranges */
};

/* What becomes of the ranges that a new one lies across. */
enum hlg_address_map_rest {
	HLG_ADDRESS_MAP_KEEP,  /* on both sides, what it does not cover stays */
	HLG_ADDRESS_MAP_FORGET /* they go as a whole */
};

/* An empty range does nothing. False without memory; then nothing has changed, or some of
 * what the new range lies across is gone. */
bool hlg_address_map_put(struct hlg_address_map *map, struct hlg_address_range range,
			 enum hlg_address_map_rest rest);

/* Calls each with every range, in order. */
void hlg_address_map_each(const struct hlg_address_map *map,
			  void (*each)(void *ctx, const struct hlg_address_range *range),
			  void *ctx);

void hlg_address_map_finish(struct hlg_address_map *map);

/* The range at an address, or NULL; until the next call that changes something. */
const struct hlg_address_range *hlg_address_map_find(const struct hlg_address_map *map,
						     uint64_t at);

#endif
