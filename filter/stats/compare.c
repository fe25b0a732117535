// SPDX-License-Identifier: GPL-2.0-only
#include "filter/stats/compare.h"

#include <math.h>
#include <stdlib.h>

#include "filter/stats/interval.h"

/* W. G. Cochran's rule (Biometrics 10, 1954). */
#define LEAST_EXPECTED 5

static const struct hlg_compared unknown = {0, -1, 1, 1, false};

/* The share of both sides together. */
static double pool(struct hlg_proportion a, struct hlg_proportion b)
{
	return (a.share * a.n + b.share * b.n) / (a.n + b.n);
}

/*
 * Tables with these margins have probabilities whose neighbours are in a simple ratio:
 * all of them are had from the table itself, taken as 1, without any factorial. What
 * lies far behind the mode may pass the largest number, and the tail is 0 then.
 */
static double sum_tail(double x1, double n1, double total, double n2, int step)
{
	double term = 1, sum = 0, x = x1;

	for (;;) {
		double up = (n1 - x) * (total - x), down = x * (n2 - total + x);

		if (step > 0)
			term *= up / ((x + 1) * (n2 - total + x + 1));
		else
			term *= down / ((n1 - x + 1) * (total - x + 1));
		if (!(term > sum * 1e-17)) /* also 0, at the end */
			return sum;
		sum += term;
		if (isinf(sum))
			return sum;
		x += step;
	}
}

double hlg_compare_exact(double x1, double n1, double x2, double n2)
{
	double above = sum_tail(x1, n1, x1 + x2, n2, 1);
	double below = sum_tail(x1, n1, x1 + x2, n2, -1);
	double p = 2 * (fmin(above, below) + 0.5) / (1 + above + below);

	return fmin(1, p);
}

/* Is a count so small that chi-square is no guide? */
static bool expects_few(double pooled, double n1, double n2)
{
	return fmin(n1, n2) * fmin(pooled, 1 - pooled) < LEAST_EXPECTED;
}

static double exact_of(struct hlg_proportion a, struct hlg_proportion b)
{
	double n1 = floor(a.n + 1e-9), n2 = floor(b.n + 1e-9);

	return hlg_compare_exact(round(a.share * n1), n1, round(b.share * n2), n2);
}

/* Newcombe's method 10: the Wilson limits of each side, squared and added. */
static void set_interval(struct hlg_compared *result, struct hlg_proportion before,
			 struct hlg_proportion after)
{
	struct hlg_share a = hlg_interval_wilson(before.share, before.n);
	struct hlg_share b = hlg_interval_wilson(after.share, after.n);

	result->diff = b.share - a.share;
	result->low = result->diff - hypot(b.share - b.low, a.high - a.share);
	result->high = result->diff + hypot(b.high - b.share, a.share - a.low);
}

static bool is_known(struct hlg_proportion p)
{
	return p.n > 0 && p.share >= 0 && p.share <= 1;
}

void hlg_compare_samples(struct hlg_compared *result, struct hlg_proportion before,
			 struct hlg_proportion after)
{
	double pooled, variance;

	*result = unknown;
	if (!is_known(before) || !is_known(after))
		return;
	set_interval(result, before, after);
	pooled = pool(before, after);
	variance = pooled * (1 - pooled) * (1 / before.n + 1 / after.n);
	result->exact = expects_few(pooled, before.n, after.n);
	if (result->exact)
		result->p = exact_of(before, after);
	else
		result->p = erfc(fabs(result->diff) / sqrt(2 * variance));
}

/* The share over all recordings of a side, its observations, and how many there are. */
struct side {
	const struct hlg_dispersion_run *runs;
	size_t n;
	struct hlg_proportion all;
	double weight;
	size_t recordings; /* those with weight */
};

static struct side sum_side(const struct hlg_dispersion_run *runs, size_t n)
{
	struct side s = {.runs = runs, .n = n};
	double sum = 0, squares = 0;

	for (size_t i = 0; i < n; i++) {
		if (!(runs[i].weight > 0))
			continue;
		s.recordings++;
		s.weight += runs[i].weight;
		sum += runs[i].weight * runs[i].share;
		/* Kish's number of all: weights within a recording, and between them. */
		if (runs[i].n > 0)
			squares += runs[i].weight * runs[i].weight / runs[i].n;
	}
	if (s.weight > 0)
		s.all.share = fmin(1, sum / s.weight);
	if (squares > 0)
		s.all.n = s.weight * s.weight / squares;
	return s;
}

/* The variance of a side's share, if p is the true one and k the row's dispersion. */
static double variance_of(const struct side *s, double p, size_t k)
{
	double sum = 0;

	for (size_t i = 0; i < s->n; i++) {
		double part = s->runs[i].weight / s->weight;

		if (s->runs[i].weight > 0 && s->runs[i].n > 0)
			sum += part * part * hlg_dispersion_variance(k, p, s->runs[i].n);
	}
	return sum;
}

