// SPDX-License-Identifier: GPL-2.0-only
/*
 * The interval is Wilson's and the number of observations Kish's. Proved against
 * published figures (R. G. Newcombe, Two-sided confidence intervals for the single
 * proportion, Statistics in Medicine 17, 1998, table I, method 3) and against the
 * textbook formula evaluated apart with forty decimal digits (z = 1.959963984540054),
 * six of which are written here; then that no input leaves the range 0 to 1. The same
 * formula at 99 % (z = 2.5758293035489004), with sixty digits.
 *
 * The tail of chi-square is proved against the critical values of NIST/SEMATECH,
 * e-Handbook of Statistical Methods, 1.3.6.7.4 (three decimals: the probability at half a
 * unit more and less must enclose the table's), against the finite sum that it is for an
 * even number of degrees of freedom, evaluated apart with sixty digits, and far out
 * against the approximation of Wilson and Hilferty (PNAS 17, 1931).
 *
 * Those of Student's t against the handbook's 1.3.6.7.2, and against the closed forms
 * that it has for 1, 2 and 4 degrees of freedom.
 */
#include "../../filter/stat.h"

#include <limits.h>
#include <math.h>

#include "tap.h"

struct known {
	double seen, of, low, high;
};

static void check_all(const struct known *known, size_t n, double tolerance)
{
	for (size_t i = 0; i < n; i++) {
		struct hlg_share s =
			hlg_stat_wilson(known[i].seen / known[i].of, known[i].of);

		ck_assert_double_eq(s.share, known[i].seen / known[i].of);
		ck_assert_double_eq_tol(s.low, known[i].low, tolerance);
		ck_assert_double_eq_tol(s.high, known[i].high, tolerance);
	}
}

START_TEST(newcombe)
{
	static const struct known known[] = {
		{81, 263, 0.2553, 0.3662},
		{15, 148, 0.0624, 0.1605},
		{0, 20, 0, 0.1611},
		{1, 29, 0.0061, 0.1718},
	};

	check_all(known, 4, 0.00005);
}
END_TEST

START_TEST(formula)
{
	static const struct known known[] = {
		{0, 10, 0, 0.277533},
		{1, 10, 0.017876, 0.404150},
		{5, 10, 0.236593, 0.763407},
		{10, 10, 0.722467, 1},
		{3, 7, 0.158220, 0.749542},
		{81, 263, 0.255289, 0.366210},
		{0, 1, 0, 0.793451},
		{1, 1, 0.206549, 1},
		{500000, 1000000, 0.499020, 0.500980},
	};

	check_all(known, 9, 0.0000005);
}
END_TEST

START_TEST(formula_at_99)
{
	static const struct known known[] = {
		{0, 12, 0, 0.356046870},
		{12, 12, 0.643953130, 1},
		{11, 12, 0.546488205, 0.990139404},
		{1, 3, 0.040426629, 0.855783985},
		{29, 30, 0.768224284, 0.996074311},
		{30, 30, 0.818891352, 1},
		{50, 100, 0.375279625, 0.624720375},
		{99, 100, 0.920198871, 0.998824855},
		{100, 100, 0.937779312, 1},
		{300, 1000, 0.264090792, 0.338545674},
		{2838, 2838, 0.997667575, 1},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const struct known *k = &known[i];
		struct hlg_share s =
			hlg_stat_wilson_at(k->seen / k->of, k->of, HLG_STAT_Z99);

		ck_assert_double_eq(s.share, k->seen / k->of);
		ck_assert_double_eq_tol(s.low, k->low, 6e-10);
		ck_assert_double_eq_tol(s.high, k->high, 6e-10);
	}
}
END_TEST

/* The quantile that is written down is the one it is said to be. */
START_TEST(z_of_99)
{
	ck_assert_double_eq_tol(erfc(HLG_STAT_Z99 / sqrt(2)), 0.01, 1e-16);
}
END_TEST

/* The interval of the rest is the mirror image. */
START_TEST(symmetric)
{
	for (int n = 1; n < 60; n += 7)
		for (int k = 0; k <= n; k++) {
			struct hlg_share a = hlg_stat_wilson((double)k / n, n);
			struct hlg_share b = hlg_stat_wilson((double)(n - k) / n, n);

			ck_assert_double_eq_tol(a.low, 1 - b.high, 1e-12);
			ck_assert_double_eq_tol(a.high, 1 - b.low, 1e-12);
		}
}
END_TEST

