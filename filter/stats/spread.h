/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How repetitions of one measurement are spread.
 *
 * The interval of the mean at 95 % is Student's t with n - 1 degrees of freedom, and what
 * is below 0 of it is left out: no count is. That of the median is between two of the
 * values, which the binomial distribution chooses (H. A. David, Order Statistics,
 * 1981, 2.5): it holds whatever the distribution, and needs six values. Outliers are what
 * lies past Tukey's fences: 1.5 times the distance of the quartiles below the first or
 * above the third (J. W. Tukey, Exploratory Data Analysis, 1977, 2D). They are shown, and
 * count in everything else here.
 */
#ifndef HLG_FILTER_STATS_SPREAD_H
#define HLG_FILTER_STATS_SPREAD_H

#include <stddef.h>
#include <stdint.h>

struct hlg_spread {
	size_t n;
	uint64_t min, max;
	double mean, deviation; /* of the sample: n - 1; NAN for n < 2 */
	double variation;       /* deviation / mean, percent; NAN where that is nothing */
	double low, high;       /* of the mean at 95 %; NAN for n < 2 */
	double median_low, median_high; /* of the median at 95 %; NAN for n < 6 */
	double median, from, to; /* and the fences: outliers are outside [from, to] */
	size_t outliers;
};

/* Sorts the n values. */
void hlg_spread_of(struct hlg_spread *spread, uint64_t *values, size_t n);

#endif
