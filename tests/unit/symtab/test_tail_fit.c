// SPDX-License-Identifier: GPL-2.0-only
/*
 * Another build is found by its tail: boundaries of real guests, and of code written
 * here, from an address on moved by random distances. What has not moved, and what no
 * code explains, is not found.
 */
#include "symtab/code/tail-fit.h"

#include <string.h>

#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"
#include "tests/unit/symtab/finding.h"

enum {
	TRIALS = 15,
	SAMPLED = 200,
	MANY = 9000, /* of which not all are tried */
	FARTHEST = 8192
};

static struct hlg_tail tail;

static void fit(void)
{
	sampled_sort(&finding_set);
	ck_assert(hlg_tail_fit(&tail, finding_guest.code, finding_guest.image,
			       finding_set.at, finding_set.n));
}

/* n own boundaries of the guest, in order. */
static void draw(size_t n, uint64_t *random)
{
	sampled_finish(&finding_set);
	finding_draw(n, finding_guest.image->first, random);
	sampled_sort(&finding_set);
}

/* How many of the set lie from one to another. */
static size_t between(uint64_t a, uint64_t b)
{
	size_t n = 0;

	for (size_t i = 0; i < finding_set.n; i++)
		n += finding_set.at[i].ip >= (a < b ? a : b) &&
		     finding_set.at[i].ip < (a < b ? b : a);
	return n;
}

START_TEST(a_tail_that_has_moved_is_found)
{
	uint64_t random = (uint64_t)_i;

	if (!sampling_guest(&finding_guest, _i))
		return;
	for (int i = 0; i < TRIALS; i++) {
		int64_t by = 1 + (int64_t)sampling_random(&random, FARTHEST);
		uint64_t last, from;
		size_t first;

		draw(i ? SAMPLED : MANY, &random);
		/* From the third on, so that there is no other explanation: a base. */
		first = 2 + sampling_random(&random, finding_set.n - 42);
		/* Where it moves down, nothing of it may come to lie in front. */
		if (i % 2 && finding_set.at[first].ip - finding_set.at[first - 1].ip >
				     (uint64_t)by)
			by = -by;
		last = finding_set.at[first - 1].ip;
		for (size_t k = first; k < finding_set.n; k++)
			finding_set.at[k].ip += (uint64_t)by;
		from = finding_set.at[first].ip;
		fit();
		ck_assert_int_eq(tail.shift, -by);
		/* A few next to it may be boundaries both ways. */
		ck_assert_uint_le(between(tail.from, from), 12);
		ck_assert_uint_le(between(tail.last, last), 12);
	}
}
END_TEST

START_TEST(nothing_has_moved)
{
	uint64_t random = (uint64_t)_i;

	if (!sampling_guest(&finding_guest, _i))
		return;
	for (int i = 0; i < TRIALS; i++) {
		draw(SAMPLED, &random);
		fit();
		ck_assert_int_eq(tail.shift, 0);
		sampled_finish(&finding_set);
		for (size_t k = 0; k < SAMPLED; k++)
			sampled_add(&finding_set,
				    finding_guest.image->first +
					    sampling_random(
						    &random,
						    finding_guest.image->end -
							    finding_guest.image->first),
				    1);
		fit();
		ck_assert_int_eq(tail.shift, 0);
	}
	sampled_finish(&finding_set);
	fit();
	ck_assert_int_eq(tail.shift, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tail");
	TCase *tc = tap_case(suite, "tail");

	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_checked_fixture(tc, finding_setup, finding_teardown);
	tcase_add_loop_test(tc, a_tail_that_has_moved_is_found, 0, SAMPLING_GUESTS);
	tcase_add_loop_test(tc, nothing_has_moved, 0, SAMPLING_GUESTS);
	return tap_main(suite);
}