/* More observations, a narrower interval; it always holds the share. */
START_TEST(narrows)
{
	for (double share = 0; share <= 1; share += 0.01) {
		double width = 1.1;

		for (double n = 0.5; n < 1e18; n *= 3.7) {
			struct hlg_share s = hlg_stat_wilson(share, n);

			ck_assert_double_ge(s.low, 0);
			ck_assert_double_le(s.low, share);
			ck_assert_double_ge(s.high, share);
			ck_assert_double_le(s.high, 1);
			ck_assert_double_le(s.high - s.low, width + 1e-15);
			width = s.high - s.low;
		}
	}
}
END_TEST

START_TEST(nothing_observed)
{
	static const double none[] = {0, -1, -0.0, NAN};

	for (int i = 0; i < 4; i++) {
		struct hlg_share s = hlg_stat_wilson(0.25, none[i]);

		ck_assert_double_eq(s.share, 0.25);
		ck_assert_double_eq(s.low, 0);
		ck_assert_double_eq(s.high, 1);
	}
}
END_TEST

/* Kish: (sum w)^2 / sum w^2. Weights 1, 2, 3: 36 / 14. */
START_TEST(kish)
{
	ck_assert_double_eq_tol(hlg_stat_effective(3, 6, 14), 2.5714285714, 1e-9);
	/* Equal weights: as many as there are. */
	ck_assert_double_eq_tol(hlg_stat_effective(1000, 4000000, 16000000000), 1000,
				1e-9);
	/* One weight that drowns the others: hardly more than one. */
	ck_assert_double_eq_tol(
		hlg_stat_effective(101, 1000000100,
				   (hlg_u128)1000000000 * 1000000000 + 100),
		1.0000002, 1e-9);
	/* Periods of zero weigh nothing and observe nothing. */
	ck_assert_double_eq_tol(hlg_stat_effective(5, 6, 14), 2.5714285714, 1e-9);
}
END_TEST

/* Without weights, and where rounding would give more than was seen: the samples. */
START_TEST(kish_is_never_more)
{
	ck_assert_double_eq(hlg_stat_effective(7, 0, 0), 7);
	ck_assert_double_eq(hlg_stat_effective(0, 0, 0), 0);
	ck_assert_double_eq(hlg_stat_effective(2, 100, 1), 2);
	for (uint64_t n = 1; n < 2000; n++)
		ck_assert_double_le(hlg_stat_effective(n, n * 1000003,
						       (hlg_u128)n * 1000003 * 1000003),
				    (double)n);
}
END_TEST

START_TEST(kish_of_great_periods)
{
	uint64_t period = UINT64_C(1) << 62;

	ck_assert_double_eq_tol(
		hlg_stat_effective(3, 3 * period, (hlg_u128)3 * period * period), 3,
		1e-9);
}
END_TEST

