// SPDX-License-Identifier: GPL-2.0-only
#include "filter/stacks/address-map.h"

#include <stdlib.h>

#include "symtab/grow.h"

/* Ranges of a block: what there is room for at first and at most. */
enum {
	FEW = 16,
	MANY = 1024
};

/* Where a range is, or, with i = n of the last block, where the next would be. */
struct place {
	struct hlg_address_map_block *block;
	size_t i;
};

/* The first range that ends behind at. There are blocks. */
static struct place first_behind(const struct hlg_address_map *r, uint64_t at)
{
	size_t which = HLG_BSEARCH_UPTO(r->blocks, r->n_blocks, end, at);
	struct hlg_address_map_block *block = &r->blocks[which];

	if (which == r->n_blocks)
		return (struct place){block - 1, block[-1].n};
	return (struct place){block,
			      HLG_BSEARCH_UPTO(block->ranges, block->n - 1, end, at)};
}

/* A block with copies of n ranges, and room for two more if it is not full; .ranges is
 * NULL without memory. */
static struct hlg_address_map_block new_block(const struct hlg_address_range *ranges,
					      size_t n)
{
	size_t room = n + FEW < MANY ? n + FEW : MANY;
	struct hlg_address_map_block block = {.n = (uint32_t)n, .room = (uint32_t)room};

	block.ranges = reallocarray(NULL, room, sizeof(*ranges));
	if (block.ranges && n) {
		memcpy(block.ranges, ranges, n * sizeof(*ranges));
		block.end = ranges[n - 1].end;
	}
	return block;
}

static bool grow(struct hlg_address_map_block *block)
{
	uint32_t room = 2 * block->room < MANY ? 2 * block->room : MANY;
	void *ranges = reallocarray(block->ranges, room, sizeof(*block->ranges));

	if (!ranges)
		return false;
	block->ranges = ranges;
	block->room = room;
	return true;
}

/* A block with copies of n ranges becomes number which. */
static bool add_block(struct hlg_address_map *r, size_t which,
		      const struct hlg_address_range *ranges, size_t n)
{
	struct hlg_address_map_block block;

	if (!HLG_GROW(r->blocks, r->n_blocks))
		return false;
	block = new_block(ranges, n);
	if (!block.ranges)
		return false;
	memmove(r->blocks + which + 1, r->blocks + which,
		(r->n_blocks - which) * sizeof(*r->blocks));
	r->blocks[which] = block;
	r->n_blocks++;
	return true;
}

/*
 * Two blocks of a full one. What only ever grows at its end leaves full ones behind, as
 * what only grows at its start does by itself.
 */
static bool split(struct hlg_address_map *r, struct place at)
{
	size_t which = (size_t)(at.block - r->blocks), n = at.block->n;
	size_t lower = at.i == n ? n - 1 : n / 2;

	if (!add_block(r, which + 1, at.block->ranges + lower, n - lower))
		return false;
	r->blocks[which].n = (uint32_t)lower;
	r->blocks[which].end = r->blocks[which].ranges[lower - 1].end;
	return true;
}

/* *at: the first range that ends behind start, in a block with room for two more. */
static bool make_room(struct hlg_address_map *r, uint64_t start, struct place *at)
{
	if (r->n_blocks == 0 && !add_block(r, 0, NULL, 0))
		return false;
	*at = first_behind(r, start);
	if (at->block->n + 2 <= at->block->room)
		return true;
	if (at->block->room < MANY)
		return grow(at->block);
	if (!split(r, *at))
		return false;
	*at = first_behind(r, start);
	return true;
}

/* Takes [from, to) out of one block, which may be empty then. */
static void take_out(struct hlg_address_map *r, struct hlg_address_map_block *block,
		     size_t from, size_t to)
{
	if (from == to)
		return;
	memmove(block->ranges + from, block->ranges + to,
		(block->n - to) * sizeof(*block->ranges));
	block->n -= (uint32_t)(to - from);
	r->n -= to - from;
}

/* Takes out what is from one place to another in a later block, and blocks without rest.
 */
static void take_across(struct hlg_address_map *r, struct place from, struct place to)
{
	struct hlg_address_map_block *first = from.block + 1, *rest = to.block;

	take_out(r, from.block, from.i, from.block->n);
	for (struct hlg_address_map_block *block = first; block < to.block; block++)
		r->n -= block->n;
	take_out(r, to.block, 0, to.i);
	if (to.block->n == 0)
		rest++;
	for (struct hlg_address_map_block *block = first; block < rest; block++)
		free(block->ranges);
	memmove(first, rest,
		(size_t)(r->blocks + r->n_blocks - rest) * sizeof(*r->blocks));
	r->n_blocks -= (size_t)(rest - first);
}

bool hlg_address_map_put(struct hlg_address_map *r, struct hlg_address_range range,
			 enum hlg_address_map_rest rest)
{
	struct hlg_address_map_block *block;
	struct hlg_address_range put[2];
	struct place from, to;
	size_t n = 0;

	if (range.end <= range.start)
		return true;
	if (!make_room(r, range.start, &from))
		return false;
	block = from.block;
	to = from;
	if (from.i < block->n && block->ranges[from.i].end <= range.end)
		to = first_behind(r, range.end);
	if (rest == HLG_ADDRESS_MAP_KEEP && from.i < block->n &&
	    block->ranges[from.i].start < range.start) {
		put[n] = block->ranges[from.i];
		put[n++].end = range.start;
	}
	put[n++] = range;
	/* What ends behind the range may begin within it. */
	if (to.i < to.block->n && to.block->ranges[to.i].start < range.end) {
		if (rest == HLG_ADDRESS_MAP_KEEP)
			to.block->ranges[to.i].start = range.end;
		else
			to.i++;
	}
	if (to.block == block)
		take_out(r, block, from.i, to.i);
	else
		take_across(r, from, to);
	memmove(block->ranges + from.i + n, block->ranges + from.i,
		(block->n - from.i) * sizeof(*block->ranges));
	memcpy(block->ranges + from.i, put, n * sizeof(*put));
	block->n += (uint32_t)n;
	block->end = block->ranges[block->n - 1].end;
	r->n += n;
	return true;
}

bool hlg_address_map_copy(struct hlg_address_map *to, const struct hlg_address_map *from)
{
	struct hlg_address_map copy = {0};

	for (size_t i = 0; i < from->n_blocks; i++)
		if (!add_block(&copy, i, from->blocks[i].ranges, from->blocks[i].n)) {
			hlg_address_map_finish(&copy);
			return false;
		}
	copy.n = from->n;
	*to = copy;
	return true;
}

void hlg_address_map_finish(struct hlg_address_map *r)
{
	for (size_t i = 0; i < r->n_blocks; i++)
		free(r->blocks[i].ranges);
	free(r->blocks);
	*r = (struct hlg_address_map){0};
}
