/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Latencies by bucket: a power of two (an octave) has 64 equal ones. For a cell that has
 * many latencies: an array of small counters, no longer than from the least to the
 * greatest octave that was met. One cache line of it holds a quarter of an octave, and
 * those of all cells that are busy stay in the processor's caches: that is what counting
 * costs.
 */
#ifndef HLG_TOOLS_EXITS_HISTOGRAM_H
#define HLG_TOOLS_EXITS_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HLG_HISTOGRAM_OCTAVE 64 /* buckets of an octave */

/* All zero at first. */
struct hlg_histogram {
	uint32_t *n;          /* of buckets [first, first + room) */
	uint32_t first, room; /* both are multiples of HLG_HISTOGRAM_OCTAVE */
};

/* The value a latency is counted as: the middle of its bucket. Below 128 it is itself. */
static inline uint64_t hlg_histogram_quantize(uint64_t ns)
{
	unsigned shift;

	if (ns < 2 * HLG_HISTOGRAM_OCTAVE)
		return ns;
	shift = 63 - (unsigned)__builtin_clzll(ns) - 6;
	return (ns >> shift << shift) + ((uint64_t)1 << shift >> 1);
}

/* Which bucket: those below 64 ns are one octave, then each power of two is one. */
static inline uint32_t hlg_histogram_bucket(uint64_t ns)
{
	/* The highest of the 7 bits that tell the bucket; of small ones the lowest 7 do.
	 */
	unsigned shift = 57 - (unsigned)__builtin_clzll(ns | HLG_HISTOGRAM_OCTAVE);

	return (uint32_t)((ns >> shift) + shift * HLG_HISTOGRAM_OCTAVE);
}

/* The value that latencies of a bucket are counted as. */
static inline uint64_t hlg_histogram_value(uint32_t bucket)
{
	uint32_t octave = bucket / HLG_HISTOGRAM_OCTAVE, shift = octave ? octave - 1 : 0;

	return hlg_histogram_quantize((uint64_t)(bucket - shift * HLG_HISTOGRAM_OCTAVE)
				      << shift);
}

/* Makes room for a bucket. False without memory. */
bool hlg_histogram_grow(struct hlg_histogram *histogram, uint32_t bucket);

/* Counts one; false if there is no room for it, or the counter is full. */
static inline bool hlg_histogram_count(struct hlg_histogram *histogram, uint64_t ns)
{
	uint32_t i = hlg_histogram_bucket(ns) - histogram->first;

	if (i >= histogram->room || histogram->n[i] == UINT32_MAX)
		return false;
	histogram->n[i]++;
	return true;
}

void hlg_histogram_finish(struct hlg_histogram *histogram);

#endif
