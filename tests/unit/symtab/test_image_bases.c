// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that an image keeps the bases it is given, in their order, as far as they leave
 * it room; that a new base takes the place of all; and that which of them are equal is
 * known whenever it is asked.
 */
#include <string.h>

#include "symtab/image/image-bases.h"
#include "symtab/image/image.h"
#include "tests/kit/mkelf-guest.h"
#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"

static struct hlg_image *image;

static void setup(void)
{
	struct mkelf_guest guest;
	struct hlg_err err;

	mkelf_guest_init(&guest, 0x400000);
	ck_assert_int_eq(
		hlg_image_open_elf(&image, scratch_elf("guest.elf", &guest.elf), &err),
		0);
}

static void teardown(void)
{
	hlg_image_destroy(image);
}

static void expect_base(size_t i, uint64_t base)
{
	struct hlg_base at = hlg_image_base(image, i);

	ck_assert_uint_eq(at.base, base);
	ck_assert_uint_eq(at.bias, base - image->first);
}

/* In the order they came, none without the first, and all gone with a new one. */
START_TEST(bases_are_added)
{
	struct hlg_err err = {0};

	ck_assert_uint_eq(hlg_image_n_bases(image), 0);
	ck_assert_int_eq(hlg_image_set_base(image, 0x9000, HLG_BASE_FOUND, &err), 0);
	ck_assert_uint_eq(hlg_image_n_bases(image), 1);
	for (uint64_t i = 1; i < 100; i++) {
		ck_assert_int_eq(hlg_image_add_base(image, i * 7 % 100 << 16, &err), 0);
		ck_assert_uint_eq(hlg_image_n_bases(image), i + 1);
	}
	expect_base(0, 0x9000);
	for (uint64_t i = 1; i < 100; i++)
		expect_base(i, i * 7 % 100 << 16);
	ck_assert_uint_eq(image->base, 0x9000);
	ck_assert_int_eq(image->from, HLG_BASE_FOUND);
	ck_assert_int_eq(hlg_image_set_base(image, 0x5000, HLG_BASE_STATED, &err), 0);
	ck_assert_uint_eq(hlg_image_n_bases(image), 1);
	expect_base(0, 0x5000);
	ck_assert_int_eq(hlg_image_add_base(image, 0x70000, &err), 0);
	expect_base(1, 0x70000);
}
END_TEST

/* The last one that fits, and the next; what it had is not touched. */
START_TEST(added_bases_are_checked)
{
	struct hlg_err err = {0};

	ck_assert_int_eq(hlg_image_set_base(image, 0x9000, HLG_BASE_STATED, &err), 0);
	ck_assert_int_eq(hlg_image_add_base(image, -UINT64_C(0x3110), &err), 0);
	ck_assert_int_eq(hlg_image_add_base(image, -UINT64_C(0x310f), &err), HLG_EINPUT);
	ck_assert_ptr_nonnull(strstr(err.msg, "/guest.elf: its 12560 bytes at base "
					      "0xffffffffffffcef1 pass the end of memory "
					      "(give a lower base)"));
	ck_assert_uint_eq(hlg_image_n_bases(image), 2);
	ck_assert_int_eq(hlg_image_set_base(image, UINT64_MAX, HLG_BASE_STATED, &err),
			 HLG_EINPUT);
	ck_assert_uint_eq(hlg_image_n_bases(image), 2);
	expect_base(0, 0x9000);
	expect_base(1, -UINT64_C(0x3110));
}
END_TEST

static void expect_firsts(const size_t *firsts, size_t n, size_t n_places)
{
	ck_assert_uint_eq(hlg_image_n_bases(image), n);
	ck_assert_uint_eq(hlg_image_bases_places(image), n_places);
	for (size_t i = 0; i < n; i++)
		ck_assert_uint_eq(hlg_image_bases_first(image, i), firsts[i]);
}

/* Which bases are one and the same is known at any time: summed up, and after any base
 * that is set, added or taken away. */
START_TEST(equal_bases_are_never_stale)
{
	static const uint64_t bases[] = {0x9000,  0x20000, 0x9000,
					 0x20000, 0x40000, 0x9000};
	static const size_t firsts[] = {0, 1, 0, 1, 4, 0}, places[] = {1, 2, 2, 2, 3, 3};
	struct hlg_err err = {0};

	expect_firsts(firsts, 0, 0);
	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		image->lane = (unsigned)i;
		ck_assert_int_eq(
			i ? hlg_image_add_base(image, bases[i], &err)
			  : hlg_image_set_base(image, bases[i], HLG_BASE_STATED, &err),
			0);
		expect_firsts(firsts, i + 1, places[i]);
		if (i != 1)
			ck_assert(hlg_image_bases_sum(image));
		expect_firsts(firsts, i + 1, places[i]);
	}
	ck_assert_int_eq(hlg_image_set_base(image, 0x1000, HLG_BASE_STATED, &err), 0);
	expect_firsts(firsts, 1, 1);
	ck_assert(hlg_image_bases_sum(image));
	hlg_image_clear_base(image);
	expect_firsts(firsts, 0, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("image-bases");
	TCase *tc = tap_case(suite, "image-bases");

	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, bases_are_added);
	tcase_add_test(tc, added_bases_are_checked);
	tcase_add_test(tc, equal_bases_are_never_stale);
	return tap_main(suite);
}
