// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shares compared, against published figures: the interval against R. G. Newcombe,
 * Statistics in Medicine 17, 1998, 873-890, table II, method 10; chi-square against the
 * aspirin study in A. Agresti, Categorical Data Analysis, 2.1; the exact test against
 * Fisher's tea (there, 3.5) and against all tables of the same margins written out; the
 * false discovery rate against the example of Benjamini and Hochberg, JRSS B 57, 1995,
 * 3.2. How runs differ is tested with dispersion.h; here it is known.
 */
#include "filter/stats/compare.h"

#include <math.h>

#include "filter/stats/interval.h"
#include "tests/kit/tap.h"

static struct hlg_compared compare(double x1, double n1, double x2, double n2)
{
	struct hlg_compared c;

	hlg_compare_samples(&c, (struct hlg_proportion){x1 / n1, n1},
			    (struct hlg_proportion){x2 / n2, n2});
	return c;
}

/* The article has first - second; here it is after - before. */
START_TEST(newcombe)
{
	static const struct {
		double x1, n1, x2, n2, low, high;
	} known[] = {
		{56, 70, 48, 80, 0.0524, 0.3339}, {9, 10, 3, 10, 0.1705, 0.8090},
		{6, 7, 2, 7, 0.0582, 0.8062},     {5, 56, 0, 29, -0.0381, 0.1926},
		{0, 10, 0, 20, -0.1611, 0.2775},  {0, 10, 0, 10, -0.2775, 0.2775},
		{10, 10, 0, 20, 0.6791, 1},       {10, 10, 0, 10, 0.6075, 1},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct hlg_compared c =
			compare(known[i].x2, known[i].n2, known[i].x1, known[i].n1);

		ck_assert_double_eq_tol(c.low, known[i].low, 0.00005001);
		ck_assert_double_eq_tol(c.high, known[i].high, 0.00005001);
	}
}
END_TEST

/* Heart attacks: 189 of 11034 with a placebo, 104 of 11037 with aspirin; X2 = 25.01. */
START_TEST(aspirin)
{
	struct hlg_compared c = compare(104, 11037, 189, 11034);

	ck_assert(!c.exact);
	ck_assert_double_eq_tol(c.diff, 0.0077, 0.00005);
	ck_assert_double_le(c.p, hlg_interval_chi_square(25.005, 1));
	ck_assert_double_ge(c.p, hlg_interval_chi_square(25.015, 1));
	ck_assert_double_eq_tol(c.p, compare(189, 11034, 104, 11037).p, 1e-18);
}
END_TEST

/* Four cups of each: three found. The one tail is 1/70 and the half of 16/70. */
START_TEST(tea)
{
	struct hlg_compared c = compare(3, 4, 1, 4);

	ck_assert(c.exact);
	ck_assert_double_eq_tol(c.p, 18.0 / 70, 1e-12);
	ck_assert_double_eq_tol(hlg_compare_exact(4, 4, 0, 4), 1.0 / 70, 1e-12);
	ck_assert_double_eq_tol(hlg_compare_exact(2, 4, 2, 4), 1, 1e-15);
}
END_TEST

static double choose(double n, double k)
{
	return exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1));
}

static double slow_exact(int x1, int n1, int x2, int n2)
{
	double below = 0, above = 0, here = 0;
	int total = x1 + x2;

	for (int x = 0; x <= n1; x++) {
		double p;

		if (x > total || total - x > n2)
			continue;
		p = choose(n1, x) * choose(n2, total - x) / choose(n1 + n2, total);
		*(x < x1 ? &below : x > x1 ? &above : &here) += p;
	}
	return fmin(1, 2 * (fmin(below, above) + here / 2));
}

START_TEST(exact_written_out)
{
	static const int sizes[] = {1, 2, 5, 12, 40};

	for (int a = 0; a < 5; a++)
		for (int b = 0; b < 5; b++)
			for (int x1 = 0; x1 <= sizes[a]; x1++)
				for (int x2 = 0; x2 <= sizes[b]; x2++)
					ck_assert_double_eq_tol(
						hlg_compare_exact(x1, sizes[a], x2,
								  sizes[b]),
						slow_exact(x1, sizes[a], x2, sizes[b]),
						1e-11);
}
END_TEST

