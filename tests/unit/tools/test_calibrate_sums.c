// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sums of readings made up: percentiles against a definition, outliers told apart, bins
 * that add up, drift; laws of programs; the variation of runs.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kit/tap.h"
#include "tools/calibrate/count.h"
#include "tools/calibrate/crossing.h"
#include "tools/calibrate/landing.h"

#define MANY 5000

static uint64_t readings[MANY];

static struct hlg_ticks sum(size_t n)
{
	struct hlg_ticks ticks;
	uint64_t binned = 0;

	hlg_ticks_sum(&ticks, readings, n);
	for (size_t i = 0; i < HLG_TICKS_BINS; i++)
		binned += ticks.bins[i];
	ck_assert_uint_eq(ticks.n, n);
	ck_assert_uint_eq(binned + ticks.outliers, n);
	ck_assert_uint_le(ticks.min, ticks.p50);
	ck_assert_uint_le(ticks.p50, ticks.p90);
	ck_assert_uint_le(ticks.p90, ticks.p99);
	ck_assert_uint_le(ticks.p99, ticks.max);
	ck_assert_uint_le(ticks.max, ticks.worst);
	return ticks;
}

/* The least value that p percent of all are not above. */
START_TEST(percentiles)
{
	size_t n = (size_t)_i + 1;

	for (size_t i = 0; i < n; i++)
		readings[i] = i * i;
	for (unsigned p = 1; p <= 100; p++) {
		uint64_t value = hlg_ticks_percentile(readings, n, p);
		size_t below = 0, not_above = 0;

		for (size_t i = 0; i < n; i++) {
			below += readings[i] < value;
			not_above += readings[i] <= value;
		}
		ck_assert_uint_ge(not_above * 100, p * n);
		ck_assert_uint_lt(below * 100, p * n);
	}
}
END_TEST

START_TEST(one_reading)
{
	struct hlg_ticks ticks;

	readings[0] = UINT64_MAX;
	ticks = sum(1);
	ck_assert_uint_eq(ticks.p99, UINT64_MAX);
	ck_assert_uint_eq(ticks.outliers, 0);
}
END_TEST

START_TEST(outliers)
{
	struct hlg_ticks ticks;

	for (size_t i = 0; i < 1000; i++)
		readings[i] = 100 + i % 10;
	readings[17] = 100000;
	readings[500] = UINT64_MAX;
	readings[501] = 1; /* fast is no outlier */
	ticks = sum(1000);
	ck_assert_uint_eq(ticks.outliers, 2);
	ck_assert_uint_eq(ticks.min, 1);
	ck_assert_uint_eq(ticks.max, 109);
	ck_assert_uint_eq(ticks.worst, UINT64_MAX);
}
END_TEST

/* Of readings that hardly differ, another that hardly differs is no outlier. */
START_TEST(steady)
{
	struct hlg_ticks ticks;

	for (size_t i = 0; i < 1000; i++)
		readings[i] = 26;
	readings[999] = 52;
	ticks = sum(1000);
	ck_assert_uint_eq(ticks.outliers, 0);
	ck_assert_uint_eq(ticks.bins[0], 999);
	ck_assert_uint_eq(ticks.bins[HLG_TICKS_BINS - 1], 1);
}
END_TEST

START_TEST(drift)
{
	struct hlg_ticks ticks;

	for (size_t i = 0; i < MANY; i++)
		readings[i] = i < MANY / 2 ? 100 : 150;
	ticks = sum(MANY);
	ck_assert_double_eq_tol(ticks.drift, 0.5, 1e-9);
	ck_assert_uint_eq(ticks.quiet, 100);
	for (size_t i = 0; i < MANY; i++)
		readings[i] = i < MANY / 5 ? 100 : 150; /* the median is not quiet */
	ticks = sum(MANY);
	ck_assert_double_eq_tol(ticks.drift, 1. / 3, 1e-9);
	ck_assert_uint_eq(ticks.quiet, 100);
	for (size_t i = 0; i < MANY; i++)
		readings[i] = i % 2 ? 100 : 150;
	ticks = sum(MANY);
	ck_assert_double_eq_tol(ticks.drift, 0, 1e-9);
}
END_TEST

/* Ten times as long in ring 0, or not. */
START_TEST(emulation)
{
	static struct hlg_crossings c;

	for (size_t i = 0; i < HLG_CROSS_ROWS; i++)
		c.rows[i].state = HLG_CROSS_MEASURED;
	c.rows[HLG_CROSS_HLT].state = HLG_CROSS_SKIPPED;
	c.rows[HLG_CROSS_PAIR_USER].ticks.p50 = 26;
	c.rows[HLG_CROSS_PAIR_KERNEL].ticks.p50 = 30;
	hlg_crossing_judge(&c);
	ck_assert(!c.emulated);
	ck_assert_int_eq(c.rows[HLG_CROSS_FAULT_IN].state, HLG_CROSS_MEASURED);
	c.rows[HLG_CROSS_PAIR_KERNEL].ticks.p50 = 7100;
	hlg_crossing_judge(&c);
	ck_assert(c.emulated);
	for (enum hlg_crossing_row i = 0; i < HLG_CROSS_ROWS; i++) {
		bool ring0 = i == HLG_CROSS_PAIR_KERNEL ||
			     (i >= HLG_CROSS_FAULT_IN && i <= HLG_CROSS_SYSCALL_OUT);

		ck_assert_int_eq(c.rows[i].state, i == HLG_CROSS_HLT ? HLG_CROSS_SKIPPED
						  : ring0            ? HLG_CROSS_EMULATED
							  : HLG_CROSS_MEASURED);
	}
}
END_TEST

