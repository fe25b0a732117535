/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A boundary map: what is known of the bytes of one code area, two bits for each. For
 * code.c, whose inner loops these are. Addresses are the image's own.
 */
#ifndef HLG_SYMTAB_CODE_BOUNDARY_MAP_H
#define HLG_SYMTAB_CODE_BOUNDARY_MAP_H

#include <stdbool.h>
#include <stdint.h>

/* [start, end), in words of 64 addresses: start is rounded down. */
struct hlg_boundary_map {
	uint64_t start, end;
	uint64_t *starts; /* an instruction begins here */
	uint64_t *known;  /* decoded */
};

/* Sets and asks bit i. */
static inline void hlg_boundary_map_set(uint64_t *bits, uint64_t i)
{
	bits[i / 64] |= UINT64_C(1) << i % 64;
}

static inline bool hlg_boundary_map_get(const uint64_t *bits, uint64_t i)
{
	return bits[i / 64] >> i % 64 & 1;
}

/* The mask of bits [from, to) in their word; from < to, and both are of one word. */
static inline uint64_t hlg_boundary_map_bits(uint64_t from, uint64_t to)
{
	return UINT64_MAX << from % 64 &
	       UINT64_MAX >> (64 - (to - (from & ~UINT64_C(63))));
}

/* The end of the part of [at, end) that is in at's word. */
static inline uint64_t hlg_boundary_map_word_end(uint64_t at, uint64_t end)
{
	uint64_t next = (at | 63) + 1;

	return next < end ? next : end;
}

/* Marks the part of [start, end) that is in the map as decoded. */
static inline void hlg_boundary_map_know(struct hlg_boundary_map *map, uint64_t start,
					 uint64_t end)
{
	uint64_t to = (end < map->end ? end : map->end) - map->start;

	for (uint64_t at = start - map->start, next; at < to; at = next) {
		next = hlg_boundary_map_word_end(at, to);
		map->known[at / 64] |= hlg_boundary_map_bits(at, next);
	}
}

/* Adds the instructions that begin in [start, end), and its decoded bytes, to both. */
static inline void hlg_boundary_map_count(const struct hlg_boundary_map *map,
					  uint64_t start, uint64_t end, uint64_t *starts,
					  uint64_t *bytes)
{
	uint64_t to = (end < map->end ? end : map->end) - map->start;

	for (uint64_t at = start - map->start, next; at < to; at = next) {
		uint64_t bits = hlg_boundary_map_bits(
			at, next = hlg_boundary_map_word_end(at, to));

		*bytes += (unsigned)__builtin_popcountll(map->known[at / 64] & bits);
		*starts += (unsigned)__builtin_popcountll(map->starts[at / 64] & bits);
	}
}

#endif
