// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether shares merely follow sizes. Samples that are uniform over the bytes of the
 * functions must give a p that is uniform, too: over thousands of profiles with fixed
 * seeds it is below any level about as often as the level says. A hot function must give
 * none of it. Then the sum itself, by hand, over the seven functions and labels of
 * mkelf-guest.h: which classes there are, what is pooled, which region is tested.
 */
#include "filter/trust/size-test.h"

#include <math.h>
#include <string.h>

#include "filter/view/region.h"
#include "tests/kit/filter.h"
#include "tests/kit/tap.h"

/* Own addresses: entrypoint, dispatch, compute, handler, cold, last, copy. */
static const struct {
	uint64_t start, size;
} functions[] = {{0x1000, 0x20}, {0x1020, 0x34}, {0x1060, 0x80}, {0x1120, 0x60},
		 {0x1180, 0x40}, {0x11c0, 0x20}, {0x1200, 0x20}};

enum {
	N = sizeof(functions) / sizeof(functions[0]),
	BYTES = 0x1b4, /* of all */
	MAX = 4096
};

static struct hlg_run run;
static struct hlg_cell cells[MAX];
static size_t n_cells;
static struct hlg_view view;
static struct hlg_size_test sizes;

static void start(void)
{
	kit_enter();
	kit_guest("guest.elf");
	kit_start(&run, "guest.elf");
	hlg_profile_event(&run.profile, "a", 0);
	ck_assert_int_eq(hlg_run_settle(&run, &(struct hlg_err){0}), 0);
	n_cells = 0;
}

static void finish(void)
{
	hlg_view_finish(&view);
	hlg_run_finish(&run);
	kit_leave();
}

static void add(uint64_t addr, uint64_t samples)
{
	ck_assert_uint_lt(n_cells, MAX);
	cells[n_cells++] = (struct hlg_cell){.ip = KIT_BASE + addr,
					     .count = {samples, 10 * samples}};
}

/* Several cells of one address are as good as one. */
static void judge(uint64_t region)
{
	static const uint32_t rank[1];
	struct hlg_view_input in = {.space = &run.space,
				    .options = &run.options,
				    .cells = cells,
				    .n_cells = n_cells,
				    .rank = rank,
				    .weight = HLG_WEIGHT_PERIOD};
	struct hlg_err err;

	run.options.region = region;
	hlg_view_finish(&view);
	ck_assert_int_eq(hlg_view_build(&view, &in, &err), 0);
	ck_assert_int_eq(hlg_region_build(&view, region, &err), 0);
	ck_assert(hlg_size_test_view(&sizes, &view, region));
}

/* A byte of a function or label, each alike. */
static uint64_t any_byte(uint64_t *random)
{
	uint64_t k = kit_random(random, BYTES);
	int i = 0;

	for (; k >= functions[i].size; i++)
		k -= functions[i].size;
	return functions[i].start + k;
}

/* From many samples to so few that classes are pooled. */
START_TEST(uniform_samples_give_any_p)
{
	static const int samples[] = {1000, 300, 60, 20};
	enum {
		PROFILES = 2000
	};
	int below_1 = 0, below_50 = 0, below_99 = 0;

	for (uint64_t seed = 0; seed < PROFILES; seed++) {
		uint64_t random = seed * 977 + (uint64_t)_i;

		n_cells = 0;
		for (int i = 0; i < samples[_i]; i++)
			add(any_byte(&random), 1);
		judge(4096);
		ck_assert_ptr_nonnull(sizes.region);
		below_1 += sizes.p < 0.01;
		below_50 += sizes.p < 0.5;
		below_99 += sizes.p < 0.99;
	}
	/* Four standard deviations of such a count are 18, 90 and 18; few samples are
	 * less smooth. */
	ck_assert_int_ge(below_1, 20 - 18);
	ck_assert_int_le(below_1, 20 + 18);
	ck_assert_int_ge(below_50, PROFILES / 2 - (_i == 3 ? 200 : 100));
	ck_assert_int_le(below_50, PROFILES / 2 + (_i == 3 ? 200 : 100));
	ck_assert_int_ge(below_99, PROFILES - 20 - (_i == 3 ? 400 : 20));
}
END_TEST

START_TEST(a_hot_function_stands_out)
{
	for (int k = 0; k < N; k++) {
		uint64_t random = (uint64_t)k;

		n_cells = 0;
		for (int i = 0; i < 500; i++)
			add(any_byte(&random), 1);
		add(functions[k].start, 500);
		judge(4096);
		ck_assert_double_lt(sizes.p, 1e-10);
	}
}
END_TEST

