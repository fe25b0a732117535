// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scores of samples in lines of code for AArch64, assembled by hand: a line that is full
 * of samples, evenly, is worth more than one that is not, and more if another leads to it
 * that runs as often; what lies where nothing runs is worth little. The score is the sum
 * of each address's part, the same wherever samples are moved from, and leaves nothing
 * behind.
 */
#include "symtab/code/line-fit.h"

#include <math.h>

#include "tests/kit/sampling.h"
#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"
#include "tests/unit/symtab/test_code_kit.h"

/* clang-format off */
static const uint32_t text[] = {
	/* 1000 nop             */ 0xd503201f,
	/* 1004 nop             */ 0xd503201f,
	/* 1008 nop             */ 0xd503201f,
	/* 100c cbz x0, 1018    */ 0xb4000060,
	/* 1010 nop             */ 0xd503201f,
	/* 1014 ret             */ 0xd65f03c0,
	/* 1018 nop             */ 0xd503201f,
	/* 101c bl 1024         */ 0x94000002,
	/* 1020 ret             */ 0xd65f03c0,
	/* 1024 nop, of the next */ 0xd503201f,
	/* 1028 ret             */ 0xd65f03c0,
	/* 102c nothing         */ 0x00000007,
};
/* clang-format on */

enum {
	FIRST = 0x1000, /* where lines begin */
	ON = 0x1010,
	TAKEN = 0x1018,
	CALLED = 0x1024,
	UNDEFINED = 0x102c,
	MOST = 16
};

/* Samples of instructions from an address on, 0 behind the last. */
struct run {
	uint64_t from, samples[5];
};

static struct hlg_line_fit *fit;
static struct hlg_sampled addrs[MOST];
static size_t n;

static void setup(void)
{
	code_load_two(text, sizeof(text), EM_AARCH64, CALLED);
	fit = hlg_line_fit_of(code, code_image);
	ck_assert_ptr_nonnull(fit);
	ck_assert_ptr_eq(hlg_line_fit_of(code, code_image), fit);
	n = 0;
}

static void add(struct run run)
{
	for (size_t i = 0; i < 5 && run.samples[i]; i++)
		addrs[n++] = (struct hlg_sampled){run.from + 4 * i, run.samples[i]};
}

static double score_moved(uint64_t move)
{
	double each[MOST], sum = 0, score, again;

	ck_assert(hlg_line_fit_score(fit, addrs, n, move, &score, each));
	for (size_t i = 0; i < n; i++)
		sum += each[i];
	ck_assert(fabs(sum - score) < 1e-9);
	ck_assert(hlg_line_fit_score(fit, addrs, n, move, &again, NULL));
	ck_assert(again == score);
	return score;
}

/* Of these samples alone; the second run may be all zero. */
static double score(struct run a, struct run b)
{
	n = 0;
	add(a);
	add(b);
	return score_moved(0);
}

static const struct run none;

START_TEST(an_even_line_is_worth_more)
{
	double even = score((struct run){FIRST, {10, 10, 10, 10}}, none);

	ck_assert(even > score((struct run){FIRST, {10, 10, 10}}, none));
	ck_assert(even > score((struct run){FIRST, {2, 30, 2, 6}}, none));
	ck_assert(even > 0);
	/* Nor is there a seam where numbers grow large. */
	for (uint64_t k = 1000; k < 5000; k += 7) {
		double a = score((struct run){FIRST, {k, k, k, k}}, none);
		double b = score((struct run){FIRST, {k + 1, k + 1, k + 1, k + 1}}, none);

		ck_assert(fabs(a - b) < 0.1);
	}
}
END_TEST

START_TEST(lines_that_lead_to_each_other)
{
	const struct run first = {FIRST, {10, 10, 10, 10}};
	const struct run taken = {TAKEN, {10, 10, 10}}, called = {CALLED, {10, 10}};
	double apart = score(first, none) + score(taken, none);

	/* By a branch, by falling through and by a call. */
	ck_assert(score(first, taken) > apart + 2);
	ck_assert(score(first, (struct run){ON, {10, 10}}) >
		  score(first, none) + score((struct run){ON, {10, 10}}, none) + 2);
	ck_assert(score(taken, called) > score(taken, none) + score(called, none) + 2);
	/* Less, where one runs a hundred times as often. */
	ck_assert(score(first, taken) -
			  score(first, (struct run){TAKEN, {999, 999, 999}}) +
			  score((struct run){TAKEN, {999, 999, 999}}, none) -
			  score(taken, none) >
		  1);
	/* A line that leads to none that runs, though it must, is worth less than an end.
	 */
	ck_assert(score((struct run){CALLED, {10, 10}}, none) >
		  score((struct run){ON, {10, 10}}, none) - 0.01);
}
END_TEST

