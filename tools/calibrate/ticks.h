/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Many readings of one cost: percentiles, what interrupts made of them, how they drifted.
 *
 * A reading is an outlier if it is far out in Tukey's sense (Exploratory Data Analysis,
 * 1977): above the upper quartile by more than three times the distance of the quartiles;
 * that distance is taken for at least an eighth of the median and 16 ticks, so that
 * readings that hardly differ are none. Only slow readings can be outliers: nothing makes
 * a crossing fast. All figures but n, outliers and worst are of the others.
 */
#ifndef HLG_TOOLS_CALIBRATE_TICKS_H
#define HLG_TOOLS_CALIBRATE_TICKS_H

#include <stddef.h>
#include <stdint.h>

#define HLG_TICKS_BINS  24
#define HLG_TICKS_PARTS 10

struct hlg_ticks {
	uint64_t n, outliers; /* outliers are among the n */
	uint64_t min, p50, p90, p99, max;
	uint64_t worst;                /* the slowest outlier; else max */
	uint64_t bins[HLG_TICKS_BINS]; /* equal parts of [min, max], their sum n -
					  outliers */
	/* Of the medians of ten parts, one after the other in time: how far the largest
	 * is from the smallest, as a share of p50. 0 with fewer than 100 readings. */
	double drift;
	uint64_t quiet; /* the smallest of these medians; p50 with fewer readings */
};

/* Sums up n readings in the order of time; sorts them. n is not 0. */
void hlg_ticks_sum(struct hlg_ticks *ticks, uint64_t *readings, size_t n);

/* Upwards. */
void hlg_ticks_sort(uint64_t *values, size_t n);

/* The nearest-rank percentile of sorted values: p in 1 to 100, n not 0. */
uint64_t hlg_ticks_percentile(const uint64_t *sorted, size_t n, unsigned p);

#endif