/* Expected, by size, of 436 samples: 32, 52, 128, 96, 64, 32, 32. */
START_TEST(the_sum_by_hand)
{
	static const uint64_t seen[N] = {40, 50, 120, 100, 70, 26, 30};
	double sum = 0;

	for (int k = 0; k < N; k++) {
		double expected = (double)functions[k].size;

		add(functions[k].start + 1, seen[k]);
		sum += pow((double)seen[k] - expected, 2) / expected;
	}
	add(0x10e0, 100);   /* a gap */
	add(0x3000, 100);   /* data */
	add(0x900000, 100); /* outside */
	judge(4096);
	ck_assert_uint_eq(sizes.region->addr, 0x1000);
	ck_assert_uint_eq(sizes.samples, 436);
	ck_assert_uint_eq(sizes.functions, N);
	ck_assert_uint_eq(sizes.df, 6);
	ck_assert_double_eq_tol(sizes.chi_square, sum, 1e-9);
	ck_assert_double_eq(sizes.p, hlg_interval_chi_square(sum, 6));
}
END_TEST

/* None of a function that was never met, but its bytes count. */
START_TEST(functions_without_samples_count)
{
	add(0x1060, 436);
	judge(4096);
	ck_assert_uint_eq(sizes.functions, N);
	ck_assert_uint_eq(sizes.df, 6);
	ck_assert_double_eq_tol(sizes.chi_square, 308.0 * 308 / 128 + 436 - 128, 1e-9);
}
END_TEST

/* Of 60 samples 4.4 each are due to the three of 32 bytes, 60 * 96 / 436 together. */
START_TEST(rare_classes_are_pooled)
{
	static const uint64_t seen[N] = {3, 7, 18, 13, 9, 6, 4};
	double sum = pow(13 - 60 * 96 / 436.0, 2) / (60 * 96 / 436.0);

	for (int k = 0; k < N; k++) {
		double expected = 60.0 * (double)functions[k].size / 436;

		add(functions[k].start, seen[k]);
		if (functions[k].size > 0x20)
			sum += pow((double)seen[k] - expected, 2) / expected;
	}
	judge(4096);
	ck_assert_uint_eq(sizes.df, 4);
	ck_assert_uint_eq(sizes.functions, N);
	ck_assert_double_eq_tol(sizes.chi_square, sum, 1e-9);
}
END_TEST

/* What is left of those that less than five are due to is no class: of 30 samples 4.5 are
 * due to the first function. */
START_TEST(a_rest_of_few)
{
	const double expected[] = {30 * 52 / 212.0, 30 * 128 / 212.0};

	add(0x1000, 5);
	add(0x1020, 7);
	add(0x1060, 18);
	judge(256);
	ck_assert_uint_eq(sizes.region->addr, 0x1000);
	ck_assert_uint_eq(sizes.functions, 3);
	ck_assert_uint_eq(sizes.df, 1);
	ck_assert_double_eq_tol(sizes.chi_square,
				pow(7 - expected[0], 2) / expected[0] +
					pow(18 - expected[1], 2) / expected[1],
				1e-9);
}
END_TEST

/* Where no two classes of five are due there is nothing to compare. */
START_TEST(too_few_are_not_tested)
{
	judge(4096);
	ck_assert_ptr_null(sizes.region);
	add(0x1060, 10);
	judge(4096);
	ck_assert_ptr_null(sizes.region);
	add(0x1060, 8); /* 5.3 are due to compute, 12.7 to the rest */
	judge(4096);
	ck_assert_ptr_nonnull(sizes.region);
	ck_assert_uint_eq(sizes.df, 1);
	judge(0);
	ck_assert_ptr_null(sizes.region);
}
END_TEST

/* The hottest of 64 bytes is all compute's, the next outside, then one of two. */
START_TEST(regions_of_one_are_passed_over)
{
	add(0x1080, 500);
	add(0x900000, 400);
	add(0x1000, 20); /* 32 bytes here, as many as dispatch */
	add(0x1030, 44);
	add(0x1050, 90); /* dispatch, but of the next region, with compute */
	judge(64);
	ck_assert_uint_eq(sizes.region->addr, 0x1040);
	ck_assert_uint_eq(sizes.samples, 90);
	ck_assert_uint_eq(sizes.functions, 2);
	/* 20 bytes of dispatch, 32 of compute */
	ck_assert_double_eq_tol(
		sizes.chi_square,
		pow(90 - 90 * 20 / 52.0, 2) / (90 * 20 / 52.0) + 90 * 32 / 52.0, 1e-9);
	n_cells -= 1;
	judge(64);
	ck_assert_uint_eq(sizes.region->addr, 0x1000);
	ck_assert_uint_eq(sizes.samples, 64);
	ck_assert_double_eq_tol(sizes.chi_square, 2 * 12.0 * 12 / 32, 1e-9);
	ck_assert_uint_eq(sizes.df, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("size-test");
	TCase *tc = tap_case(suite, "size-test");

	tcase_add_checked_fixture(tc, start, finish);
	tcase_add_loop_test(tc, uniform_samples_give_any_p, 0, 4);
	tcase_add_test(tc, a_hot_function_stands_out);
	tcase_add_test(tc, the_sum_by_hand);
	tcase_add_test(tc, functions_without_samples_count);
	tcase_add_test(tc, rare_classes_are_pooled);
	tcase_add_test(tc, a_rest_of_few);
	tcase_add_test(tc, too_few_are_not_tested);
	tcase_add_test(tc, regions_of_one_are_passed_over);
	return tap_main(suite);
}
