// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that bases are found from sampled addresses. Over hundreds of trials with fixed
 * seeds, on real guests, the C library and code written here: 200 boundaries find the
 * right base and no other, wherever it is; few the right one or none. Several guests in
 * one set are all found.
 */
#include "symtab/code/base-find.h"

#include <elf.h>
#include <math.h>

#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"
#include "tests/unit/symtab/finding.h"

static uint64_t size_of(const struct sampling *s)
{
	return s->image->end - s->image->first;
}

/* All of the set are boundaries at this base. */
static void check_whole(const struct hlg_fit *fit, uint64_t base, size_t n)
{
	ck_assert_uint_eq(fit->base, base);
	ck_assert_uint_eq(fit->on, n);
	ck_assert_uint_eq(fit->off, 0);
	ck_assert_uint_eq(fit->unknown, 0);
	ck_assert_uint_eq(fit->on_samples, fit->samples);
	ck_assert_uint_eq(fit->off_samples, 0);
	ck_assert_double_gt(fit->score, 0);
}

static void expect_one(uint64_t base)
{
	finding_run();
	ck_assert_uint_eq(finding_found.n, 1);
	check_whole(&finding_found.fits[0], base, finding_set.n);
	if (finding_found.rival.on) {
		ck_assert_uint_ne(finding_found.rival.base, base);
		ck_assert_double_lt(finding_found.rival.score + log(1000),
				    finding_found.fits[0].score);
	}
}

START_TEST(two_hundred_find_the_base)
{
	uint64_t random = (uint64_t)_i;

	if (!sampling_guest(&finding_guest, _i))
		return;
	for (int i = 0; i < 50; i++) {
		uint64_t base = finding_base(&random);

		sampled_finish(&finding_set);
		finding_draw(200, base, &random);
		expect_one(base);
	}
}
END_TEST

START_TEST(bases_at_the_limits)
{
	uint64_t random = 3, size, bases[5];

	if (!sampling_guest(&finding_guest, _i))
		return;
	size = (size_of(&finding_guest) + 0xfff) & ~UINT64_C(0xfff);
	bases[0] = 0;
	bases[1] = 0x1000;
	bases[2] = (UINT64_C(1) << 47) - size;
	bases[3] = (UINT64_C(1) << 63) - size / 2 / 4096 * 4096;
	bases[4] = -size;
	for (int i = 0; i < 5; i++) {
		sampled_finish(&finding_set);
		finding_draw(200, bases[i], &random);
		expect_one(bases[i]);
	}
}
END_TEST

/* The whole range of what may be too few: never a base that is wrong. */
START_TEST(few_find_it_or_nothing)
{
	uint64_t random = 100 + (uint64_t)_i;
	int right = 0;

	if (!sampling_guest(&finding_guest, _i))
		return;
	for (int i = 0; i < 300; i++) {
		uint64_t base = finding_base(&random);

		sampled_finish(&finding_set);
		finding_draw(5 + (size_t)i % 30, base, &random);
		finding_run();
		ck_assert_uint_le(finding_found.n, 1);
		if (finding_found.n)
			check_whole(&finding_found.fits[0], base, finding_set.n);
		if (finding_set.n < 8)
			finding_expect_none();
		right += finding_found.n == 1;
	}
	if (_i)
		ck_assert_int_gt(right, 30); /* some do suffice */
}
END_TEST

/* One in twenty is of something else: the right base all the same. */
START_TEST(some_strangers_do_no_harm)
{
	uint64_t random = 200 + (uint64_t)_i;

	if (!sampling_guest(&finding_guest, _i) || _i == 0)
		return;
	for (int i = 0; i < 20; i++) {
		uint64_t base = finding_base(&random);

		sampled_finish(&finding_set);
		finding_draw(200, base, &random);
		for (int k = 0; k < 10; k++)
			sampled_add(
				&finding_set,
				base + sampling_random(&random, size_of(&finding_guest)),
				1);
		finding_run();
		ck_assert_uint_eq(finding_found.n, 1);
		ck_assert_uint_eq(finding_found.fits[0].base, base);
		ck_assert_uint_ge(finding_found.fits[0].on, 200);
		ck_assert_uint_eq(finding_found.fits[0].on + finding_found.fits[0].off +
					  finding_found.fits[0].unknown,
				  finding_set.n);
	}
}
END_TEST