/* Rows of the table: upper tails of .10, .05, .025, .01 and .001. */
START_TEST(chi_square_nist)
{
	static const double tail[] = {0.10, 0.05, 0.025, 0.01, 0.001};
	static const struct {
		unsigned df;
		double x[5];
	} row[] = {
		{1, {2.706, 3.841, 5.024, 6.635, 10.828}},
		{2, {4.605, 5.991, 7.378, 9.210, 13.816}},
		{5, {9.236, 11.070, 12.833, 15.086, 20.515}},
		{10, {15.987, 18.307, 20.483, 23.209, 29.588}},
		{20, {28.412, 31.410, 34.170, 37.566, 45.315}},
		{50, {63.167, 67.505, 71.420, 76.154, 86.661}},
		{100, {118.498, 124.342, 129.561, 135.807, 149.449}},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		for (int k = 0; k < 5; k++) {
			double x = row[i].x[k];

			ck_assert_double_ge(hlg_stat_chi_square(x - 0.00051, row[i].df),
					    tail[k]);
			ck_assert_double_le(hlg_stat_chi_square(x + 0.00051, row[i].df),
					    tail[k]);
		}
}
END_TEST

/* Its second table, of lower tails. */
START_TEST(chi_square_nist_lower)
{
	static const double tail[] = {0.90, 0.95, 0.975, 0.99, 0.999};
	static const struct {
		unsigned df;
		double x[5];
	} row[] = {
		{2, {0.211, 0.103, 0.051, 0.020, 0.002}},
		{10, {4.865, 3.940, 3.247, 2.558, 1.479}},
		{100, {82.358, 77.929, 74.222, 70.065, 61.918}},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		for (int k = 0; k < 5; k++) {
			double x = row[i].x[k];

			ck_assert_double_ge(hlg_stat_chi_square(x - 0.00051, row[i].df),
					    tail[k]);
			ck_assert_double_le(hlg_stat_chi_square(x + 0.00051, row[i].df),
					    tail[k]);
		}
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
		ck_assert_double_eq_tol(hlg_stat_chi_square(exact[i].x, exact[i].df) /
						exact[i].tail,
					1, 1e-10);
}
END_TEST

START_TEST(chi_square_limits)
{
	static const unsigned df[] = {1, 2, 100, UINT_MAX};

	for (int i = 0; i < 4; i++) {
		ck_assert_double_eq(hlg_stat_chi_square(0, df[i]), 1);
		ck_assert_double_eq(hlg_stat_chi_square(-1, df[i]), 1);
		ck_assert_double_eq(hlg_stat_chi_square(NAN, df[i]), 1);
		ck_assert_double_eq_tol(hlg_stat_chi_square(1e-300, df[i]), 1, 1e-12);
		ck_assert_double_eq(hlg_stat_chi_square(1e300, df[i]), 0);
		ck_assert_double_eq(hlg_stat_chi_square(INFINITY, df[i]), 0);
	}
	ck_assert_double_eq(hlg_stat_chi_square(5, 0), 1);
	ck_assert_double_eq(hlg_stat_chi_square(INFINITY, 0), 1);
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

			ck_assert_double_eq_tol(hlg_stat_chi_square(x, df[i]),
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
			double p = hlg_stat_chi_square(x, df);

			ck_assert_double_ge(p, 0);
			ck_assert_double_le(p, before + 1e-12);
			ck_assert_double_ge(p, before - (df == 1 ? 0.25 : 0.05));
			ck_assert_double_ge(hlg_stat_chi_square(x, df + 1), p - 1e-12);
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

			ck_assert_double_ge(hlg_stat_student(t - 0.00051, df), tail[k]);
			ck_assert_double_le(hlg_stat_student(-t - 0.00051, df), tail[k]);
			ck_assert_double_eq_tol(hlg_stat_student_quantile(tail[k], df), t,
						0.00051);
		}
}
END_TEST

/* 1 - 2 atan(t) / pi; 1 - t / sqrt(t^2 + 2); and for 4 by s = t / sqrt(t^2 + 4). */
START_TEST(student_closed)
{
	for (double t = 0.001; t < 300; t *= 1.3) {
		double s = t / sqrt(t * t + 4);

		ck_assert_double_eq_tol(hlg_stat_student(t, 1), 2 * atan(1 / t) / M_PI,
					1e-13);
		ck_assert_double_eq_tol(hlg_stat_student(t, 2), 1 - t / sqrt(t * t + 2),
					1e-13);
		ck_assert_double_eq_tol(hlg_stat_student(t, 4), 1 - s * (3 - s * s) / 2,
					1e-13);
	}
}
END_TEST

START_TEST(student_limits)
{
	ck_assert_double_eq(hlg_stat_student(0, 3), 1);
	ck_assert_double_eq(hlg_stat_student(INFINITY, 3), 0);
	ck_assert_double_eq(hlg_stat_student(NAN, 3), 1);
	ck_assert_double_eq(hlg_stat_student(2, 0), 1);
	ck_assert_double_eq(hlg_stat_student(2, NAN), 1);
	ck_assert_double_eq_tol(hlg_stat_student(2, 1e7), erfc(sqrt(2)), 1e-7);
	for (double df = 0.5; df < 1e12; df *= 7.3)
		for (double t = 0.01, before = 1; t < 1e9; t *= 1.7) {
			double p = hlg_stat_student(t, df);

			ck_assert_double_ge(p, 0);
			ck_assert_double_le(p, before + 1e-12);
			before = p;
		}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stat");
	TCase *tc = tap_case(suite, "stat");

	tcase_add_test(tc, newcombe);
	tcase_add_test(tc, formula);
	tcase_add_test(tc, formula_at_99);
	tcase_add_test(tc, z_of_99);
	tcase_add_test(tc, symmetric);
	tcase_add_test(tc, narrows);
	tcase_add_test(tc, nothing_observed);
	tcase_add_test(tc, kish);
	tcase_add_test(tc, kish_is_never_more);
	tcase_add_test(tc, kish_of_great_periods);
	tc = tap_case(suite, "chi-square");
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
	return tap_main(suite);
}