/* Tables that no factorial could be had of, and one beyond the largest number. */
START_TEST(exact_far_out)
{
	ck_assert_double_eq_tol(hlg_compare_exact(3, 1e15, 0, 1e15), 0.125, 1e-9);
	ck_assert_double_eq(hlg_compare_exact(100000, 100000, 0, 1e12), 0);
	ck_assert_double_eq(hlg_compare_exact(0, 5, 0, 5), 1);
	ck_assert_double_eq(hlg_compare_exact(5, 5, 7, 7), 1);
}
END_TEST

START_TEST(nothing_observed)
{
	struct hlg_compared c;

	hlg_compare_samples(&c, (struct hlg_proportion){0.5, 0},
			    (struct hlg_proportion){0.1, 1000});
	ck_assert_double_eq(c.p, 1);
	ck_assert_double_eq(c.low, -1);
	ck_assert_double_eq(c.high, 1);
	c = compare(1000, 1000, 50, 50);
	ck_assert_double_eq(c.p, 1);
	ck_assert_double_eq(c.diff, 0);
}
END_TEST

/* Of sums that passed 2^64, as a sum of periods can: nothing is known. */
START_TEST(shares_of_wrapped_sums)
{
	static const double shares[] = {1.5, 1e18, -0.5, NAN};
	struct hlg_proportion one = {0.5, 27000};
	struct hlg_compared c;

	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		struct hlg_proportion wrapped = {shares[i], 27000};

		hlg_compare_samples(&c, wrapped, wrapped);
		ck_assert_double_eq(c.p, 1);
		hlg_compare_samples(&c, one, wrapped);
		ck_assert_double_eq(c.p, 1);
		hlg_compare_samples(&c, wrapped, one);
		ck_assert_double_eq(c.low, -1);
		ck_assert_double_eq(c.high, 1);
	}
}
END_TEST

static const struct hlg_dispersion *dispersion(size_t k)
{
	static struct hlg_dispersion all;

	for (size_t i = 0; i < HLG_DISPERSION_STEPS; i++)
		all.common[i] = i == k;
	return &all;
}

/* Where runs are known to add nothing, three recordings are one of three times as many.
 */
START_TEST(no_dispersion)
{
	const struct hlg_dispersion_run a[3] = {
		{0.1, 1, 100}, {0.1, 1, 100}, {0.1, 1, 100}};
	const struct hlg_dispersion_run b[3] = {
		{0.2, 1, 100}, {0.2, 1, 100}, {0.2, 1, 100}};
	struct hlg_compared c, samples = compare(30, 300, 60, 300);

	hlg_compare_runs(&c, a, 3, b, 3, dispersion(0));
	ck_assert_double_eq_tol(c.p, samples.p, 1e-12);
	ck_assert_double_eq_tol(c.p, erfc(0.1 / sqrt(2 * 2 * 0.15 * 0.85 / 300)), 1e-12);
	ck_assert_double_le(c.low, samples.low);
	ck_assert_double_ge(c.high, samples.high);
	ck_assert_double_le(c.high, 0.1 + 1.96 * sqrt(2 * 0.15 * 0.85 / 300) + 0.002);
}
END_TEST

/* And where they are known to add 50 % of p(1-p) to each, that is in the error. */
START_TEST(known_dispersion)
{
	const struct hlg_dispersion_run a[3] = {
		{0.08, 1, 1e4}, {0.12, 1, 1e4}, {0.10, 1, 1e4}};
	const struct hlg_dispersion_run b[1] = {{0.13, 1, 3e4}};
	size_t k = 0;
	double q = 0.115 * 0.885, variance;
	struct hlg_compared c, mirror;

	while (hlg_dispersion_step(k) < 0.5)
		k++;
	variance = q / 3e4 * 2 + 0.25 * q * q * (1 / 3.0 + 1);
	hlg_compare_runs(&c, a, 3, b, 1, dispersion(k));
	ck_assert_double_eq_tol(c.p, erfc(0.03 / sqrt(2 * variance)), 1e-9);
	ck_assert_double_eq_tol(c.high, 0.03 + 1.95996 * sqrt(variance), 1e-5);
	hlg_compare_runs(&mirror, b, 1, a, 3, dispersion(k));
	ck_assert_double_eq_tol(mirror.p, c.p, 1e-12);
	ck_assert_double_eq_tol(mirror.diff, -c.diff, 1e-12);
}
END_TEST

