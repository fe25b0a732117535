// SPDX-License-Identifier: GPL-2.0-only
/*
 * Three recordings against three, of functions whose time varies from run to run in ways
 * that are known: where nothing changed, any row of a comparison is called significant
 * about as seldom as it claims (5 %), however the variation is spread over the rows; and
 * a function that takes half as long again is found, which a test of each row by itself
 * cannot (Welch's t finds none of these).
 */
#include "filter/stats/dispersion.h"

#include <math.h>

#include "filter/stats/compare.h"
#include "tests/kit/filter.h"
#include "tests/kit/tap.h"

enum {
	ROWS = 100,
	RUNS = 3,
	TRIALS = 200,
	MOST_FALSE = 20, /* 5 % are 10; more than 20 are one time in a thousand */
	SLOWER = 4       /* the fifth row: 3.9 % */
};

struct trial {
	double count[2][RUNS][ROWS], all[2][RUNS];
	struct hlg_dispersion_run list[2][RUNS];
	struct hlg_dispersion common;
};

static uint64_t seed;

static double uniform(void)
{
	return ((double)kit_random(&seed, 1U << 30) + 0.5) / (1U << 30);
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

static double poisson(double mean)
{
	double p = exp(-mean), left = uniform();
	double k = 0;

	if (mean > 50)
		return fmax(0, round(mean + sqrt(mean) * normal()));
	for (; left > p && p > 0; k++) {
		left -= p;
		p *= mean / (k + 1);
	}
	return k;
}

/* By how much of itself a row varies from run to run. */
static double alike(int row)
{
	return row < 0 ? 0 : 0.05;
}

static double none(int row)
{
	return row < 0;
}

static double few_vary_much(int row)
{
	return row % 20 == 1 ? 0.3 : 0.02;
}

static double large_vary(int row)
{
	return row < 3 ? 0.2 : 0.03;
}

static double (*const spreads[])(int) = {none, alike, few_vary_much, large_vary};

static void draw(struct trial *t, double samples, double (*spread)(int), double slower)
{
	double sum = 0;

	for (int i = 0; i < ROWS; i++)
		sum += 1.0 / (1 + i);
	for (int s = 0; s < 2; s++)
		for (int run = 0; run < RUNS; run++) {
			t->all[s][run] = 0;
			for (int i = 0; i < ROWS; i++) {
				double mean = samples / sum / (1 + i) *
					      exp(spread(i) * normal());

				if (s == 1 && i == SLOWER)
					mean *= slower;
				t->count[s][run][i] = poisson(mean);
				t->all[s][run] += t->count[s][run][i];
			}
		}
}

static double list(struct trial *t, int row)
{
	double sum = 0;

	for (int s = 0; s < 2; s++)
		for (int run = 0; run < RUNS; run++) {
			double all = t->all[s][run], n = t->count[s][run][row];

			t->list[s][run] = (struct hlg_dispersion_run){n / all, all, all};
			sum += n;
		}
	return sum;
}

static void fit(struct trial *t)
{
	struct hlg_dispersion_row rows[ROWS];
	size_t n = 0;

	for (int i = 0; i < ROWS; i++) {
		if (list(t, i) < 20)
			continue;
		hlg_dispersion_begin(&rows[n]);
		for (int s = 0; s < 2; s++)
			hlg_dispersion_look(&rows[n], t->list[s], RUNS);
		n++;
	}
	hlg_dispersion_fit(&t->common, rows, n);
}

/* How many rows are significant; *slower: is the one that was made slower? */
static int judge(struct trial *t, bool *slower)
{
	double p[ROWS], q[ROWS];
	int row[ROWS], significant = 0;
	size_t n = 0;

	fit(t);
	for (int i = 0; i < ROWS; i++) {
		struct hlg_compared c;

		if (list(t, i) < 20)
			continue;
		hlg_compare_runs(&c, t->list[0], RUNS, t->list[1], RUNS, &t->common);
		row[n] = i;
		p[n++] = c.p;
	}
	ck_assert(hlg_compare_adjust(q, p, n));
	*slower = false;
	for (size_t i = 0; i < n; i++) {
		significant += q[i] <= HLG_COMPARE_LEVEL;
		*slower |= row[i] == SLOWER && q[i] <= HLG_COMPARE_LEVEL;
	}
	return significant;
}

START_TEST(nothing_changed)
{
	int any = 0;

	seed = 1 + (uint64_t)_i;
	for (int i = 0; i < TRIALS; i++) {
		struct trial t;
		bool slower;

		draw(&t, 5000, spreads[_i], 1);
		any += judge(&t, &slower) > 0;
	}
	ck_assert_msg(any <= MOST_FALSE, "%d of %d", any, TRIALS);
}
END_TEST

START_TEST(slower_is_found)
{
	int found = 0;

	seed = 100 + (uint64_t)_i;
	for (int i = 0; i < TRIALS; i++) {
		struct trial t;
		bool slower;

		draw(&t, 8000, spreads[_i], 1.5);
		judge(&t, &slower);
		found += slower;
	}
	ck_assert_msg(found >= TRIALS * 8 / 10, "%d of %d", found, TRIALS);
}
END_TEST

/* All rows vary by 5 %: what is fitted says so, and of one row it says what all do. */
START_TEST(what_is_fitted)
{
	double weights[HLG_DISPERSION_STEPS], mean = 0, sum = 0;
	struct hlg_dispersion_row row;
	struct trial t;

	seed = 7;
	draw(&t, 1e6, alike, 1);
	fit(&t);
	for (size_t k = 0; k < HLG_DISPERSION_STEPS; k++) {
		row.likelihood[k] = 1;
		mean += t.common.common[k] * hlg_dispersion_step(k);
		sum += t.common.common[k];
	}
	ck_assert_double_eq_tol(sum, 1, 1e-9);
	ck_assert_double_eq_tol(mean, 0.05, 0.015);
	/* One recording says nothing of it. */
	hlg_dispersion_look(&row, t.list[0], 1);
	hlg_dispersion_weigh(weights, &t.common, &row);
	for (size_t k = 0; k < HLG_DISPERSION_STEPS; k++)
		ck_assert_double_eq_tol(weights[k], t.common.common[k], 1e-12);
	hlg_dispersion_fit(&t.common, NULL, 0);
	ck_assert_double_eq(t.common.common[0],
			    t.common.common[HLG_DISPERSION_STEPS - 1]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("dispersion");
	TCase *tc = tap_case(suite, "dispersion");

	tcase_add_loop_test(tc, nothing_changed, 0, 4);
	tcase_add_loop_test(tc, slower_is_found, 0, 3);
	tcase_add_test(tc, what_is_fitted);
	return tap_main(suite);
}
