// SPDX-License-Identifier: GPL-2.0-only
/*
 * Another build of code for AArch64, which is made here: lines of many lengths, each of
 * which runs as often as it likes, twice. The tail that has moved is found. Where but one
 * hot line fits a longer one of the other half, and all else fits either way, none is.
 */
#include "symtab/code/tail-fit.h"

#include "tests/kit/sampling.h"
#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"
#include "tests/unit/symtab/test_code_kit.h"

#define NOTHING UINT32_C(0xd503201f) /* nop */
#define RETURN  UINT32_C(0xd65f03c0)

enum {
	HALF = 1024, /* words: how far the halves are apart */
	LONGEST = 30,
	HOT = 100, /* of each half, where a line of LONG begins */
	LONG = 60,
	OFTEN = 100
};

static uint32_t text[2 * HALF];
static struct hlg_sampled addrs[2 * HALF];
static struct hlg_tail tail;

/* Both halves are alike, but for the long line, of which the second has pairs. */
static void setup(void)
{
	const struct mkelf_sym sym = FUNC("all", 0, sizeof(text));
	uint64_t random = 1;

	for (size_t i = 0; i < HALF;) {
		const uint64_t length =
			i == HOT ? LONG : 3 + sampling_random(&random, LONGEST - 2);
		const uint64_t samples =
			i == HOT ? OFTEN : UINT64_C(1) << sampling_random(&random, 9);
		const size_t end = i < HOT && i + length > HOT ? HOT
				   : i + length > HALF         ? HALF
							       : i + length;

		for (size_t first = i; i < end; i++) {
			text[i] = i + 1 < end ? NOTHING : RETURN;
			text[HALF + i] = first == HOT && (i - HOT) % 2 ? RETURN : text[i];
			addrs[i].samples = addrs[HALF + i].samples = samples;
		}
	}
	for (size_t i = 0; i < 2 * HALF; i++)
		addrs[i].ip = TEXT + 4 * i;
	code_load_text(text, sizeof(text), EM_AARCH64, &sym, 1);
}

static void fit(size_t from, size_t end)
{
	ck_assert(hlg_tail_fit(&tail, code, code_image, addrs + from, end - from));
}

START_TEST(a_tail_that_has_moved)
{
	for (size_t k = HALF / 2; k < 2 * HALF; k++)
		addrs[k].ip += 64;
	fit(0, 2 * HALF);
	ck_assert_int_eq(tail.shift, -64);
	ck_assert_uint_eq(tail.from, addrs[HALF / 2].ip);
}
END_TEST

/* It is less than a quarter of the samples, and far ahead of all else. */
START_TEST(one_hot_line)
{
	uint64_t hot = 0, all = 0;

	for (size_t k = HALF + HOT; k < 2 * HALF; k++) {
		hot += k < HALF + HOT + LONG ? addrs[k].samples : 0;
		all += addrs[k].samples;
	}
	ck_assert_uint_lt(4 * hot, all);
	fit(HALF, 2 * HALF);
	ck_assert_int_eq(tail.shift, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tail by lines");
	TCase *tc = tap_case(suite, "tail by lines");

	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_checked_fixture(tc, setup, code_close_all);
	tcase_add_test(tc, a_tail_that_has_moved);
	tcase_add_test(tc, one_hot_line);
	return tap_main(suite);
}
