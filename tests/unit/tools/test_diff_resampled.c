// SPDX-License-Identifier: GPL-2.0-only
/*
 * What hlguest diff calls significant, where it is known what there is to find.
 *
 * All recordings are drawn from a real one (resample.h), so that two of them differ by
 * chance alone, or by what was done to one function. Proved: of recordings that do not
 * differ, no row is called significant more often than in 5 % of 200 pairs, whatever the
 * periods, and any row at all about as seldom; the test alone holds its level for every
 * row; the interval covers. A function that got slower by 20 % is found every time at
 * 20,000 samples. Where recordings of one thing differ by more than their samples, three
 * of a side and more keep the level, and samples alone do not: that is what they are for.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/kit/tap.h"
#include "tests/unit/tools/resample.h"
#include "tools/diff/diff.h"

enum {
	TRIALS = 200,
	MOST = 10, /* 5 % of them */
	MOST_RUNS = 5,
	MOST_ROWS = 64,
	SAMPLES = 20000
};

/* What came of many comparisons of the same kind. */
struct tally {
	char name[MOST_ROWS][64];
	int significant[MOST_ROWS], rejected[MOST_ROWS], missed[MOST_ROWS];
	double share[MOST_ROWS]; /* the sum of those before */
	int rows, trials, any;
};

static struct resample data;

static void setup(void)
{
	resample_init(&data, DATA "/demo.elf", DATA "/demo-user.data");
}

static void teardown(void)
{
	resample_finish(&data);
}

struct drawn {
	struct hlg_profile all, runs[MOST_RUNS];
};

static void draw(struct drawn *d, struct hlg_diff_side *side, int n,
		 const struct resample_how *how)
{
	static char *paths[MOST_RUNS];
	static uint64_t ones[MOST_RUNS];

	ck_assert(hlg_profile_init(&d->all, &data.run.options));
	for (int i = 0; i < n; i++) {
		ck_assert(hlg_profile_init(&d->runs[i], &data.run.options));
		resample_draw(&data, how, &d->runs[i]);
		hlg_profile_merge(&d->all, &d->runs[i]);
		ones[i] = 1;
	}
	side->options = &data.run.options;
	side->space = &data.run.space;
	side->profile = &d->all;
	side->runs = d->runs;
	side->paths = paths;
	side->of = ones;
	side->n_runs = (size_t)n;
}

static void finish(struct drawn *d, int n)
{
	for (int i = 0; i < n; i++)
		hlg_profile_finish(&d->runs[i]);
	hlg_profile_finish(&d->all);
}

static int slot(struct tally *t, const char *name)
{
	int i = 0;

	while (i < t->rows && strncmp(t->name[i], name, sizeof(t->name[i]) - 1) != 0)
		i++;
	if (i == t->rows) {
		ck_assert_int_lt(t->rows, MOST_ROWS);
		snprintf(t->name[t->rows++], sizeof(t->name[0]), "%s", name);
	}
	return i;
}

static void count(struct tally *t, const struct hlg_diff *diff)
{
	t->trials++;
	t->any += diff->functions.n_significant > 0;
	for (size_t i = 0; i < diff->functions.n; i++) {
		const struct hlg_diff_row *row = &diff->functions.row[i];
		int k = slot(t, hlg_diff_name(row));

		t->share[k] += row->share[0].share;
		t->significant[k] += row->significant;
		t->rejected[k] += row->compared.p <= 0.05;
		t->missed[k] += row->compared.low > 0 || row->compared.high < 0;
	}
}

static void compare(struct tally *t, int trials, int n_before,
		    const struct resample_how *before, int n_after,
		    const struct resample_how *after)
{
	memset(t, 0, sizeof(*t));
	for (int i = 0; i < trials; i++) {
		struct hlg_diff diff = {0};
		struct drawn a, b;
		struct hlg_err err;

		draw(&a, &diff.side[0], n_before, before);
		draw(&b, &diff.side[1], n_after, after);
		ck_assert_msg(hlg_diff_build(&diff, &err) == 0, "%s", err.msg);
		ck_assert(!diff.withheld);
		count(t, &diff);
		hlg_diff_finish(&diff);
		finish(&a, n_before);
		finish(&b, n_after);
	}
}

/* The most of what can be by chance in so many trials: four standard deviations. */
static double at_most(int trials, double level)
{
	return trials * level + 4 * sqrt(trials * level * (1 - level));
}

/* Rows of a smaller share than least need only keep the level of the table. */
static void check_level(const struct tally *t, double least)
{
	ck_assert_int_gt(t->rows, 10);
	ck_assert_double_le(t->any, at_most(t->trials, 0.05));
	for (int i = 0; i < t->rows; i++) {
		ck_assert_msg(t->significant[i] <= t->trials / (TRIALS / MOST),
			      "%s: significant %d times of %d", t->name[i],
			      t->significant[i], t->trials);
		if (t->share[i] / t->trials < least)
			continue;
		ck_assert_msg(t->rejected[i] <= at_most(t->trials, 0.05),
			      "%s: rejected %d times of %d", t->name[i], t->rejected[i],
			      t->trials);
		ck_assert_msg(t->missed[i] <= at_most(t->trials, 0.05),
			      "%s: the interval misses %d times of %d", t->name[i],
			      t->missed[i], t->trials);
	}
}

static void print(const char *what, const struct tally *t)
{
	int most = 0, rejected = 0;

	for (int i = 0; i < t->rows; i++) {
		most = t->significant[i] > most ? t->significant[i] : most;
		rejected = t->rejected[i] > rejected ? t->rejected[i] : rejected;
	}
	printf("# %s: of %d pairs %d with a significant row, one row at most %d times; "
	       "p <= 0.05 at most %d times\n",
	       what, t->trials, t->any, most, rejected);
	fflush(stdout);
}

