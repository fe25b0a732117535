// SPDX-License-Identifier: GPL-2.0-only
#include "filter/stats/spread.h"

#include <math.h>
#include <stdlib.h>

#include "filter/stats/interval.h"
#include "symtab/bsearch.h"

#define EXACT 1000 /* values; of more the normal distribution is as good */

/* Between the values around part of the way from the least to the most. */
static double quantile(const uint64_t *values, size_t n, double part)
{
	double at = part * (double)(n - 1);
	size_t i = (size_t)at;
	double low = (double)values[i], high = (double)values[i + 1 < n ? i + 1 : i];

	return low + (high - low) * (at - (double)i);
}

/*
 * How many of n values the interval of the median leaves out at each end: the most that
 * fewer than this many fall below the median with a probability of 2.5 % at most.
 */
static size_t left_out(size_t n)
{
	double chance = exp2(-(double)n), sum = 0;
	size_t k = 0;

	if (n > EXACT)
		return (size_t)(((double)n - HLG_INTERVAL_Z * sqrt((double)n)) / 2);
	while (sum + chance <= HLG_INTERVAL_LEVEL / 2) {
		sum += chance;
		chance *= (double)(n - k) / (double)(k + 1);
		k++;
	}
	return k;
}

static void set_median(struct hlg_spread *s, const uint64_t *values, size_t n)
{
	size_t k = left_out(n);

	s->median = quantile(values, n, 0.5);
	if (k > 0) {
		s->median_low = (double)values[k - 1];
		s->median_high = (double)values[n - k];
	}
}

void hlg_spread_of(struct hlg_spread *s, uint64_t *values, size_t n)
{
	double sum = 0, squares = 0, half, reach;

	*s = (struct hlg_spread){.n = n, .deviation = NAN, .variation = NAN};
	s->low = s->high = s->mean = s->median_low = s->median_high = NAN;
	if (n == 0)
		return;
	qsort(values, n, sizeof(*values), hlg_bsearch_compare);
	s->min = values[0];
	s->max = values[n - 1];
	for (size_t i = 0; i < n; i++)
		sum += (double)values[i];
	s->mean = sum / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += ((double)values[i] - s->mean) * ((double)values[i] - s->mean);
	if (n > 1) {
		s->deviation = sqrt(squares / (double)(n - 1));
		half = hlg_interval_student_quantile(HLG_INTERVAL_LEVEL,
						     (double)(n - 1)) *
		       s->deviation / sqrt((double)n);
		s->low = fmax(0, s->mean - half);
		s->high = s->mean + half;
		if (s->mean > 0)
			s->variation = 100 * s->deviation / s->mean;
	}
	set_median(s, values, n);
	reach = 1.5 * (quantile(values, n, 0.75) - quantile(values, n, 0.25));
	s->from = quantile(values, n, 0.25) - reach;
	s->to = quantile(values, n, 0.75) + reach;
	for (size_t i = 0; i < n; i++)
		s->outliers += (double)values[i] < s->from || (double)values[i] > s->to;
}
