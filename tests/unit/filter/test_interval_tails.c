// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tail of chi-square is proved against the critical values of NIST/SEMATECH,
 * e-Handbook of Statistical Methods, 1.3.6.7.4 (three decimals: the probability at half a
 * unit more and less must enclose the table's), against the finite sum that it is for an
 * even number of degrees of freedom, evaluated apart with sixty digits, and far out
 * against the approximation of Wilson and Hilferty (PNAS 17, 1931).
 *
 * The tails of Student's t against the handbook's 1.3.6.7.2, and against the closed forms
 * that it has for 1, 2 and 4 degrees of freedom.
 */
#include "filter/stats/interval.h"

#include <limits.h>
#include <math.h>

#include "tests/kit/tap.h"

/* A row of a table of five tails. */
struct chi_square {
	unsigned df;
	double x[5];
};

static void check_chi_square(const struct chi_square *row, const double *tail)
{
	for (int k = 0; k < 5; k++) {
		ck_assert_double_ge(hlg_interval_chi_square(row->x[k] - 0.00051, row->df),
				    tail[k]);
		ck_assert_double_le(hlg_interval_chi_square(row->x[k] + 0.00051, row->df),
				    tail[k]);
	}
}

/* Rows of the table: upper tails of .10, .05, .025, .01 and .001. */
START_TEST(chi_square_nist)
{
	static const double tail[] = {0.10, 0.05, 0.025, 0.01, 0.001};
	static const struct chi_square row[] = {
		{1, {2.706, 3.841, 5.024, 6.635, 10.828}},
		{2, {4.605, 5.991, 7.378, 9.210, 13.816}},
		{5, {9.236, 11.070, 12.833, 15.086, 20.515}},
		{10, {15.987, 18.307, 20.483, 23.209, 29.588}},
		{20, {28.412, 31.410, 34.170, 37.566, 45.315}},
		{50, {63.167, 67.505, 71.420, 76.154, 86.661}},
		{100, {118.498, 124.342, 129.561, 135.807, 149.449}},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		check_chi_square(&row[i], tail);
}
END_TEST

/* Its second table, of lower tails. */
START_TEST(chi_square_nist_lower)
{
	static const double tail[] = {0.90, 0.95, 0.975, 0.99, 0.999};
	static const struct chi_square row[] = {
		{2, {0.211, 0.103, 0.051, 0.020, 0.002}},
		{10, {4.865, 3.940, 3.247, 2.558, 1.479}},
		{100, {82.358, 77.929, 74.222, 70.065, 61.918}},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		check_chi_square(&row[i], tail);
}
END_TEST

/* Even df: e^(-x/2) times the sum of (x/2)^i / i!, i below df / 2. */
START_TEST(chi_square_exact)
{
	static const struct {
		double x;
		unsigned df;
		double tail;
	} exact[] = {
		{1, 2, 6.065306597126334e-01},
		{5.991, 2, 5.001161502657908e-02},
		{0.001, 4, 9.999998750416589e-01},
		{30, 4, 4.894437128029213e-06},
		{2, 40, 1},
		{40, 40, 4.702572668392400e-01},
		{90, 40, 1.023704644107924e-05},
		{124.342, 100, 5.000071576997176e-02},
		{300, 10, 1.554674754380318e-58},
		{900, 1000, 9.892827619087102e-01},
		{1000, 1000, 4.940528538292396e-01},
		{1200, 1000, 1.225594233062290e-05},
		{2000, 1000, 4.143678591454992e-69},
	};

	for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++)
		ck_assert_double_eq_tol(hlg_interval_chi_square(exact[i].x, exact[i].df) /
						exact[i].tail,
					1, 1e-10);
}
END_TEST

START_TEST(chi_square_limits)
{
	static const unsigned df[] = {1, 2, 100, UINT_MAX};

	for (int i = 0; i < 4; i++) {
		ck_assert_double_eq(hlg_interval_chi_square(0, df[i]), 1);
		ck_assert_double_eq(hlg_interval_chi_square(-1, df[i]), 1);
		ck_assert_double_eq(hlg_interval_chi_square(NAN, df[i]), 1);
		ck_assert_double_eq_tol(hlg_interval_chi_square(1e-300, df[i]), 1, 1e-12);
		ck_assert_double_eq(hlg_interval_chi_square(1e300, df[i]), 0);
		ck_assert_double_eq(hlg_interval_chi_square(INFINITY, df[i]), 0);
	}
	ck_assert_double_eq(hlg_interval_chi_square(5, 0), 1);
	ck_assert_double_eq(hlg_interval_chi_square(INFINITY, 0), 1);
}
END_TEST

/* Where both expansions are at their slowest: around the mean, for many degrees. */
START_TEST(chi_square_of_many)
{
	static const unsigned df[] = {1000000, 100000000, UINT_MAX};

	for (int i = 0; i < 3; i++)
		for (int s = -3; s <= 3; s++) {
			double x = df[i] + s * sqrt(2.0 * df[i]), v = 2 / (9.0 * df[i]);
			double z = (cbrt(x / df[i]) - (1 - v)) / sqrt(v);

			ck_assert_double_eq_tol(hlg_interval_chi_square(x, df[i]),
						erfc(z / sqrt(2)) / 2, 3e-5);
		}
}
END_TEST

/* Falls with x, grows with df, stays a probability, without a step between the two
 * expansions. */
START_TEST(chi_square_is_smooth)
{
	for (unsigned df = 1; df < 300; df += 7)
		for (double x = 0.1, before = 1; x < 3 * df + 30; x += 0.1) {
			double p = hlg_interval_chi_square(x, df);

			ck_assert_double_ge(p, 0);
			ck_assert_double_le(p, before + 1e-12);
			ck_assert_double_ge(p, before - (df == 1 ? 0.25 : 0.05));
			ck_assert_double_ge(hlg_interval_chi_square(x, df + 1),
					    p - 1e-12);
			before = p;
		}
}
END_TEST

/* Rows of the table: upper tails of .10 to .005, so both tails of twice that. */
START_TEST(student_nist)
{
	static const double tail[] = {0.20, 0.10, 0.05, 0.02, 0.01};
	static const struct {
		double df, t[5];
	} row[] = {
		{1, {3.078, 6.314, 12.706, 31.821, 63.657}},
		{2, {1.886, 2.920, 4.303, 6.965, 9.925}},
		{3, {1.638, 2.353, 3.182, 4.541, 5.841}},
		{4, {1.533, 2.132, 2.776, 3.747, 4.604}},
		{5, {1.476, 2.015, 2.571, 3.365, 4.032}},
		{10, {1.372, 1.812, 2.228, 2.764, 3.169}},
		{30, {1.310, 1.697, 2.042, 2.457, 2.750}},
		{100, {1.290, 1.660, 1.984, 2.364, 2.626}},
		{INFINITY, {1.282, 1.645, 1.960, 2.326, 2.576}},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		for (int k = 0; k < 5; k++) {
			double t = row[i].t[k], df = row[i].df;

			ck_assert_double_ge(hlg_interval_student(t - 0.00051, df),
					    tail[k]);
			ck_assert_double_le(hlg_interval_student(-t - 0.00051, df),
					    tail[k]);
			ck_assert_double_eq_tol(
				hlg_interval_student_quantile(tail[k], df), t, 0.00051);
		}
}
END_TEST

/* 1 - 2 atan(t) / pi; 1 - t / sqrt(t^2 + 2); and for 4 by s = t / sqrt(t^2 + 4). */
START_TEST(student_closed)
{
	for (double t = 0.001; t < 300; t *= 1.3) {
		double s = t / sqrt(t * t + 4);

		ck_assert_double_eq_tol(hlg_interval_student(t, 1),
					2 * atan(1 / t) / M_PI, 1e-13);
		ck_assert_double_eq_tol(hlg_interval_student(t, 2),
					1 - t / sqrt(t * t + 2), 1e-13);
		ck_assert_double_eq_tol(hlg_interval_student(t, 4),
					1 - s * (3 - s * s) / 2, 1e-13);
	}
}
END_TEST

START_TEST(student_limits)
{
	ck_assert_double_eq(hlg_interval_student(0, 3), 1);
	ck_assert_double_eq(hlg_interval_student(INFINITY, 3), 0);
	ck_assert_double_eq(hlg_interval_student(NAN, 3), 1);
	ck_assert_double_eq(hlg_interval_student(2, 0), 1);
	ck_assert_double_eq(hlg_interval_student(2, NAN), 1);
	ck_assert_double_eq_tol(hlg_interval_student(2, 1e7), erfc(sqrt(2)), 1e-7);
	for (double df = 0.5; df < 1e12; df *= 7.3)
		for (double t = 0.01, before = 1; t < 1e9; t *= 1.7) {
			double p = hlg_interval_student(t, df);

			ck_assert_double_ge(p, 0);
			ck_assert_double_le(p, before + 1e-12);
			before = p;
		}
}
END_TEST

/* The sum that it is, from the small end. */
static double binomial_sum(unsigned k, unsigned n, double p)
{
	double sum = 0;

	for (unsigned i = n + 1; i-- > k;)
		sum += exp(lgamma(n + 1.) - lgamma(i + 1.) - lgamma(n - i + 1.) +
			   i * log(p) + (n - i) * log1p(-p));
	return sum;
}

START_TEST(binomial_is_the_sum)
{
	static const double p[] = {0.001, 0.1, 0.25, 0.5, 0.9, 0.999};

	for (unsigned n = 0; n < 300; n = n * 3 / 2 + 1)
		for (unsigned k = 0; k <= n; k++)
			for (size_t i = 0; i < sizeof(p) / sizeof(p[0]); i++)
				ck_assert_double_eq_tol(hlg_interval_binomial(k, n, p[i]),
							binomial_sum(k, n, p[i]), 1e-11);
	ck_assert_double_eq(hlg_interval_binomial(3, 2, 0.5), 0);
	ck_assert_double_eq(hlg_interval_binomial(0, 0, 0.5), 1);
	ck_assert_double_eq_tol(hlg_interval_binomial(10, 10, 0.5), 1. / 1024, 1e-15);
	/* and of numbers that nobody sums */
	ck_assert_double_le(hlg_interval_binomial(1000000, 2000000, 0.49), 1e-15);
	ck_assert_double_ge(hlg_interval_binomial(1000000, 2000000, 0.51), 1 - 1e-12);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("interval-tails");
	TCase *tc = tap_case(suite, "chi-square");

	tcase_add_test(tc, chi_square_nist);
	tcase_add_test(tc, chi_square_nist_lower);
	tcase_add_test(tc, chi_square_exact);
	tcase_add_test(tc, chi_square_limits);
	tcase_add_test(tc, chi_square_of_many);
	tcase_add_test(tc, chi_square_is_smooth);
	tc = tap_case(suite, "student");
	tcase_add_test(tc, student_nist);
	tcase_add_test(tc, student_closed);
	tcase_add_test(tc, student_limits);
	tc = tap_case(suite, "binomial");
	tcase_add_test(tc, binomial_is_the_sum);
	return tap_main(suite);
}