static int found(const struct tally *t, const char *name)
{
	for (int i = 0; i < t->rows; i++)
		if (strcmp(t->name[i], name) == 0)
			return t->significant[i];
	return 0;
}

START_TEST(nothing_changed)
{
	const struct resample_how same = {.samples = SAMPLES};
	struct tally t;

	compare(&t, TRIALS, 1, &same, 1, &same);
	print("equal periods", &t);
	check_level(&t, 0);
}
END_TEST

/* A short recording and a long one: some rows have few samples or none. */
START_TEST(nothing_changed_of_few)
{
	const struct resample_how few = {.samples = 400}, many = {.samples = 3000};
	struct tally t;

	compare(&t, 10 * TRIALS, 1, &few, 1, &many);
	print("few samples", &t);
	check_level(&t, 0);
}
END_TEST

START_TEST(nothing_changed_of_unequal_periods)
{
	const struct resample_how same = {.samples = 5000, .unequal = true};
	struct tally t;

	compare(&t, 4 * TRIALS, 1, &same, 1, &same);
	print("unequal periods", &t);
	check_level(&t, 0);
}
END_TEST

START_TEST(slower_by_a_fifth)
{
	const struct resample_how same = {.samples = SAMPLES};
	const struct resample_how slow = {
		.samples = SAMPLES, .slow = "hash_block", .by = 1.2};
	struct tally t;

	compare(&t, TRIALS, 1, &same, 1, &slow);
	print("hash_block slower by 20 %", &t);
	ck_assert_int_eq(found(&t, "hash_block"), TRIALS);
}
END_TEST

/* A tenth of the time: chance hides it once in some hundred times. */
START_TEST(slower_and_small)
{
	const struct resample_how same = {.samples = SAMPLES};
	const struct resample_how slow = {
		.samples = SAMPLES, .slow = "sort_keys", .by = 1.2};
	struct tally t;

	compare(&t, TRIALS, 1, &same, 1, &slow);
	print("sort_keys slower by 20 %", &t);
	ck_assert_int_ge(found(&t, "sort_keys"), TRIALS - 8);
}
END_TEST

/* Recordings whose shares differ ten times as much as samples can. */
static const struct resample_how wild = {.samples = 2000, .concentration = 200};

START_TEST(runs_keep_the_level)
{
	static const int sides[][2] = {{3, 3}, {5, 3}, {1, 3}, {4, 2}};

	for (int i = 0; i < 4; i++) {
		struct tally t;
		char what[64];

		compare(&t, TRIALS, sides[i][0], &wild, sides[i][1], &wild);
		snprintf(what, sizeof(what), "overdispersed, %d and %d recordings",
			 sides[i][0], sides[i][1]);
		print(what, &t);
		/* Below, a few recordings that happen to agree say little: such rows have
		 * fewer samples than the concentration would have, and are most often 0.
		 */
		check_level(&t, 0.02);
	}
}
END_TEST

/* One function that takes more or less from one recording to the next, the rest not. */
START_TEST(runs_of_one_restless_function)
{
	const struct resample_how swings = {
		.samples = 2000, .slow = "hash_block", .by = 1, .swing = 1.3};
	struct tally t;

	compare(&t, 2 * TRIALS, 3, &swings, 3, &swings);
	print("one restless function, 3 and 3 recordings", &t);
	ck_assert_int_le(found(&t, "hash_block"), 2 * MOST);
}
END_TEST

/* Where only samples vary, too. */
START_TEST(runs_of_samples_only)
{
	const struct resample_how same = {.samples = 2000};
	struct tally t;

	compare(&t, 2 * TRIALS, 3, &same, 3, &same);
	print("3 and 3 recordings", &t);
	check_level(&t, 0);
}
END_TEST

/* The same recordings, two of a side: this is why three are asked for. */
START_TEST(samples_alone_do_not)
{
	struct tally t;

	compare(&t, TRIALS, 2, &wild, 2, &wild);
	print("overdispersed, samples alone", &t);
	ck_assert_int_gt(t.any, TRIALS / 2);
}
END_TEST

START_TEST(runs_find_it)
{
	const struct resample_how same = {.samples = SAMPLES};
	const struct resample_how slow = {
		.samples = SAMPLES, .slow = "hash_block", .by = 1.2};
	struct tally t;

	compare(&t, TRIALS / 4, 3, &same, 3, &slow);
	print("hash_block slower by 20 %, 3 and 3 recordings", &t);
	/* Four degrees of freedom are few for one of 23 rows. */
	ck_assert_int_ge(found(&t, "hash_block"), TRIALS / 4 * 8 / 10);
	compare(&t, TRIALS / 4, 5, &same, 5, &slow);
	print("hash_block slower by 20 %, 5 and 5 recordings", &t);
	ck_assert_int_eq(found(&t, "hash_block"), TRIALS / 4);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("resampled");
	TCase *tc = tap_case(suite, "samples");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, nothing_changed);
	tcase_add_test(tc, nothing_changed_of_few);
	tcase_add_test(tc, nothing_changed_of_unequal_periods);
	tcase_add_test(tc, slower_by_a_fifth);
	tcase_add_test(tc, slower_and_small);
	tc = tap_case(suite, "runs");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, runs_keep_the_level);
	tcase_add_test(tc, runs_of_one_restless_function);
	tcase_add_test(tc, runs_of_samples_only);
	tcase_add_test(tc, samples_alone_do_not);
	tcase_add_test(tc, runs_find_it);
	return tap_main(suite);
}
