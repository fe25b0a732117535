// SPDX-License-Identifier: GPL-2.0-only
/*
 * The interval is Wilson's and the number of observations Kish's. Proved against
 * published figures (R. G. Newcombe, Two-sided confidence intervals for the single
 * proportion, Statistics in Medicine 17, 1998, table I, method 3) and against the
 * textbook formula evaluated apart with forty decimal digits (z = 1.959963984540054),
 * six of which are written here; then that no input leaves the range 0 to 1. The same
 * formula at 99 % (z = 2.5758293035489004), with sixty digits.
 */
#include "filter/stats/interval.h"

#include <math.h>

#include "tests/kit/tap.h"

struct known {
	double seen, of, low, high;
};

static void check_all(const struct known *known, size_t n, double tolerance)
{
	for (size_t i = 0; i < n; i++) {
		struct hlg_share s =
			hlg_interval_wilson(known[i].seen / known[i].of, known[i].of);

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
			hlg_interval_wilson_at(k->seen / k->of, k->of, HLG_INTERVAL_Z99);

		ck_assert_double_eq(s.share, k->seen / k->of);
		ck_assert_double_eq_tol(s.low, k->low, 6e-10);
		ck_assert_double_eq_tol(s.high, k->high, 6e-10);
	}
}
END_TEST

/* The quantile that is written down is the one it is said to be. */
START_TEST(z_of_99)
{
	ck_assert_double_eq_tol(erfc(HLG_INTERVAL_Z99 / sqrt(2)), 0.01, 1e-16);
}
END_TEST

/* The interval of the rest is the mirror image. */
START_TEST(symmetric)
{
	for (int n = 1; n < 60; n += 7)
		for (int k = 0; k <= n; k++) {
			struct hlg_share a = hlg_interval_wilson((double)k / n, n);
			struct hlg_share b = hlg_interval_wilson((double)(n - k) / n, n);

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
			struct hlg_share s = hlg_interval_wilson(share, n);

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
		struct hlg_share s = hlg_interval_wilson(0.25, none[i]);

		ck_assert_double_eq(s.share, 0.25);
		ck_assert_double_eq(s.low, 0);
		ck_assert_double_eq(s.high, 1);
	}
}
END_TEST

/* Kish: (sum w)^2 / sum w^2. Weights 1, 2, 3: 36 / 14. */
START_TEST(kish)
{
	ck_assert_double_eq_tol(hlg_interval_effective(3, 6, 14), 2.5714285714, 1e-9);
	/* Equal weights: as many as there are. */
	ck_assert_double_eq_tol(hlg_interval_effective(1000, 4000000, 16000000000), 1000,
				1e-9);
	/* One weight that drowns the others: hardly more than one. */
	ck_assert_double_eq_tol(
		hlg_interval_effective(101, 1000000100,
				       (hlg_u128)1000000000 * 1000000000 + 100),
		1.0000002, 1e-9);
	/* Periods of zero weigh nothing and observe nothing. */
	ck_assert_double_eq_tol(hlg_interval_effective(5, 6, 14), 2.5714285714, 1e-9);
}
END_TEST

/* Without weights, and where rounding would give more than was seen: the samples. */
START_TEST(kish_is_never_more)
{
	ck_assert_double_eq(hlg_interval_effective(7, 0, 0), 7);
	ck_assert_double_eq(hlg_interval_effective(0, 0, 0), 0);
	ck_assert_double_eq(hlg_interval_effective(2, 100, 1), 2);
	for (uint64_t n = 1; n < 2000; n++)
		ck_assert_double_le(
			hlg_interval_effective(n, n * 1000003,
					       (hlg_u128)n * 1000003 * 1000003),
			(double)n);
}
END_TEST

START_TEST(kish_of_great_periods)
{
	uint64_t period = UINT64_C(1) << 62;

	ck_assert_double_eq_tol(
		hlg_interval_effective(3, 3 * period, (hlg_u128)3 * period * period), 3,
		1e-9);
}
END_TEST

/* Two decimals; what is nothing by then has no sign of less. */
START_TEST(in_words)
{
	static const struct {
		double share;
		const char *percent, *points;
	} known[] = {{0, "0.00", "+0.00"},          {0.00003, "0.00", "+0.00"},
		     {-0.00003, NULL, "+0.00"},     {-0.00005, NULL, "-0.01"},
		     {0.123449, "12.34", "+12.34"}, {-1, NULL, "-100.00"},
		     {1, "100.00", "+100.00"}};
	char buf[16];

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		ck_assert_str_eq(hlg_interval_points(buf, known[i].share),
				 known[i].points);
		if (known[i].percent)
			ck_assert_str_eq(hlg_interval_percent(buf, known[i].share),
					 known[i].percent);
	}
}
END_TEST

/* More than the share itself is not told as if it were there on both sides. */
START_TEST(margin)
{
	static const struct {
		struct hlg_share share;
		bool few;
		const char *text, *ascii;
	} known[] = {{{.13, .03, .40}, false, "<40.00", "<40.00"},
		     {{.13, .03, .26}, false, "\u00b113.00", "+-13.00"},
		     {{.4568, .4323, .48}, false, "\u00b1 2.45", "+- 2.45"},
		     {{.87, .60, .95}, false, "\u00b127.00", "+-27.00"},
		     {{.02, 0, .03}, true, "< 3.00", "< 3.00"},
		     {{0, 0, 1}, false, "<100.00", "<100.00"}};
	char buf[24];

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		ck_assert_str_eq(
			hlg_interval_margin(buf, &known[i].share, known[i].few, false),
			known[i].text);
		ck_assert_str_eq(
			hlg_interval_margin(buf, &known[i].share, known[i].few, true),
			known[i].ascii);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("interval");
	TCase *tc = tap_case(suite, "interval");

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
	tcase_add_test(tc, in_words);
	tcase_add_test(tc, margin);
	return tap_main(suite);
}
