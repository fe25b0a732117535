// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves the order in which an image's base is decided: what the user states, the
 * Hyperlight note (every version around the two changes, and versions that are none),
 * an ET_EXEC's own addresses, a perf map's, and 0x1000 at last; that a base which is
 * decided stays; and the words a report uses for each. What is only read, not decided,
 * is what a file states, and nothing else.
 */
#include "symtab/image/base.h"

#include <stdio.h>
#include <string.h>

#include "tests/kit/mkelf-guest.h"
#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"

#define NO_BASE 0

static const struct {
	const char *version;
	uint64_t base; /* NO_BASE: the note decides nothing */
} versions[] = {
	{"0.13.0", 0x1000},
	{"0.13", 0x1000},
	{"0.13.0-rc1", 0x1000},
	{"0.14.1", 0x1000},
	{"0.16.99", 0x1000},
	{"0.17.0", 0x4000},
	{"0.17.0-dev+dirty", 0x4000},
	{"0.18.0", 0x4000},
	{"0.100.0", 0x4000},
	{"0.130.0", 0x4000},
	{"1.0.0", 0x4000},
	{"1.13.0", 0x4000},
	{"10.2", 0x4000},
	{"0.12.9", NO_BASE},
	{"0.1.0", NO_BASE},
	{"0.0.0", NO_BASE},
	{"", NO_BASE},
	{"0", NO_BASE},
	{"0.", NO_BASE},
	{".17", NO_BASE},
	{"seventeen", NO_BASE},
	{"v0.17.0", NO_BASE},
	{"0,17,0", NO_BASE},
	{"-1.0", NO_BASE},
	{"0.-1", NO_BASE},
	{"+0.17", NO_BASE},
	{" 0.17", NO_BASE},
	{"0. 17", NO_BASE},
};

#define N_VERSIONS ((int)(sizeof(versions) / sizeof(versions[0])))

static struct mkelf_guest guest;
static struct hlg_image *image;

static void load(void)
{
	struct hlg_err err;
	int rc;

	hlg_image_destroy(image);
	rc = hlg_image_open_elf(&image, scratch_elf("guest.elf", &guest.elf), &err);
	ck_assert_msg(rc == 0, "%s", err.msg);
}

static void setup(void)
{
	image = NULL;
	mkelf_guest_init(&guest, 0x400000);
}

static void teardown(void)
{
	hlg_image_destroy(image);
}

static void expect(uint64_t base, enum hlg_base_from from, const char *word,
		   const char *description)
{
	struct hlg_err err;
	char buf[128];

	ck_assert_int_eq(hlg_base_decide(image, &err), 0);
	ck_assert_uint_eq(image->base, base);
	ck_assert_uint_eq(image->bias, image->map ? base : base - 0x400000);
	ck_assert_int_eq(image->from, from);
	ck_assert_str_eq(hlg_base_word(image->from), word);
	hlg_base_describe(image, buf, sizeof(buf));
	ck_assert_str_eq(buf, description);
}

START_TEST(notes_decide)
{
	char description[128];

	guest.elf.version = versions[_i].version;
	load();
	snprintf(description, sizeof(description), "from the Hyperlight note, version %s",
		 versions[_i].version);
	if (versions[_i].base != NO_BASE)
		expect(versions[_i].base, HLG_BASE_NOTE, "note", description);
	else
		expect(0x1000, HLG_BASE_DEFAULT, "default", "assumed: nothing states it");
}
END_TEST

START_TEST(without_a_note_the_type_decides)
{
	guest.elf.version = NULL;
	load();
	expect(0x1000, HLG_BASE_DEFAULT, "default", "assumed: nothing states it");
	guest.elf.type = ET_EXEC;
	load();
	expect(0x400000, HLG_BASE_EXEC, "exec", "its own addresses: not a PIE");
	guest.elf.version = "0.17.0"; /* moved every guest */
	load();
	expect(0x4000, HLG_BASE_NOTE, "note", "from the Hyperlight note, version 0.17.0");
	guest.elf.version = "0.18.0"; /* leaves an ET_EXEC where it is linked to */
	load();
	expect(0x400000, HLG_BASE_EXEC, "exec", "its own addresses: not a PIE");
	guest.elf.version = "1.0.0";
	load();
	expect(0x400000, HLG_BASE_EXEC, "exec", "its own addresses: not a PIE");
}
END_TEST

