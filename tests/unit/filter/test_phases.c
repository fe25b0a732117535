// SPDX-License-Identifier: GPL-2.0-only
/*
 * Phases of guests made up. One that does the same all the time keeps its intervals; of
 * one that does one thing for some samples, and then another, its share in all time is
 * held by about 95 % of the intervals, where a binomial's hold a fifth; a row that is no
 * part of that is not made as wide; and to look at one of some samples makes no
 * difference.
 */
#include "filter/stats/phases.h"

#include <stdlib.h>

#include "filter/stats/interval.h"
#include "tests/kit/filter.h"
#include "tests/kit/tap.h"

enum {
	ROWS = 8,
	TRIALS = 300,
	MOST = 8000
};

/* A guest, and what is found of it. */
struct made {
	uint32_t of[MOST];
	size_t n;
	double samples[ROWS];
	struct hlg_phases phases;
};

static void add(struct made *m, size_t row, bool looked_at)
{
	m->samples[row]++;
	if (looked_at)
		m->of[m->n++] = (uint32_t)row;
}

static void find(struct made *m, unsigned halved)
{
	ck_assert(hlg_phases_find(&m->phases, m->of, m->n, ROWS, halved));
	ck_assert(m->phases.all >= 1);
	ck_assert(m->phases.rows || m->phases.all == 1);
}

/* Of rows 1 to ROWS the i-th is as common as i. */
static size_t draw(uint64_t *random)
{
	uint64_t at = kit_random(random, ROWS * (ROWS + 1) / 2);
	size_t row = 0;

	while (at >= row + 1)
		at -= ++row;
	return row;
}

/* What length samples in a row are of is drawn, and a third are of any. */
static void make(struct made *m, size_t n, size_t length, unsigned halved,
		 uint64_t *random)
{
	size_t row = 0;

	*m = (struct made){0};
	for (size_t i = 0; i < n; i++) {
		if (i % length == 0)
			row = draw(random);
		add(m, length > 1 && kit_random(random, 3) == 0 ? draw(random) : row,
		    kit_random(random, (uint64_t)1 << halved) == 0);
	}
	find(m, halved);
}

/* How many intervals hold the truth. */
static size_t held(const struct made *m, size_t n, bool phases)
{
	size_t sum = 0;

	for (size_t i = 0; i < ROWS; i++) {
		double truth = 2.0 * (double)(i + 1) / (ROWS * (ROWS + 1));
		struct hlg_share s = hlg_interval_wilson(
			m->samples[i] / (double)n,
			(double)n / (phases && m->phases.rows ? m->phases.rows[i] : 1));

		sum += s.low <= truth && truth <= s.high;
	}
	return sum;
}

START_TEST(steady)
{
	static const size_t numbers[] = {100, 170, 700, 6000};
	uint64_t random = (uint64_t)_i + 1;
	static struct made m;
	size_t found = 0;

	for (int i = 0; i < TRIALS; i++) {
		make(&m, numbers[_i], 1, 0, &random);
		found += m.phases.rows != NULL;
		hlg_phases_finish(&m.phases);
	}
	ck_assert_uint_le(found, 3); /* at 0.1 % 0.3 are expected */
}
END_TEST

/* Samples, of how many in a row, and how often one in 2^halved is looked at. */
START_TEST(phased)
{
	static const struct {
		size_t n, length;
		unsigned halved;
	} guests[] = {{6000, 60, 0}, {6000, 150, 0}, {600, 15, 0}, {60000, 1500, 3}};
	size_t n = guests[_i].n, without = 0, with = 0;
	uint64_t random = (uint64_t)_i + 1;
	static struct made m;

	for (int i = 0; i < TRIALS; i++) {
		make(&m, n, guests[_i].length, guests[_i].halved, &random);
		without += held(&m, n, false);
		with += held(&m, n, true);
		hlg_phases_finish(&m.phases);
	}
	printf("# %.1f %% without, %.1f %% with\n",
	       100.0 * (double)without / (TRIALS * ROWS),
	       100.0 * (double)with / (TRIALS * ROWS));
	ck_assert_uint_lt(without, TRIALS * ROWS * 6 / 10);
	ck_assert_uint_ge(with, TRIALS * ROWS * 90 / 100);
	ck_assert_uint_le(with, TRIALS * ROWS * 99 / 100);
}
END_TEST

/* Two rows take turns, the others are as they are all the time. */
START_TEST(only_some)
{
	uint64_t random = 1;
	static struct made m;

	m = (struct made){0};
	for (size_t i = 0; i < 6000; i++) {
		size_t row = kit_random(&random, ROWS);

		add(&m, row < 2 ? i / 700 % 2 : row, true);
	}
	find(&m, 0);
	ck_assert(m.phases.all > 2);
	for (size_t i = 2; i < ROWS; i++)
		ck_assert(m.phases.rows[i] < m.phases.rows[0] / 1.5);
	hlg_phases_finish(&m.phases);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("phases");
	TCase *tc = tap_case(suite, "phases");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, steady, 0, 4);
	tcase_add_loop_test(tc, phased, 0, 4);
	tcase_add_test(tc, only_some);
	return tap_main(suite);
}
