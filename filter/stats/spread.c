// SPDX-License-Identifier: GPL-2.0-only
#include "filter/stats/spread.h"

#include <math.h>
#include <stdlib.h>

#include "filter/stats/interval.h"
#include "symtab/bsearch.h"

/* Between the values around part of the way from the least to the most. */
static double quantile(const uint64_t *values, size_t n, double part)
{
	double at = part * (double)(n - 1);
	size_t i = (size_t)at;
	double low = (double)values[i], high = (double)values[i + 1 < n ? i + 1 : i];

	return low + (high - low) * (at - (double)i);
}

void hlg_spread_of(struct hlg_spread *s, uint64_t *values, size_t n)
{
	double sum = 0, squares = 0, half, reach;

	*s = (struct hlg_spread){.n = n, .deviation = NAN, .variation = NAN};
	s->low = s->high = s->mean = NAN;
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
		half = hlg_interval_student_quantile(0.05, (double)(n - 1)) *
		       s->deviation / sqrt((double)n);
		s->low = s->mean - half;
		s->high = s->mean + half;
		if (s->mean > 0)
			s->variation = 100 * s->deviation / s->mean;
	}
	s->median = quantile(values, n, 0.5);
	reach = 1.5 * (quantile(values, n, 0.75) - quantile(values, n, 0.25));
	s->from = quantile(values, n, 0.25) - reach;
	s->to = quantile(values, n, 0.75) + reach;
	for (size_t i = 0; i < n; i++)
		s->outliers += (double)values[i] < s->from || (double)values[i] > s->to;
}