/* Guests side by side, of equal weight, or far apart, of different. */
static void several(int n, bool near, uint64_t seed)
{
	uint64_t random = seed, base[8], last = 0x7000;
	size_t count[8];
	uint64_t step = (size_of(&finding_guest) + 0xfff) & ~UINT64_C(0xfff);

	for (int i = 0; i < n; i++) {
		count[i] = near ? 200 : 200 + 10 * (size_t)i;
		last += step +
			(near ? 0 : sampling_random(&random, UINT64_C(1) << 30) << 12);
		base[i] = last;
		finding_draw(count[i], base[i], &random);
	}
	finding_run();
	ck_assert_uint_eq(finding_found.n, n);
	for (int i = 0; i < n; i++) {
		int k = 0;

		while (k < n && base[k] != finding_found.fits[i].base)
			k++;
		ck_assert_msg(k < n, "0x%jx is none",
			      (uintmax_t)finding_found.fits[i].base);
		check_whole(&finding_found.fits[i], base[k], count[k]);
		base[k] = UINT64_MAX; /* once only */
		if (i)
			ck_assert_uint_ge(finding_found.fits[i - 1].samples,
					  finding_found.fits[i].samples);
	}
}

START_TEST(several_guests_are_all_found)
{
	if (!sampling_guest(&finding_guest, _i / 4) || _i / 4 == 0)
		return;
	several(_i % 2 ? 8 : 2, _i / 2 % 2, (uint64_t)_i);
}
END_TEST

/* Equal weight: the lower base comes first. */
START_TEST(equal_fits_lie_by_base)
{
	uint64_t random = 1;

	if (!sampling_guest(&finding_guest, 2))
		return;
	for (int i = 0; i < 3; i++)
		finding_draw(150, (uint64_t[]){0x9000000, 0x4000, 0x5000000}[i], &random);
	for (size_t i = 0; i < finding_set.n; i++)
		finding_set.at[i].samples = 7;
	finding_run();
	ck_assert_uint_eq(finding_found.n, 3);
	ck_assert_uint_eq(finding_found.fits[0].base, 0x4000);
	ck_assert_uint_eq(finding_found.fits[1].base, 0x5000000);
	ck_assert_uint_eq(finding_found.fits[2].base, 0x9000000);
}
END_TEST

/* The caller's list is only read. */
START_TEST(input_stays)
{
	struct sampled_set copy = {0};
	uint64_t random = 9;

	ck_assert(sampling_guest(&finding_guest, 0));
	finding_draw(300, 0x4000, &random);
	finding_draw(300, 0x40000000, &random);
	sampled_sort(&finding_set);
	for (size_t i = 0; i < finding_set.n; i++)
		sampled_add(&copy, finding_set.at[i].ip, finding_set.at[i].samples);
	finding_run();
	ck_assert_mem_eq(copy.at, finding_set.at,
			 finding_set.n * sizeof(*finding_set.at));
	sampled_finish(&copy);
}
END_TEST

/* Also if the higher one, having more addresses, was found first; the runner-up is that
 * of the lower, as it is without the other. */
