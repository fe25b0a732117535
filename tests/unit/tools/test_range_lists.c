// SPDX-License-Identifier: GPL-2.0-only
/*
 * When lists set too many bases: as many in a row as hlg_range_lists_vet() says, wherever
 * they begin, and no fewer.
 */
#include "tools/source/range-lists.h"

#include <string.h>

#include "tests/kit/tap.h"

enum {
	BASES = HLG_RANGE_LISTS_BASES,
	MOST = (BASES + 2) * 16
};

static unsigned char lists[MOST];
static size_t size;

static void put(size_t n, const void *bytes, size_t bytes_of)
{
	while (n-- > 0) {
		ck_assert_uint_le(size + bytes_of, MOST);
		memcpy(lists + size, bytes, bytes_of);
		size += bytes_of;
	}
}

/* Are n of these bases well, with some ranges before and an end behind? */
static bool are_well(size_t n, const void *base, size_t bytes, bool is_new,
		     unsigned width)
{
	size = 0;
	put(3, is_new ? "\4\3\2" : "\3", is_new ? 3 : 1); /* offsets; of one byte */
	put(n, base, bytes);
	put(16, "", 1);
	return hlg_range_lists_vet(lists, size, is_new, width);
}

static const struct {
	const char *base;
	size_t bytes;
	bool is_new;
	unsigned width;
} kinds[] = {
	{"\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0\0\0\0\0", 16, false, 8},
	{"\xff\xff\xff\xff\xff\xff\xff\xfe", 8, false, 4},
	{"\5\0\0\0\0\0\0\0\0", 9, true, 8},
	{"\5\0\0\0\0", 5, true, 4},
	{"\1\0", 2, true, 8},
	{"\1\x80\x80\x80\x80\x80\x80\x80\x80\x80\0", 11, true, 8},
};

START_TEST(in_a_row)
{
	ck_assert(are_well(BASES - 1, kinds[_i].base, kinds[_i].bytes, kinds[_i].is_new,
			   kinds[_i].width));
	ck_assert(!are_well(BASES, kinds[_i].base, kinds[_i].bytes, kinds[_i].is_new,
			    kinds[_i].width));
	/* Of addresses with another size they are not. */
	ck_assert(kinds[_i].base[0] == 1 ||
		  are_well(BASES, kinds[_i].base, kinds[_i].bytes, kinds[_i].is_new,
			   12 - kinds[_i].width));
}
END_TEST

/* Each with a range behind it. */
START_TEST(with_ranges)
{
	ck_assert(are_well(BASES, "\1\0\4\0\1", 5, true, 8));
	ck_assert(are_well(BASES / 2, "\xff\xff\xff\xff\0\0\0\0\0\0\0\1\0\0\0\2", 16,
			   false, 4));
}
END_TEST

/* Linkers may write so where code was thrown away; libdw ends there. */
START_TEST(all_ones)
{
	ck_assert(are_well(MOST - 32, "\xff", 1, false, 8));
}
END_TEST

/* The last one is cut, at each byte. */
START_TEST(cut)
{
	size = 0;
	put(BASES, kinds[_i].base, kinds[_i].bytes);
	ck_assert(!hlg_range_lists_vet(lists, size, kinds[_i].is_new, kinds[_i].width));
	for (size_t n = 1; n <= kinds[_i].bytes; n++)
		ck_assert(hlg_range_lists_vet(lists, size - n, kinds[_i].is_new,
					      kinds[_i].width));
	ck_assert(hlg_range_lists_vet(NULL, 0, kinds[_i].is_new, kinds[_i].width));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("range lists");
	TCase *tc = tap_case(suite, "range lists");
	int n = sizeof(kinds) / sizeof(kinds[0]);

	tcase_add_loop_test(tc, in_a_row, 0, n);
	tcase_add_test(tc, with_ranges);
	tcase_add_test(tc, all_ones);
	tcase_add_loop_test(tc, cut, 0, n);
	return tap_main(suite);
}
