// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arrays that grow (symtab/grow.h), here because allocations fail on demand here: what is
 * in an array stays, whether there is memory or not, there is room for one more, and
 * things may be taken off again.
 */
#include "symtab/grow.h"

#include <check.h>
#include <malloc.h>
#include <stdint.h>

#include "tests/kit/oom.h"
#include "tests/kit/tap.h"

enum {
	N = 10000
};

START_TEST(stays)
{
	uint64_t *things = NULL;
	unsigned failed = 0;

	for (uint64_t i = 0; i < N; i++) {
		bool made, was;

		oom_arm(1, true);
		made = HLG_GROW(things, i);
		was = oom_disarm();
		ck_assert(made != was);
		failed += !made;
		ck_assert(HLG_GROW(things, i));
		ck_assert_uint_ge(malloc_usable_size(things), (i + 1) * sizeof(*things));
		things[i] = i;
	}
	ck_assert_uint_eq(failed, 15); /* at 0, 1, 2, 4 .. 8,192 things */
	for (uint64_t i = 0; i < N; i++)
		ck_assert_uint_eq(things[i], i);
	free(things);
}
END_TEST

START_TEST(taken_off)
{
	uint16_t *things = NULL;
	uint32_t n = 0;

	for (uint32_t most = 1; most < 300; most++) {
		for (; n < most; n++) {
			ck_assert(HLG_GROW(things, n));
			ck_assert_uint_ge(malloc_usable_size(things),
					  (n + 1) * sizeof(*things));
			things[n] = (uint16_t)(n ^ 0x5a);
		}
		for (uint32_t i = 0; i < n; i++)
			ck_assert_uint_eq(things[i], i ^ 0x5a);
		n = most * 7 % 11 * most / 11;
	}
	free(things);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("grow");
	TCase *tc = tap_case(suite, "grow");

	tcase_add_test(tc, stays);
	tcase_add_test(tc, taken_off);
	return tap_main(suite);
}
