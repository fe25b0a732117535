// SPDX-License-Identifier: GPL-2.0-only
#include "filter/stats/dispersion.h"

#include <math.h>

enum {
	ROUNDS = 50 /* of EM: more change no digit that is shown */
};

double hlg_dispersion_step(size_t k)
{
	static const double steps[HLG_DISPERSION_STEPS] = {
		0,   .01, .015, .022, .033, .05, .075, .11,
		.16, .24, .35,  .5,   .75,  1.1, 1.7,  2.5};

	return steps[k];
}

double hlg_dispersion_variance(size_t k, double p, double n)
{
	double q = p * (1 - p), c = hlg_dispersion_step(k);

	return q / n + c * c * q * q;
}

static bool counts(const struct hlg_dispersion_run *run)
{
	return run->weight > 0 && run->n > 0;
}

static double pooled(const struct hlg_dispersion_run *runs, size_t n)
{
	double sum = 0, weight = 0;

	for (size_t i = 0; i < n; i++) {
		sum += runs[i].share * runs[i].weight;
		weight += runs[i].weight;
	}
	return weight > 0 ? fmin(1, sum / weight) : 0;
}

/* The logarithm of the likelihood that is left when the mean is not known. */
static double residual(const struct hlg_dispersion_run *runs, size_t n, double p,
		       size_t k)
{
	double weights = 0, mean = 0, squares = 0, logs = 0;

	for (size_t i = 0; i < n; i++)
		if (counts(&runs[i])) {
			double v = hlg_dispersion_variance(k, p, runs[i].n);

			weights += 1 / v;
			mean += runs[i].share / v;
			logs += log(v);
		}
	if (!(weights > 0))
		return 0;
	mean /= weights;
	for (size_t i = 0; i < n; i++)
		if (counts(&runs[i]))
			squares += (runs[i].share - mean) * (runs[i].share - mean) /
				   hlg_dispersion_variance(k, p, runs[i].n);
	return -(logs + log(weights) + squares) / 2;
}

void hlg_dispersion_begin(struct hlg_dispersion_row *row)
{
	for (size_t k = 0; k < HLG_DISPERSION_STEPS; k++)
		row->likelihood[k] = 1;
}

void hlg_dispersion_look(struct hlg_dispersion_row *row,
			 const struct hlg_dispersion_run *runs, size_t n)
{
	double logs[HLG_DISPERSION_STEPS], most = -INFINITY, sum = 0;
	double p = pooled(runs, n);
	size_t recordings = 0;

	for (size_t i = 0; i < n; i++)
		recordings += counts(&runs[i]);
	if (recordings < 2 || !(p > 0) || !(p < 1))
		return;
	for (size_t k = 0; k < HLG_DISPERSION_STEPS; k++) {
		logs[k] = residual(runs, n, p, k);
		most = fmax(most, logs[k]);
	}
	for (size_t k = 0; k < HLG_DISPERSION_STEPS; k++) {
		row->likelihood[k] *= exp(logs[k] - most);
		sum = fmax(sum, row->likelihood[k]);
	}
	for (size_t k = 0; sum > 0 && k < HLG_DISPERSION_STEPS; k++)
		row->likelihood[k] /= sum;
}

void hlg_dispersion_weigh(double weights[static HLG_DISPERSION_STEPS],
			  const struct hlg_dispersion *all,
			  const struct hlg_dispersion_row *row)
{
	double sum = 0;

	for (size_t k = 0; k < HLG_DISPERSION_STEPS; k++)
		sum += all->common[k] * row->likelihood[k];
	for (size_t k = 0; k < HLG_DISPERSION_STEPS; k++)
		weights[k] = sum > 0 ? all->common[k] * row->likelihood[k] / sum
				     : all->common[k];
}

void hlg_dispersion_fit(struct hlg_dispersion *all, const struct hlg_dispersion_row *rows,
			size_t n)
{
	for (size_t k = 0; k < HLG_DISPERSION_STEPS; k++)
		all->common[k] = 1.0 / HLG_DISPERSION_STEPS;
	for (int round = 0; n && round < ROUNDS; round++) {
		double sum[HLG_DISPERSION_STEPS], part[HLG_DISPERSION_STEPS];

		for (size_t k = 0; k < HLG_DISPERSION_STEPS; k++)
			sum[k] = HLG_DISPERSION_DOUBT / HLG_DISPERSION_STEPS;
		for (size_t i = 0; i < n; i++) {
			hlg_dispersion_weigh(part, all, &rows[i]);
			for (size_t k = 0; k < HLG_DISPERSION_STEPS; k++)
				sum[k] += part[k];
		}
		for (size_t k = 0; k < HLG_DISPERSION_STEPS; k++)
			all->common[k] = sum[k] / ((double)n + HLG_DISPERSION_DOUBT);
	}
}
