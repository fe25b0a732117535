// SPDX-License-Identifier: GPL-2.0-only
#include "spread.h"

#include <math.h>
#include <stdlib.h>

#define PI 3.14159265358979323846

/*
 * The probability of |T| < t by the finite sums of M. Abramowitz, I. Stegun, Handbook of
 * Mathematical Functions, 26.7.3 (odd df) and 26.7.4 (even df).
 */
static double within(double t, size_t df)
{
	double angle = atan(t / sqrt((double)df)), c = cos(angle) * cos(angle);
	double term = df % 2 ? cos(angle) : 1, sum = df > 1 ? term : 0;

	for (size_t k = df % 2 ? 3 : 2; k < df; k += 2) {
		term *= c * (double)(k - 1) / (double)k;
		sum += term;
	}
	return df % 2 ? 2 / PI * (angle + sin(angle) * sum) : sin(angle) * sum;
}

/* Of the normal distribution, corrected for df: ibid., 26.7.5. */
static double student_of_many(double df)
{
	const double z = 1.959963984540054, z3 = z * z * z, z5 = z3 * z * z;

	return z + (z3 + z) / 4 / df + (5 * z5 + 16 * z3 + 3 * z) / 96 / (df * df);
}

double hlg_spread_student(size_t df)
{
	double low = 1.9, high = 13;

	if (df > 1000)
		return student_of_many((double)df);
	for (int i = 0; i < 60; i++) {
		double mid = (low + high) / 2;

		if (within(mid, df) < 0.95)
			low = mid;
		else
			high = mid;
	}
	return high;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

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
	qsort(values, n, sizeof(*values), compare);
	s->min = values[0];
	s->max = values[n - 1];
	for (size_t i = 0; i < n; i++)
		sum += (double)values[i];
	s->mean = sum / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += ((double)values[i] - s->mean) * ((double)values[i] - s->mean);
	if (n > 1) {
		s->deviation = sqrt(squares / (double)(n - 1));
		half = hlg_spread_student(n - 1) * s->deviation / sqrt((double)n);
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
