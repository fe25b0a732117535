// SPDX-License-Identifier: GPL-2.0-only
#include "tools/calibrate/ticks.h"

#include <stdlib.h>
#include <string.h>

#define FAR_OUT     3
#define LEAST_RANGE 16 /* ticks */
#define MANY        (HLG_TICKS_PARTS * 10)

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void hlg_ticks_sort(uint64_t *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare);
}

uint64_t hlg_ticks_percentile(const uint64_t *sorted, size_t n, unsigned p)
{
	size_t rank = n / 100 * p + (n % 100 * p + 99) / 100;

	return sorted[rank ? rank - 1 : 0];
}

/* How many of the sorted readings are no outliers. */
static size_t keep(const uint64_t *sorted, size_t n)
{
	uint64_t upper = hlg_ticks_percentile(sorted, n, 75);
	uint64_t range = upper - hlg_ticks_percentile(sorted, n, 25);
	uint64_t least = hlg_ticks_percentile(sorted, n, 50) / 8;
	uint64_t fence;

	least = least < LEAST_RANGE ? LEAST_RANGE : least;
	range = range < least ? least : range;
	fence = range > (UINT64_MAX - upper) / FAR_OUT ? UINT64_MAX
						       : upper + FAR_OUT * range;
	while (sorted[n - 1] > fence)
		n--;
	return n;
}

/* Lower end of a bin; that of HLG_TICKS_BINS is max. */
static uint64_t bin_of(const struct hlg_ticks *ticks, size_t bin)
{
	uint64_t range = ticks->max - ticks->min;

	return ticks->min + range / HLG_TICKS_BINS * bin +
	       range % HLG_TICKS_BINS * bin / HLG_TICKS_BINS;
}

static void fill_bins(struct hlg_ticks *ticks, const uint64_t *sorted, size_t n)
{
	size_t bin = 0;

	memset(ticks->bins, 0, sizeof(ticks->bins));
	for (size_t i = 0; i < n; i++) {
		while (bin + 1 < HLG_TICKS_BINS && sorted[i] >= bin_of(ticks, bin + 1) &&
		       bin_of(ticks, bin + 1) > ticks->min)
			bin++;
		ticks->bins[bin]++;
	}
}

/* The parts' medians: the smallest, and how far the largest is from it. Sorts the parts.
 */
static void measure_drift(uint64_t *quiet, uint64_t *distance, uint64_t *readings,
			  size_t n)
{
	size_t size = n / HLG_TICKS_PARTS;
	uint64_t low = UINT64_MAX, high = 0;

	for (size_t i = 0; i < HLG_TICKS_PARTS; i++) {
		uint64_t *part = readings + i * size, median;

		hlg_ticks_sort(part, size);
		median = hlg_ticks_percentile(part, size, 50);
		low = median < low ? median : low;
		high = median > high ? median : high;
	}
	*quiet = low;
	*distance = high - low;
}

void hlg_ticks_sum(struct hlg_ticks *ticks, uint64_t *readings, size_t n)
{
	uint64_t distance = 0, quiet = 0;
	size_t kept;

	if (n >= MANY)
		measure_drift(&quiet, &distance, readings, n);
	hlg_ticks_sort(readings, n);
	kept = keep(readings, n);
	*ticks = (struct hlg_ticks){
		.n = n,
		.outliers = n - kept,
		.min = readings[0],
		.p50 = hlg_ticks_percentile(readings, kept, 50),
		.p90 = hlg_ticks_percentile(readings, kept, 90),
		.p99 = hlg_ticks_percentile(readings, kept, 99),
		.max = readings[kept - 1],
		.worst = readings[n - 1],
	};
	ticks->quiet = n >= MANY ? quiet : ticks->p50;
	ticks->drift = ticks->p50 ? (double)distance / (double)ticks->p50 : 0;
	fill_bins(ticks, readings, kept);
}
