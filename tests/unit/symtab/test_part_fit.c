// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parts of samples on code for AArch64 that is made here, lines of many lengths of which
 * each runs as often as it likes: all bear out where they lie; none does where all have
 * moved, nor the last where the tail has; and what tells nothing bears out nothing.
 */
#include "symtab/code/part-fit.h"

#include "tests/kit/sampling.h"
#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"
#include "tests/unit/symtab/test_code_kit.h"

#define NOTHING UINT32_C(0xd503201f) /* nop */
#define RETURN  UINT32_C(0xd65f03c0)

enum {
	WORDS = 6000,
	LONGEST = 30,
	PARTS = 20
};

static uint32_t text[WORDS];
static struct hlg_sampled addrs[WORDS];
static size_t n;
static struct hlg_part_fit parts;

static void setup(void)
{
	const struct mkelf_sym sym = FUNC("all", 0, sizeof(text));
	uint64_t random = 1;

	for (size_t i = 0; i < WORDS; i++) {
		const uint64_t length = 3 + sampling_random(&random, LONGEST - 2);
		const uint64_t samples = UINT64_C(1) << sampling_random(&random, 9);

		for (uint64_t k = 0; k < length && i < WORDS; k++, i++) {
			text[i] = k + 1 < length ? NOTHING : RETURN;
			addrs[i] = (struct hlg_sampled){TEXT + 4 * i, samples};
		}
		i--;
	}
	n = WORDS;
	code_load_text(text, sizeof(text), EM_AARCH64, &sym, 1);
}

static void fit(uint64_t move)
{
	ck_assert(
		hlg_part_fit(&parts, hlg_line_fit_of(code, code_image), addrs, n, move));
	ck_assert_uint_le(parts.standing, parts.parts);
	ck_assert_uint_le(parts.parts, PARTS);
}

START_TEST(where_they_lie)
{
	fit(0);
	ck_assert(parts.all);
	ck_assert_uint_ge(parts.parts, PARTS - 1);
	ck_assert_uint_ge(4 * parts.standing, 3 * parts.parts);
}
END_TEST

START_TEST(where_they_do_not)
{
	const int64_t moves[] = {4, -4, 8, 16, -64, 0x400, 0x1000, -0x1000};

	for (size_t i = 0; i < sizeof(moves) / sizeof(*moves); i++) {
		fit((uint64_t)moves[i]);
		ck_assert(!parts.all);
		ck_assert_uint_lt(parts.standing, parts.parts);
	}
}
END_TEST

/* Less than a twentieth, more, a third and nearly all, by an instruction or as functions
 * are aligned. */
START_TEST(a_tail_that_has_moved)
{
	const size_t from[] = {WORDS * 96 / 100, WORDS * 93 / 100, WORDS * 2 / 3,
			       WORDS / 10};

	for (size_t i = 0; i < sizeof(from) / sizeof(*from); i++)
		for (int by = 4; by <= 64; by += 12) {
			for (size_t k = from[i]; k < WORDS; k++)
				addrs[k].ip += (uint64_t)by;
			fit(0);
			ck_assert(!parts.all);
			for (size_t k = from[i]; k < WORDS; k++)
				addrs[k].ip -= (uint64_t)by;
		}
}
END_TEST

/* One address of each line, or one in all. */
START_TEST(what_tells_nothing)
{
	size_t kept = 0;

	for (size_t i = 1; i < WORDS; i++)
		if (text[i - 1] == RETURN)
			addrs[kept++] = (struct hlg_sampled){TEXT + 4 * i, 1};
	n = kept;
	fit(0);
	ck_assert(!parts.all);
	n = 1;
	fit(0);
	ck_assert_uint_eq(parts.parts, 1);
	ck_assert(!parts.all);
	n = 0;
	fit(0);
	ck_assert_uint_eq(parts.parts, 0);
	ck_assert(!parts.all);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("part fit");
	TCase *tc = tap_case(suite, "part fit");

	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_checked_fixture(tc, setup, code_close_all);
	tcase_add_test(tc, where_they_lie);
	tcase_add_test(tc, where_they_do_not);
	tcase_add_test(tc, a_tail_that_has_moved);
	tcase_add_test(tc, what_tells_nothing);
	return tap_main(suite);
}