START_TEST(equal_neighbours_lie_by_base)
{
	uint64_t random = 1, next, rival;
	size_t n;

	if (!sampling_guest(&finding_guest, 1))
		return;
	next = 0x4000 + ((size_of(&finding_guest) + 0xfff) & ~UINT64_C(0xfff));
	finding_draw(150, 0x4000, &random);
	n = finding_set.n;
	finding_draw(300, next, &random);
	for (size_t i = 0; i < finding_set.n; i++)
		finding_set.at[i].samples = i < n ? 14 : 7;
	finding_run();
	ck_assert_uint_eq(finding_found.n, 2);
	check_whole(&finding_found.fits[0], 0x4000, 150);
	check_whole(&finding_found.fits[1], next, 300);
	ck_assert_uint_eq(finding_found.fits[0].samples, finding_found.fits[1].samples);
	rival = finding_found.rival.base;
	while (finding_set.n && finding_set.at[finding_set.n - 1].ip >= next)
		finding_set.n--;
	finding_run();
	ck_assert_uint_eq(finding_found.n, 1);
	ck_assert_uint_ne(finding_found.rival.on, 0);
	ck_assert_uint_eq(finding_found.rival.base, rival);
}
END_TEST

/* Two cannot be at one place: the stronger is told, the other's rest is not, and hides
 * none behind it. */
START_TEST(fits_do_not_overlap)
{
	uint64_t random = 5, half, behind;
	size_t upper = 0;

	if (!sampling_guest(&finding_guest, 1))
		return;
	half = size_of(&finding_guest) / 2 & ~UINT64_C(0xfff);
	finding_draw(300, 0x40000000, &random);
	while (upper < finding_guest.n_on &&
	       finding_guest.on[upper] - finding_guest.image->first <
		       size_of(&finding_guest) - half)
		upper++;
	ck_assert_uint_gt(finding_guest.n_on - upper, 120);
	sampled_draw(&finding_set, finding_guest.on + upper, finding_guest.n_on - upper,
		     120, 0x40000000 + half - finding_guest.image->first, &random);
	behind = 0x40000000 + half +
		 ((size_of(&finding_guest) + 0xfff) & ~UINT64_C(0xfff));
	finding_draw(60, behind, &random);
	finding_run();
	ck_assert_uint_eq(finding_found.n, 2);
	check_whole(&finding_found.fits[0], 0x40000000, 300);
	check_whole(&finding_found.fits[1], behind, 60);
	ck_assert_uint_eq(finding_found.best.base, 0x40000000 + half);
}
END_TEST

/* Not the first addresses only are asked: more than half of a thousand may be noise. */
START_TEST(all_addresses_have_a_voice)
{
	uint64_t random = 6, size;

	if (!sampling_guest(&finding_guest, 1))
		return;
	size = size_of(&finding_guest);
	finding_draw(1500, 0x40000000, &random);
	for (int i = 0; i < 600; i++)
		sampled_add(&finding_set, 0x40000000 - 1 - sampling_random(&random, size),
			    1);
	finding_run();
	ck_assert_uint_eq(finding_found.n, 1);
	check_whole(&finding_found.fits[0], 0x40000000, 1500);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("base-find");
	TCase *tc = tap_case(suite, "base-find");

	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_checked_fixture(tc, finding_setup, finding_teardown);
	tcase_add_loop_test(tc, two_hundred_find_the_base, 0, SAMPLING_GUESTS);
	tcase_add_loop_test(tc, bases_at_the_limits, 0, SAMPLING_GUESTS);
	tcase_add_loop_test(tc, few_find_it_or_nothing, 0, SAMPLING_GUESTS);
	tcase_add_loop_test(tc, some_strangers_do_no_harm, 0, SAMPLING_GUESTS);
	tcase_add_loop_test(tc, several_guests_are_all_found, 0, 4 * SAMPLING_GUESTS);
	tcase_add_test(tc, equal_fits_lie_by_base);
	tcase_add_test(tc, equal_neighbours_lie_by_base);
	tcase_add_test(tc, fits_do_not_overlap);
	tcase_add_test(tc, all_addresses_have_a_voice);
	tcase_add_test(tc, input_stays);
	return tap_main(suite);
}
