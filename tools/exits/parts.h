/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Latencies counted by 64 equal parts of their power of two, for a cell that has many: an
 * array of small counters, no longer than from the least to the greatest octave that was
 * met. One cache line of it holds a quarter of an octave, and those of all cells that are
 * busy stay in the processor's caches: that is what counting costs.
 */
#ifndef HLG_TOOLS_EXITS_PARTS_H
#define HLG_TOOLS_EXITS_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HLG_EXITS_PARTS 64 /* of an octave */

/* All zero at first. */
struct hlg_exits_parts {
	uint32_t *n;          /* of parts [first, first + room) */
	uint32_t first, room; /* both are multiples of HLG_EXITS_PARTS */
};

/* The value a latency is counted as: the middle of its part. Below 128 it is itself. */
static inline uint64_t hlg_exits_quantize(uint64_t ns)
{
	unsigned shift;

	if (ns < 2 * HLG_EXITS_PARTS)
		return ns;
	shift = 63 - (unsigned)__builtin_clzll(ns) - 6;
	return (ns >> shift << shift) + ((uint64_t)1 << shift >> 1);
}

/* Which part: those below 64 ns are one octave, then each power of two is one. */
static inline uint32_t hlg_exits_part_number(uint64_t ns)
{
	/* The highest of the 7 bits that tell the part; of small ones the lowest 7 do. */
	unsigned shift = 57 - (unsigned)__builtin_clzll(ns | HLG_EXITS_PARTS);

	return (uint32_t)((ns >> shift) + shift * HLG_EXITS_PARTS);
}

/* The value that latencies of a part are counted as. */
static inline uint64_t hlg_exits_part_value(uint32_t part)
{
	uint32_t octave = part / HLG_EXITS_PARTS, shift = octave ? octave - 1 : 0;

	return hlg_exits_quantize((uint64_t)(part - shift * HLG_EXITS_PARTS) << shift);
}

/* Makes room for a part. False without memory. */
bool hlg_exits_parts_grow(struct hlg_exits_parts *parts, uint32_t part);

/* Counts one; false if there is no room for it, or the counter is full. */
static inline bool hlg_exits_parts_count(struct hlg_exits_parts *parts, uint64_t ns)
{
	uint32_t i = hlg_exits_part_number(ns) - parts->first;

	if (i >= parts->room || parts->n[i] == UINT32_MAX)
		return false;
	parts->n[i]++;
	return true;
}

void hlg_exits_parts_finish(struct hlg_exits_parts *parts);

#endif