START_TEST(maps_have_their_own_addresses)
{
	struct hlg_err err;
	const char *path = scratch_write("perf.map", "7000 10 jit\n", 12);

	ck_assert_int_eq(hlg_image_open_map(&image, path, &err), 0);
	expect(0, HLG_BASE_MAP, "map", "its own addresses: a perf map");
}
END_TEST

START_TEST(what_is_decided_stays)
{
	struct hlg_err err;

	load();
	ck_assert_int_eq(hlg_image_set_base(image, 0x9000, HLG_BASE_STATED, &err), 0);
	expect(0x9000, HLG_BASE_STATED, "stated", "stated");
	expect(0x9000, HLG_BASE_STATED, "stated", "stated");
}
END_TEST

static void expect_read(uint64_t base, enum hlg_base_from from)
{
	struct hlg_err err;

	ck_assert_int_eq(hlg_base_read(image, &err), 0);
	ck_assert_int_eq(image->from, from);
	ck_assert_uint_eq(hlg_image_n_bases(image), from != HLG_BASE_NONE);
	if (from != HLG_BASE_NONE)
		ck_assert_uint_eq(image->base, base);
}

/* Nothing is assumed: without a statement there is no base, asked twice or not. */
START_TEST(what_is_stated_is_read)
{
	guest.elf.version = versions[_i].version;
	load();
	for (int i = 0; i < 2; i++)
		expect_read(versions[_i].base,
			    versions[_i].base == NO_BASE ? HLG_BASE_NONE : HLG_BASE_NOTE);
}
END_TEST

START_TEST(other_statements_are_read)
{
	struct hlg_err err;

	guest.elf.version = NULL;
	load();
	expect_read(0, HLG_BASE_NONE);
	ck_assert_int_eq(hlg_image_set_base(image, 0x9000, HLG_BASE_FOUND, &err), 0);
	expect_read(0x9000, HLG_BASE_FOUND);
	expect(0x9000, HLG_BASE_FOUND, "found", "found from the samples");
	guest.elf.type = ET_EXEC;
	load();
	expect_read(0x400000, HLG_BASE_EXEC);
	hlg_image_destroy(image);
	ck_assert_int_eq(hlg_image_open_map(&image,
					    scratch_write("m.map", "7000 10 jit\n", 12),
					    &err),
			 0);
	expect_read(0, HLG_BASE_MAP);
}
END_TEST

/* Even the default can be too high, for an image that takes all of memory. */
START_TEST(decided_bases_are_checked)
{
	struct hlg_err err;

	mkelf_guest_init(&guest, 0);
	guest.elf.version = NULL;
	guest.seg[MKELF_SEG_DATA].vaddr = UINT64_MAX - 0x800;
	load();
	ck_assert_int_eq(hlg_base_decide(image, &err), HLG_EINPUT);
	ck_assert_ptr_nonnull(strstr(err.msg,
				     "at base 0x1000 pass the end of memory (give a "
				     "lower base)"));
	ck_assert_int_eq(image->from, HLG_BASE_NONE);
}
END_TEST

START_TEST(short_buffers_are_enough)
{
	struct hlg_err err;
	char buf[8];

	load();
	ck_assert_int_eq(hlg_base_decide(image, &err), 0);
	hlg_base_describe(image, buf, sizeof(buf));
	ck_assert_str_eq(buf, "from th");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("base");
	TCase *tc = tap_case(suite, "base");

	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, notes_decide, 0, N_VERSIONS);
	tcase_add_test(tc, without_a_note_the_type_decides);
	tcase_add_test(tc, maps_have_their_own_addresses);
	tcase_add_test(tc, what_is_decided_stays);
	tcase_add_loop_test(tc, what_is_stated_is_read, 0, N_VERSIONS);
	tcase_add_test(tc, other_statements_are_read);
	tcase_add_test(tc, decided_bases_are_checked);
	tcase_add_test(tc, short_buffers_are_enough);
	return tap_main(suite);
}
