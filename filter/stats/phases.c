// SPDX-License-Identifier: GPL-2.0-only
#include "filter/stats/phases.h"

#include <math.h>
#include <stdlib.h>

#include "filter/stats/interval.h"

#define LEVEL 0.0005 /* of each of two tests */
#define DF    12.0   /* of a row's design effect */
#define PRIOR 8.0    /* of that of all rows */
#define T12   2.1788 /* the 97.5th percentile of Student's t of DF, and of the normal */
#define Z95   1.9600

enum {
	LEAST_SLICES = 16,
	PER_SLICE = 10,
	EXPECTED = 5, /* samples in each cell of a test by chi-square */
	REST = 0      /* the line of all rows that have none of their own */
};

struct lines {
	uint32_t *line;    /* of each row, and of what is none */
	uint32_t *samples; /* of each line in each slice */
	uint32_t *sum;     /* of each line */
	uint32_t *size;    /* of each slice */
	size_t n, n_slices, n_moments, n_rows;
};

/* A line for each row that has enough samples. False without memory. */
static bool draw_lines(struct lines *l, const uint32_t *row)
{
	l->line = calloc(l->n_rows + 1, sizeof(*l->line));
	if (!l->line)
		return false;
	for (size_t i = 0; i < l->n_moments; i++)
		l->line[row[i]]++;
	l->line[l->n_rows] = 0;
	l->n = 1;
	for (size_t i = 0; i < l->n_rows; i++)
		l->line[i] = l->line[i] >= HLG_PHASES_LEAST ? (uint32_t)l->n++ : REST;
	l->samples = calloc(l->n * l->n_slices, sizeof(*l->samples));
	l->sum = calloc(l->n, sizeof(*l->sum));
	l->size = calloc(l->n_slices, sizeof(*l->size));
	if (!l->samples || !l->sum || !l->size)
		return false;
	for (size_t i = 0; i < l->n_moments; i++) {
		size_t line = l->line[row[i]], slice = i * l->n_slices / l->n_moments;

		l->samples[line * l->n_slices + slice]++;
		l->sum[line]++;
		l->size[slice]++;
	}
	return true;
}

static void finish(struct lines *l)
{
	free(l->line);
	free(l->samples);
	free(l->sum);
	free(l->size);
}

/* What samples in each slice add to chi square, with slices taken so many together. */
static double add_line(const struct lines *l, const uint32_t *samples, size_t per)
{
	double n = (double)l->n_moments, sum = 0, chi = 0;

	for (size_t i = 0; i < l->n_slices; i++)
		sum += samples[i];
	for (size_t i = 0; i < l->n_slices && sum > 0; i += per) {
		double found = 0, size = 0, expected;

		for (size_t k = i; k < i + per; k++) {
			found += samples[k];
			size += l->size[k];
		}
		expected = sum * size / n;
		chi += (found - expected) * (found - expected) / expected;
	}
	return chi;
}

/* How likely chance alone makes lines differ as much from one batch of per slices to the
 * next. */
static double test(const struct lines *l, size_t per)
{
	uint32_t rest[HLG_PHASES_SLICES] = {0}, least;
	size_t batches = l->n_slices / per, tested = 0, small = 0;
	double chi = 0;

	least = (uint32_t)(EXPECTED * batches);
	for (size_t i = 0; i < l->n; i++) {
		const uint32_t *samples = &l->samples[i * l->n_slices];

		if (i != REST && l->sum[i] >= least) {
			chi += add_line(l, samples, per);
			tested++;
			continue;
		}
		for (size_t k = 0; k < l->n_slices; k++)
			rest[k] += samples[k];
		small += l->sum[i];
	}
	if (small) {
		chi += add_line(l, rest, per);
		tested++;
	}
	return tested < 2 ? 1
			  : hlg_interval_chi_square(
				    chi, (unsigned)((tested - 1) * (batches - 1)));
}

/* The variance of a line's samples in stretches of slices; *binomial is what it would be
 * of independent ones. */
static double variance(const struct lines *l, size_t line, double *binomial)
{
	const uint32_t *samples = &l->samples[line * l->n_slices];
	double p = (double)l->sum[line] / (double)l->n_moments, squares = 0, size = 0;
	size_t per = l->n_slices * HLG_PHASES_BATCH / HLG_PHASES_SLICES;
	size_t stretches = l->n_slices - per + 1;

	for (size_t i = 0; i < stretches; i++) {
		double off = 0;

		for (size_t k = i; k < i + per; k++) {
			off += samples[k] - p * l->size[k];
			size += l->size[k];
		}
		squares += off * off;
	}
	size /= (double)stretches;
	*binomial = size * p * (1 - p) * (1 - size / (double)l->n_moments);
	return squares / (double)stretches;
}

/* The design effect of samples of which one of each was looked at, for an interval. */
static double effect(double of_moments, double each)
{
	return fmax(1, (1 + (of_moments - 1) * each) * (T12 / Z95) * (T12 / Z95));
}

static void set(struct hlg_phases *phases, const struct lines *l, double each)
{
	double sum = 0, sum_binomial = 0, all;

	for (size_t i = 0; i < l->n; i++) {
		double binomial;

		sum += variance(l, i, &binomial);
		sum_binomial += binomial;
	}
	all = sum_binomial > 0 ? sum / sum_binomial : 1;
	phases->all = effect(all, each);
	for (size_t i = 0; i < l->n_rows; i++) {
		double binomial,
			own = l->line[i] == REST ? 0 : variance(l, l->line[i], &binomial);

		if (l->line[i] == REST || !(binomial > 0))
			phases->rows[i] = phases->all;
		else
			phases->rows[i] = effect(
				(PRIOR * all + DF * own / binomial) / (PRIOR + DF), each);
	}
}

bool hlg_phases_find(struct hlg_phases *phases, const uint32_t *row, size_t n,
		     size_t n_rows, unsigned halved)
{
	struct lines l = {
		.n_slices = HLG_PHASES_SLICES, .n_moments = n, .n_rows = n_rows};
	bool ok;

	*phases = (struct hlg_phases){.all = 1};
	while (l.n_slices > LEAST_SLICES && n < PER_SLICE * l.n_slices)
		l.n_slices /= 2;
	if (n < PER_SLICE * l.n_slices)
		return true;
	ok = draw_lines(&l, row);
	if (ok && (test(&l, 1) < LEVEL ||
		   test(&l, l.n_slices * HLG_PHASES_BATCH / HLG_PHASES_SLICES) < LEVEL)) {
		phases->rows = calloc(n_rows + 1, sizeof(*phases->rows));
		ok = phases->rows;
	}
	if (phases->rows)
		set(phases, &l, ldexp(1, (int)halved));
	finish(&l);
	return ok;
}

void hlg_phases_finish(struct hlg_phases *phases)
{
	free(phases->rows);
	*phases = (struct hlg_phases){.all = 1};
}
