// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that no base is made up, over hundreds of trials with fixed seeds: addresses at
 * random inside of functions, of another program, at a base that is between pages, of
 * code that any base fits, of one hot loop, and the smallest inputs find nothing.
 */
#include "symtab/code/base-find.h"

#include <elf.h>

#include "config.h"
#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"
#include "tests/unit/symtab/finding.h"

static void expect_none(void)
{
	finding_run();
	finding_expect_none();
}

START_TEST(random_addresses_find_nothing)
{
	uint64_t random = 300 + (uint64_t)_i;

	if (!sampling_guest(&finding_guest, _i) ||
	    _i == 0) /* any word is one of AArch64 */
		return;
	for (int i = 0; i < (_i == 4 ? 20 : 60); i++) {
		sampled_finish(&finding_set);
		sampled_draw(&finding_set, finding_guest.covered, finding_guest.n_covered,
			     10 + (size_t)i * 37 % 1000,
			     finding_base(&random) - finding_guest.image->first, &random);
		expect_none();
	}
}
END_TEST

/* What another program's boundaries look like. */
START_TEST(other_programs_find_nothing)
{
	uint64_t random = 400 + (uint64_t)_i;
	int mine = 1 + _i / 4, others = 1 + _i % 4;
	struct sampling other;

	if (mine != others && sampling_guest(&finding_guest, mine) &&
	    sampling_guest(&other, others)) {
		for (int i = 0; i < 20; i++) {
			sampled_finish(&finding_set);
			sampled_draw(&finding_set, other.on, other.n_on,
				     20 + (size_t)i * 50,
				     finding_base(&random) - other.image->first, &random);
			expect_none();
		}
		sampling_finish(&other);
	}
}
END_TEST

/* Bases are multiples of a page: one that is not is no base at all. */
START_TEST(bases_between_pages_are_none)
{
	uint64_t random = 500 + (uint64_t)_i;

	if (!sampling_guest(&finding_guest, _i) || _i == 0)
		return;
	for (int i = 0; i < 25; i++) {
		sampled_finish(&finding_set);
		finding_draw(200,
			     finding_base(&random) + 1 + sampling_random(&random, 4095),
			     &random);
		expect_none();
	}
}
END_TEST

/* Every address of it is a boundary, so no address says anything. */
START_TEST(one_byte_instructions_find_nothing)
{
	uint64_t random = 1;

	if (!sampling_open(&finding_guest,
			   sampling_write("nops", EM_X86_64, 0, SAMPLING_CODE, 1)))
		return;
	ck_assert_uint_eq(finding_guest.n_on, SAMPLING_CODE);
	finding_draw(3000, 0x4000, &random);
	expect_none();
}
END_TEST

/* AArch64 from the middle only: each base nearby fits as well, so none is told. */
START_TEST(ties_are_not_decided)
{
	if (!HLG_HAVE_ZYDIS)
		return;
	ck_assert(sampling_open(&finding_guest,
				sampling_write("words", EM_X86_64, 0, SAMPLING_CODE, 4)));
	for (uint64_t i = 0; i < 500; i++)
		sampled_add(&finding_set, 0x10000000 + SAMPLING_CODE / 2 + 4 * i, 1);
	expect_none();
	ck_assert_uint_eq(finding_found.best.on, 500);
	ck_assert_double_gt(finding_found.best.score, 0);
}
END_TEST

START_TEST(nothing_finds_nothing)
{
	if (!sampling_guest(&finding_guest, 0))
		return;
	expect_none();
	ck_assert_uint_eq(finding_found.best.on, 0);
	ck_assert(hlg_base_find_all(finding_guest.code, finding_guest.image, NULL, 0,
				    &finding_found));
	finding_expect_none();
	sampled_add(&finding_set, 0x4000, 1000000);
	expect_none();
	sampled_add(&finding_set, 0, 1);
	sampled_add(&finding_set, UINT64_MAX, 1);
	expect_none();
}
END_TEST

/* Each address once, whatever its samples are. */
START_TEST(samples_are_no_evidence)
{
	if (!sampling_guest(&finding_guest, 2))
		return;
	for (size_t i = 0; i < 5; i++)
		sampled_add(&finding_set,
			    finding_guest.on[i * 50] + 0x4000 -
				    finding_guest.image->first,
			    1000000);
	expect_none();
}
END_TEST

/* On AArch64 every base has all addresses on boundaries, if nothing is padding. */
START_TEST(instructions_of_one_length_tell_nothing)
{
	uint64_t random = 5;

	ck_assert(
		sampling_open(&finding_guest, sampling_write("a64", EM_AARCH64, 0x400000,
							     SAMPLING_CODE, 0)));
	sampled_draw(&finding_set, finding_guest.on, finding_guest.n_on, 200,
		     0x7000 - finding_guest.image->first, &random);
	expect_none();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("base-find-none");
	TCase *tc = tap_case(suite, "base-find-none");

	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_checked_fixture(tc, finding_setup, finding_teardown);
	tcase_add_loop_test(tc, random_addresses_find_nothing, 0, SAMPLING_GUESTS);
	tcase_add_loop_test(tc, other_programs_find_nothing, 0, 16);
	tcase_add_loop_test(tc, bases_between_pages_are_none, 0, SAMPLING_GUESTS);
	tcase_add_test(tc, one_byte_instructions_find_nothing);
	tcase_add_test(tc, instructions_of_one_length_tell_nothing);
	tcase_add_test(tc, ties_are_not_decided);
	tcase_add_test(tc, nothing_finds_nothing);
	tcase_add_test(tc, samples_are_no_evidence);
	return tap_main(suite);
}
