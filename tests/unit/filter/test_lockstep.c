// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guests with a clock of their own, sampled by another: in step, every k-th sample is
 * told to be alike, also where times waver and samples are missing or only some are
 * looked at; of clocks that are no simple part of each other, of guests with phases, and
 * of independent samples nothing is told.
 */
#include "filter/stats/lockstep.h"

#include "tests/kit/filter.h"
#include "tests/kit/tap.h"

enum {
	ROWS = 4,
	MOST = 48000,
	PERIOD = 1000000,
	WAVERS = PERIOD / 20
};

static uint64_t times[MOST];
static uint32_t rows[MOST];

/* 40, 30, 20 and 10 % of a cycle. */
static uint32_t row_at(uint64_t time, uint64_t cycle)
{
	const uint64_t tenth = time % cycle * 10 / cycle;

	return tenth < 4 ? 0 : tenth < 7 ? 1 : tenth < 9 ? 2 : 3;
}

/* A sample each period, one of so many of which is kept; a tenth are of any row. */
static size_t sample(uint64_t cycle, unsigned one_of, uint64_t *random)
{
	size_t n = 0;

	for (uint64_t tick = 0; tick < MOST; tick++) {
		const uint64_t at = (tick + 5) * PERIOD + PERIOD / 3;

		if (kit_random(random, one_of))
			continue;
		times[n] = at + kit_random(random, WAVERS);
		rows[n++] = kit_random(random, 10)
				    ? row_at(at, cycle)
				    : (uint32_t)kit_random(random, ROWS + 1);
	}
	return n;
}

static unsigned find(size_t n)
{
	unsigned every = 1;

	ck_assert(hlg_lockstep_find(&every, times, rows, n, ROWS, PERIOD));
	return every;
}

START_TEST(in_step)
{
	static const struct {
		uint64_t cycle; /* in tenths of the period */
		unsigned every;
	} clocks[] = {{30, 3}, {40, 4}, {100, 10}, {160, 16}, {500, 50},
		      {25, 5}, {15, 3}, {2, 0},    {10, 0}};
	uint64_t random = 1;

	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++)
		for (unsigned one_of = 1; one_of <= 4; one_of += 3)
			ck_assert_uint_eq(find(sample(clocks[i].cycle * PERIOD / 10,
						      one_of, &random)),
					  clocks[i].every);
}
END_TEST

START_TEST(out_of_step)
{
	static const uint64_t cycles[] = {997000,   4030000,  9973000,
					  16180340, 41234567, 333333333};
	uint64_t random = 2;

	for (size_t i = 0; i < sizeof(cycles) / sizeof(*cycles); i++)
		ck_assert_uint_eq(find(sample(cycles[i], 1, &random)), 0);
}
END_TEST

/* Of phases of 1, that is none, to 900 samples. */
START_TEST(no_clock)
{
	uint64_t random = 3;

	for (unsigned length = 1; length < 1000; length = length * 3 / 2 + 1)
		for (int i = 0; i < 20; i++) {
			const size_t n = 100 + kit_random(&random, 4000);
			uint64_t left = 0;

			for (size_t k = 0; k < n; k++, left--) {
				if (left == 0)
					left = 1 + kit_random(&random, 2 * length - 1);
				times[k] = k * PERIOD + kit_random(&random, WAVERS);
				rows[k] = k && left > 1
						  ? rows[k - 1]
						  : (uint32_t)kit_random(&random, ROWS);
			}
			ck_assert_uint_eq(find(n), 0);
		}
}
END_TEST

/* What is nearly in step has moved on when the recording ends. */
START_TEST(moves)
{
	const uint64_t cycle = 10 * PERIOD;
	uint64_t random = 5;

	ck_assert_uint_eq(find(sample(cycle, 1, &random)), 10);
	for (size_t i = MOST / 5 * 3; i < MOST; i++)
		rows[i] = row_at((i + 3) * PERIOD + PERIOD / 3, cycle);
	ck_assert_uint_eq(find(MOST), 0);
}
END_TEST

/* Rows of few samples each are looked at as one. */
START_TEST(few_of_each_row)
{
	enum {
		SAMPLES = 2000,
		MANY = 100
	};
	uint64_t random = 6;
	unsigned every = 0;

	for (size_t i = 0; i < SAMPLES; i++) {
		times[i] = i * PERIOD + kit_random(&random, WAVERS);
		rows[i] = i % 4 < 2 ? 0 : 1 + (uint32_t)kit_random(&random, MANY);
	}
	ck_assert(hlg_lockstep_find(&every, times, rows, SAMPLES, MANY + 1, PERIOD));
	ck_assert_uint_eq(every, 4);
}
END_TEST

START_TEST(too_little)
{
	uint64_t random = 4;
	unsigned every = 1;

	sample(4 * PERIOD, 1, &random);
	ck_assert_uint_eq(find(0), 0);
	ck_assert_uint_eq(find(1), 0);
	ck_assert_uint_eq(find(99), 0);
	ck_assert_uint_eq(find(1000), 4);
	ck_assert(hlg_lockstep_find(&every, times, rows, 1000, ROWS, 0));
	ck_assert_uint_eq(every, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lockstep");
	TCase *tc = tap_case(suite, "lockstep");

	tcase_add_test(tc, in_step);
	tcase_add_test(tc, out_of_step);
	tcase_add_test(tc, no_clock);
	tcase_add_test(tc, moves);
	tcase_add_test(tc, few_of_each_row);
	tcase_add_test(tc, too_little);
	return tap_main(suite);
}