START_TEST(where_nothing_runs)
{
	double nowhere = score((struct run){UNDEFINED, {10}}, none);

	ck_assert(nowhere < -9);
	ck_assert(score((struct run){0x2000, {10}}, none) == nowhere);
	ck_assert(score((struct run){FIRST - 4, {10}}, none) == nowhere);
	ck_assert(hlg_line_fit_runs(fit, FIRST));
	ck_assert(hlg_line_fit_runs(fit, CALLED + 4));
	ck_assert(!hlg_line_fit_runs(fit, UNDEFINED));
	ck_assert(!hlg_line_fit_runs(fit, FIRST - 4));
	ck_assert(!hlg_line_fit_runs(fit, UINT64_MAX));
}
END_TEST

START_TEST(moved)
{
	const uint64_t moves[] = {4, 0x7f0000000000, -UINT64_C(0x500)};
	double there = score((struct run){FIRST, {10, 10, 10, 10}},
			     (struct run){TAKEN, {9, 8, 10}});

	for (size_t k = 0; k < 3; k++) {
		for (size_t i = 0; i < n; i++)
			addrs[i].ip += moves[k];
		ck_assert(score_moved(-moves[k]) == there);
		ck_assert(score_moved(4 - moves[k]) < there);
		for (size_t i = 0; i < n; i++)
			addrs[i].ip -= moves[k];
	}
}
END_TEST

/* Of any part, however it is moved, as of the whole; also if all is not asked for. */
START_TEST(parts)
{
	struct hlg_line_fit_samples samples;
	uint64_t random = 1;

	for (int i = 0; i < 2000; i++) {
		const int64_t move = 4 * ((int64_t)sampling_random(&random, 5) - 2);
		double each[MOST], again[MOST], sum = 0, all;
		size_t from, to;

		n = 0;
		for (uint64_t at = FIRST - 8; at < UNDEFINED + 12 && n < MOST; at += 4)
			if (sampling_random(&random, 4))
				addrs[n++] = (struct hlg_sampled){
					at, 1 + sampling_random(&random, 20)};
		to = sampling_random(&random, n + 1);
		from = sampling_random(&random, to + 1);
		ck_assert(hlg_line_fit_score(fit, addrs, n, (uint64_t)move, &all, each));
		for (size_t k = from; k < to; k++)
			sum += each[k];
		ck_assert(hlg_line_fit_samples_begin(&samples, fit, addrs, n, 0));
		ck_assert(fabs(hlg_line_fit_part(fit, &samples, from, to, move,
						 -(double)INFINITY) -
			       sum) < 1e-9);
		for (double more = -30; more < 30; more += 1.3)
			ck_assert((hlg_line_fit_part(fit, &samples, from, to, move,
						     sum + more) < sum + more) ==
				  (more > 0));
		for (size_t k = n; k-- > 0;) {
			const size_t first =
				hlg_line_fit_each(fit, &samples, k, move, again);

			for (size_t j = first; j <= k; j++)
				ck_assert(fabs(again[j] - each[j]) < 1e-9);
		}
		hlg_line_fit_samples_finish(&samples);
	}
}
END_TEST

/* Guest addresses of both halves, in their order; the image's own pass 2^64 among them.
 */
START_TEST(far_away)
{
	const uint64_t high = UINT64_C(0xffff800000000000);
	const struct {
		uint64_t base, ip[6];
	} far[] = {
		{0, {FIRST, FIRST + 4, FIRST + 8, high + FIRST, high + 0x1000000, -8ULL}},
		{0, {high, high + 4, high + 8, high + 12, high + 16, -8ULL}},
		{high, {4, FIRST, high - 8, high + FIRST, high + FIRST + 4, -8ULL}},
		{high, {4, 8, 12, 16, FIRST, FIRST + 4}},
		{1ULL << 63, {4, FIRST, high + FIRST, high + FIRST + 4, -16ULL, -8ULL}},
	};

	for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
		struct hlg_line_fit_samples samples;
		double all;

		for (n = 0; n < 6; n++)
			addrs[n] = (struct hlg_sampled){far[i].ip[n], 1 + n};
		ck_assert(hlg_line_fit_score(fit, addrs, n, -far[i].base, &all, NULL));
		ck_assert(hlg_line_fit_samples_begin(&samples, fit, addrs, n,
						     -far[i].base));
		for (size_t k = 1; k < n; k++)
			ck_assert_int_le(samples.word[k - 1], samples.word[k]);
		ck_assert_uint_lt(samples.n_words, 4 * HLG_LINE_FIT_FAR);
		ck_assert(fabs(hlg_line_fit_part(fit, &samples, 0, n, 0,
						 -(double)INFINITY) -
			       all) < 1e-9);
		hlg_line_fit_samples_finish(&samples);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("line fit");
	TCase *tc = tap_case(suite, "line fit");

	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_checked_fixture(tc, setup, code_close_all);
	tcase_add_test(tc, an_even_line_is_worth_more);
	tcase_add_test(tc, lines_that_lead_to_each_other);
	tcase_add_test(tc, where_nothing_runs);
	tcase_add_test(tc, moved);
	tcase_add_test(tc, parts);
	tcase_add_test(tc, far_away);
	return tap_main(suite);
}