/* Published: rep 1,000,007 or 8 steps and 8 or 9 retired, loop 2,000,007 or 8. */
START_TEST(laws)
{
	for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++) {
		const struct hlg_law *law = &hlg_count_laws[i];
		bool both = strstr(law->program, "movs") || strstr(law->program, "cmps");
		bool rep = strncmp(law->program, "rep", 3) == 0;
		uint64_t steps = (rep ? 1000007 : 2000007) + both;

		ck_assert_uint_eq(hlg_calibrate_steps(law, 1000000), steps);
		ck_assert_uint_eq(hlg_calibrate_retired(law, 1000000),
				  rep ? 8U + both : steps);
	}
}
END_TEST

START_TEST(variation)
{
	const uint64_t values[] = {4, 2, 8, 6, 5};
	struct hlg_variation v = hlg_calibrate_variation(values, 5);

	ck_assert_uint_eq(v.min, 2);
	ck_assert_uint_eq(v.median, 5);
	ck_assert_uint_eq(v.max, 8);
	ck_assert_double_eq_tol(v.cov, sqrt(5) / 5, 1e-9);
	ck_assert_double_eq(hlg_calibrate_variation(values, 1).cov, 0);
}
END_TEST

/*
 * 95 of 100 samples are no further than the window, in the worst of the hot guests; one
 * that has too few, or lies too far, and nothing is known. Nor of what is no time.
 */
START_TEST(windows)
{
	static struct hlg_landed landed;
	struct hlg_land *rep = &landed.guests[0], *div = &landed.guests[1],
			*load = &landed.guests[2];
	const struct hlg_sampling *cycles = &hlg_samplings[2];

	memset(&landed, 0, sizeof(landed));
	hlg_landing_window(&landed, cycles);
	ck_assert(landed.window == HLG_WINDOW_UNKNOWN);
	rep->guest = 200;
	rep->distance[0] = 190;
	rep->distance[7] = 10;
	div->guest = div->distance[0] = load->guest = load->distance[0] = 100;
	hlg_landing_window(&landed, cycles);
	ck_assert_uint_eq(landed.window, 0);
	ck_assert_str_eq(landed.why, "");
	rep->distance[0] = 189;
	rep->distance[HLG_LANDING_FAR] = 1;
	hlg_landing_window(&landed, cycles);
	ck_assert_uint_eq(landed.window, 7);
	div->distance[0] = 0;
	div->distance[12] = 100;
	hlg_landing_window(&landed, cycles);
	ck_assert_uint_eq(landed.window, 12);
	hlg_landing_window(&landed, &hlg_samplings[4]);
	ck_assert(!hlg_samplings[4].time && landed.window == HLG_WINDOW_UNKNOWN);
	ck_assert_ptr_nonnull(strstr(landed.why, "known place"));
	load->guest = load->distance[0] = 99;
	hlg_landing_window(&landed, cycles);
	ck_assert(landed.window == HLG_WINDOW_UNKNOWN);
	ck_assert_ptr_nonnull(strstr(landed.why, "too few"));
	load->guest = load->distance[0] = 100;
	div->distance[HLG_LANDING_FAR] = 100;
	div->distance[12] = 0;
	hlg_landing_window(&landed, cycles);
	ck_assert(landed.window == HLG_WINDOW_UNKNOWN);
	ck_assert_ptr_nonnull(strstr(landed.why, "too late"));
}
END_TEST

/* A timer finds an interrupted string operation where it is, and no half instruction. */
START_TEST(refutations)
{
	static struct hlg_landed landed;
	struct hlg_land *rep = &landed.guests[0];
	char fault[256];

	memset(&landed, 0, sizeof(landed));
	rep->guest = 200;
	rep->distance[0] = 150;
	rep->distance[1] = 50;
	ck_assert(!hlg_landing_refutes(&landed, &hlg_samplings[0], fault));
	rep->distance[1] = 151;
	ck_assert(hlg_landing_refutes(&landed, &hlg_samplings[0], fault));
	ck_assert_ptr_nonnull(strstr(fault, "samples are 1 instruction late"));
	ck_assert(!hlg_samplings[2].timer);
	ck_assert(!hlg_landing_refutes(&landed, &hlg_samplings[2], fault));
	landed.guests[4].off = 1;
	ck_assert(hlg_landing_refutes(&landed, &hlg_samplings[2], fault));
	ck_assert_ptr_nonnull(strstr(fault, "in the middle"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("calibrate sums");
	TCase *tc = tap_case(suite, "ticks");

	tcase_add_loop_test(tc, percentiles, 0, 250);
	tcase_add_test(tc, one_reading);
	tcase_add_test(tc, outliers);
	tcase_add_test(tc, steady);
	tcase_add_test(tc, drift);
	tc = tap_case(suite, "verdicts");
	tcase_add_test(tc, emulation);
	tcase_add_test(tc, laws);
	tcase_add_test(tc, variation);
	tcase_add_test(tc, windows);
	tcase_add_test(tc, refutations);
	return tap_main(suite);
}
