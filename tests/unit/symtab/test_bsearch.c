// SPDX-License-Identifier: GPL-2.0-only
/* Counted one by one, the same: every size up to 70, every key, equal keys among them. */
#include "symtab/bsearch.h"

#include <stdlib.h>

#include "tests/kit/tap.h"

struct thing {
	uint32_t before;
	uint64_t key;
	char behind[3];
};

static size_t one_by_one(const struct thing *things, size_t n, uint64_t key)
{
	size_t upto = 0;

	for (size_t i = 0; i < n; i++)
		upto += things[i].key <= key;
	return upto;
}

START_TEST(all)
{
	for (size_t n = 0; n <= 70; n++) {
		/* Of just that size, for those who watch the ends. */
		struct thing *things = n ? calloc(n, sizeof(*things)) : NULL;

		ck_assert(things || n == 0);
		for (size_t i = 0; i < n; i++)
			things[i].key = 2 * (i - i % 3) + 1;
		for (uint64_t key = 0; key < 2 * n + 4; key++)
			ck_assert_uint_eq(HLG_BSEARCH_UPTO(things, n, key, key),
					  one_by_one(things, n, key));
		for (uint64_t key = 0; key < 2 * n + 4; key++)
			ck_assert_uint_eq(HLG_BSEARCH_BELOW(things, n, key, key),
					  key ? one_by_one(things, n, key - 1) : 0);
		ck_assert_uint_eq(HLG_BSEARCH_UPTO(things, n, key, UINT64_MAX), n);
		free(things);
	}
}
END_TEST

START_TEST(ends)
{
	const uint64_t keys[] = {0, 1, UINT64_MAX - 1, UINT64_MAX};
	struct thing things[4];

	for (size_t i = 0; i < 4; i++)
		things[i].key = keys[i];
	for (size_t i = 0; i < 4; i++)
		ck_assert_uint_eq(HLG_BSEARCH_UPTO(things, 4, key, keys[i]), i + 1);
	ck_assert_uint_eq(HLG_BSEARCH_UPTO(things, 4, key, UINT64_C(1) << 63), 2);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bsearch");
	TCase *tc = tap_case(suite, "bsearch");

	tcase_add_test(tc, all);
	tcase_add_test(tc, ends);
	return tap_main(suite);
}