/* What the difference of two sides may be by chance: normal, of one of several errors. */
struct chance {
	double error[HLG_DISPERSION_STEPS];
	double weight[HLG_DISPERSION_STEPS]; /* they sum to 1 */
};

static struct chance chance_of(const struct side *a, const struct side *b,
			       const struct hlg_dispersion *all)
{
	struct hlg_dispersion_row row;
	double p = pool(a->all, b->all);
	struct chance c;

	hlg_dispersion_begin(&row);
	hlg_dispersion_look(&row, a->runs, a->n);
	hlg_dispersion_look(&row, b->runs, b->n);
	for (size_t k = 0; k < HLG_DISPERSION_STEPS; k++)
		c.error[k] = sqrt(variance_of(a, p, k) + variance_of(b, p, k));
	hlg_dispersion_weigh(c.weight, all, &row);
	return c;
}

/* How likely chance alone makes a difference at least as large, either way. */
static double exceeds(const struct chance *c, double diff)
{
	double p = 0;

	for (size_t k = 0; k < HLG_DISPERSION_STEPS; k++)
		p += c->weight[k] * erfc(fabs(diff) / c->error[k] / M_SQRT2);
	return fmin(1, p);
}

/* The difference that chance alone exceeds so often. */
static double quantile(const struct chance *c, double level)
{
	double low = 0, high = 0;

	for (size_t k = 0; k < HLG_DISPERSION_STEPS; k++)
		high = fmax(high, 10 * c->error[k]);
	for (int i = 0; i < 60; i++) {
		double mid = (low + high) / 2;

		*(exceeds(c, mid) > level ? &low : &high) = mid;
	}
	return high;
}

void hlg_compare_runs(struct hlg_compared *result,
		      const struct hlg_dispersion_run *before, size_t n_before,
		      const struct hlg_dispersion_run *after, size_t n_after,
		      const struct hlg_dispersion *all)
{
	struct side a = sum_side(before, n_before), b = sum_side(after, n_after);
	struct chance chance;
	double pooled, half;

	/* A recording may have turned out to be empty. */
	hlg_compare_samples(result, a.all, b.all);
	if (!(a.all.n > 0) || !(b.all.n > 0) ||
	    (a.recordings < HLG_COMPARE_RUNS && b.recordings < HLG_COMPARE_RUNS))
		return;
	pooled = pool(a.all, b.all);
	if (!(pooled > 0) || !(pooled < 1)) /* all samples are of this row, or none */
		return;
	chance = chance_of(&a, &b, all);
	half = quantile(&chance, HLG_INTERVAL_LEVEL);
	result->low = fmax(-1, fmin(result->low, result->diff - half));
	result->high = fmin(1, fmax(result->high, result->diff + half));
	result->p = fmax(result->exact ? result->p : 0, exceeds(&chance, result->diff));
}

/* The mean weight of runs; *variance is that of the mean. */
static double mean_weight(const struct hlg_dispersion_run *runs, size_t n,
			  double *variance)
{
	double count = (double)n, mean = 0, sampling = 0;

	*variance = 0;
	for (size_t i = 0; i < n; i++) {
		mean += runs[i].weight / count;
		if (runs[i].n > 0)
			sampling += runs[i].weight * runs[i].weight / runs[i].n;
	}
	for (size_t i = 0; i < n; i++)
		*variance += (runs[i].weight - mean) * (runs[i].weight - mean);
	*variance = fmax(*variance / (count - 1) / count, sampling / (count * count));
	return mean;
}

double hlg_compare_totals(const struct hlg_dispersion_run *before, size_t n_before,
			  const struct hlg_dispersion_run *after, size_t n_after)
{
	double a, b, va, vb, df;

	if (n_before < HLG_COMPARE_RUNS || n_after < HLG_COMPARE_RUNS)
		return NAN;
	a = mean_weight(before, n_before, &va);
	b = mean_weight(after, n_after, &vb);
	if (!(va + vb > 0))
		return 1; /* nothing was sampled at all */
	df = (va + vb) * (va + vb) /
	     (va * va / (double)(n_before - 1) + vb * vb / (double)(n_after - 1));
	return hlg_interval_student((b - a) / sqrt(va + vb), df);
}

static int compare_p(const void *a, const void *b, void *p)
{
	double x = ((const double *)p)[*(const size_t *)a];
	double y = ((const double *)p)[*(const size_t *)b];

	return x < y ? -1 : x > y;
}

bool hlg_compare_adjust(double *q, const double *p, size_t n)
{
	size_t *order = calloc(n + 1, sizeof(*order));
	double least = 1;

	if (!order)
		return false;
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), compare_p, (void *)(size_t)p);
	for (size_t i = n; i-- > 0;) {
		least = fmin(least, p[order[i]] * (double)n / (double)(i + 1));
		q[order[i]] = least;
	}
	free(order);
	return true;
}