/* An empty recording is none; with it there are three, without it two. */
START_TEST(empty_recording)
{
	const struct hlg_dispersion_run a[3] = {{0.1, 1, 100}, {0.3, 1, 100}, {0, 0, 0}};
	const struct hlg_dispersion_run b[1] = {{0.2, 1, 100}};
	struct hlg_compared c;

	hlg_compare_runs(&c, a, 3, b, 1, dispersion(3));
	ck_assert_double_eq_tol(c.p, compare(40, 200, 20, 100).p, 1e-12);
}
END_TEST

START_TEST(totals)
{
	const struct hlg_dispersion_run a[3] = {
		{0, 1e6, 1e6}, {0, 1.1e6, 1.1e6}, {0, 0.9e6, 0.9e6}};
	const struct hlg_dispersion_run b[3] = {
		{0, 1.5e6, 1.5e6}, {0, 1.6e6, 1.6e6}, {0, 1.4e6, 1.4e6}};
	const struct hlg_dispersion_run few[3] = {
		{0, 1e6, 10}, {0, 1e6, 10}, {0, 1e6, 10}};
	const struct hlg_dispersion_run more[3] = {
		{0, 1.1e6, 10}, {0, 1.1e6, 10}, {0, 1.1e6, 10}};

	/* t = 0.5 / sqrt(2 * 0.01 / 3) with 4 degrees of freedom. */
	ck_assert_double_eq_tol(hlg_compare_totals(a, 3, b, 3), 0.0036, 0.0001);
	ck_assert_double_eq_tol(hlg_compare_totals(a, 3, a, 3), 1, 1e-12);
	ck_assert_double_gt(hlg_compare_totals(few, 3, more, 3), 0.5); /* samples' own */
	ck_assert(isnan(hlg_compare_totals(a, 2, b, 3)));
	ck_assert(isnan(hlg_compare_totals(a, 3, b, 2)));
}
END_TEST

START_TEST(false_discoveries)
{
	static const double p[15] = {0.0344, 0.0001, 0.0095, 0.0004, 0.0201,
				     0.0278, 0.0019, 0.0459, 0.0298, 0.3240,
				     0.5719, 0.4262, 0.6528, 1.000,  0.7590};
	double q[15];
	int rejected = 0;

	ck_assert(hlg_compare_adjust(q, p, 15));
	for (int i = 0; i < 15; i++) {
		rejected += q[i] <= 0.05;
		ck_assert_double_ge(q[i], p[i]);
		ck_assert_double_le(q[i], 1);
		for (int k = 0; k < 15; k++)
			ck_assert(!(p[i] < p[k] && q[i] > q[k]));
	}
	ck_assert_int_eq(rejected, 4); /* as the article: .0001 .0004 .0019 .0095 */
	ck_assert_double_le(q[2], 0.05);
	ck_assert_double_eq_tol(q[2], 0.0095 * 15 / 4, 1e-12);
	ck_assert_double_eq_tol(q[0], 0.0344 * 15 / 8, 1e-12); /* not .0298 * 15 / 7 */
	ck_assert_double_eq_tol(q[8], 0.0298 * 15 / 7, 1e-12);
	ck_assert(hlg_compare_adjust(q, p, 0));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("compare");
	TCase *tc = tap_case(suite, "samples");

	tcase_add_test(tc, newcombe);
	tcase_add_test(tc, aspirin);
	tcase_add_test(tc, tea);
	tcase_add_test(tc, exact_written_out);
	tcase_add_test(tc, exact_far_out);
	tcase_add_test(tc, nothing_observed);
	tcase_add_test(tc, shares_of_wrapped_sums);
	tc = tap_case(suite, "runs");
	tcase_add_test(tc, no_dispersion);
	tcase_add_test(tc, known_dispersion);
	tcase_add_test(tc, empty_recording);
	tcase_add_test(tc, totals);
	tc = tap_case(suite, "rows");
	tcase_add_test(tc, false_discoveries);
	return tap_main(suite);
}
