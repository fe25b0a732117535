// SPDX-License-Identifier: GPL-2.0-only
/* Builds of one ELF, told apart by what was noted of them: ids, bytes, code. */
#include <string.h>
#include <unistd.h>

#include "symtab/image/fingerprint.h"
#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"

static const struct mkelf_sym syms[] = {
	MKELF_SYM("f", 0x1000, 1, STB_GLOBAL, STT_FUNC, MKELF_SEC(0)),
	MKELF_SYM("g", 0x1001, 1, STB_GLOBAL, STT_FUNC, MKELF_SEC(0)),
};

static struct hlg_err err;

/* An ELF of one instruction and a byte behind it. */
static struct hlg_image *make(const char *name, uint8_t byte, size_t n_syms,
			      const char *id)
{
	const uint8_t code[] = {0xc3, byte};
	struct hlg_image *image;
	struct mkelf_simple s;

	mkelf_simple_init(&s, 0x1000, code, sizeof(code), syms, n_syms);
	ck_assert_int_eq(hlg_image_open_elf(&image, scratch_elf(name, &s.elf), &err), 0);
	strcpy(image->elf.build_id, id);
	return image;
}

static enum hlg_likeness compare(const struct hlg_image *image,
				 const struct hlg_fingerprint *noted)
{
	struct hlg_fingerprint_reader reader = {.image = image};
	const enum hlg_likeness is = hlg_fingerprint_compare(&reader, noted);

	/* The second time nothing is read. */
	ck_assert_int_eq(hlg_fingerprint_compare(&reader, noted), is);
	return is;
}

START_TEST(ids_bytes_or_code)
{
	static const struct {
		uint8_t byte;
		size_t n_syms;
		const char *id, *noted_id;
		enum hlg_likeness is, by_bytes;
	} cases[] = {
		{0, 1, "", "", HLG_LIKENESS_SAME, HLG_LIKENESS_SAME},
		{0, 2, "", "", HLG_LIKENESS_SAME, HLG_LIKENESS_UNKNOWN},
		{1, 1, "", "", HLG_LIKENESS_OTHER, HLG_LIKENESS_UNKNOWN},
		{1, 1, "0011", "", HLG_LIKENESS_OTHER, HLG_LIKENESS_UNKNOWN},
		{0, 2, "0011", "", HLG_LIKENESS_SAME, HLG_LIKENESS_UNKNOWN},
		{0, 2, "", "0011", HLG_LIKENESS_SAME, HLG_LIKENESS_UNKNOWN},
		{0, 2, "0011", "0011", HLG_LIKENESS_SAME, HLG_LIKENESS_SAME},
		{1, 1, "0011", "0011", HLG_LIKENESS_OTHER, HLG_LIKENESS_SAME},
		{0, 1, "0011", "00", HLG_LIKENESS_SAME, HLG_LIKENESS_OTHER},
		{0, 1, "00", "0011", HLG_LIKENESS_SAME, HLG_LIKENESS_OTHER},
		{1, 1, "0011", "0012", HLG_LIKENESS_OTHER, HLG_LIKENESS_OTHER},
	};
	struct hlg_image *ran = make("ran", 0, 1, "");
	struct hlg_fingerprint noted;

	ck_assert_int_eq(hlg_fingerprint_take(&noted, ran, &err), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct hlg_image *image =
			make("named", cases[i].byte, cases[i].n_syms, cases[i].id);
		struct hlg_fingerprint print = noted;

		strcpy(print.build_id, cases[i].noted_id);
		ck_assert_msg(compare(image, &print) == cases[i].is, "%zu", i);
		print.code = 0;
		ck_assert_msg(compare(image, &print) == cases[i].by_bytes, "%zu", i);
		hlg_image_destroy(image);
	}
	hlg_image_destroy(ran);
}
END_TEST

#define CUT "00112233445566778899aabbccddeeff00112233" /* 20 bytes */

/* A recording has no more of an id than its first 20 bytes; a note has all. */
START_TEST(ids_that_were_cut)
{
	static const struct {
		const char *id, *noted_id;
		uint64_t size;
		enum hlg_likeness is;
	} cases[] = {
		{CUT, CUT, 0, HLG_LIKENESS_SAME},
		{CUT "44", CUT, 0, HLG_LIKENESS_SAME},
		{CUT "44", CUT, 1, HLG_LIKENESS_OTHER},
		{CUT "44", CUT "44", 1, HLG_LIKENESS_SAME},
		{CUT, "0011", 0, HLG_LIKENESS_OTHER},
		{"0011", CUT, 0, HLG_LIKENESS_OTHER},
		{CUT "44", "1" CUT, 0, HLG_LIKENESS_OTHER},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct hlg_image *image = make("a", 0, 1, cases[i].id);
		struct hlg_fingerprint noted = {.size = cases[i].size};

		strcpy(noted.build_id, cases[i].noted_id);
		ck_assert_msg(compare(image, &noted) == cases[i].is, "%zu", i);
		hlg_image_destroy(image);
	}
}
END_TEST

/* Its code, which an older note lacks, does not make it another file. */
START_TEST(the_same_file)
{
	const struct hlg_fingerprint a = {"0011", 100, 2, 3};

	for (int i = 0; i < 5; i++) {
		struct hlg_fingerprint b = a;

		b.code = 0;
		b.size += i == 1;
		b.crc += i == 2;
		if (i > 2)
			strcpy(b.build_id, i == 3 ? "0012" : "00");
		ck_assert_int_eq(hlg_fingerprint_is_same(&a, &b), i == 0);
		ck_assert_int_eq(hlg_fingerprint_is_same(&b, &a), i == 0);
	}
}
END_TEST

/* What only has an id tells nothing of an ELF without one; nor does what cannot be read,
 * or has no code, as a debug file. */
START_TEST(nothing_to_compare)
{
	struct hlg_fingerprint noted, id = {.build_id = "0011"};
	struct hlg_image *image = make("a", 0, 1, "");

	ck_assert_int_eq(hlg_fingerprint_take(&noted, image, &err), 0);
	ck_assert_int_eq(compare(image, &id), HLG_LIKENESS_UNKNOWN);
	noted.crc ^= 1;
	ck_assert_int_eq(compare(image, &noted), HLG_LIKENESS_SAME);
	noted.code ^= 1;
	ck_assert_int_eq(compare(image, &noted), HLG_LIKENESS_OTHER);
	image->elf.loads[0].exec = false;
	ck_assert_int_eq(compare(image, &noted), HLG_LIKENESS_UNKNOWN);
	image->elf.loads[0].exec = true;
	image->map = true;
	ck_assert_int_eq(compare(image, &noted), HLG_LIKENESS_UNKNOWN);
	image->map = false;
	ck_assert_int_eq(unlink(image->path), 0);
	ck_assert_int_eq(compare(image, &noted), HLG_LIKENESS_UNKNOWN);
	ck_assert_int_lt(hlg_fingerprint_take(&noted, image, &err), 0);
	hlg_image_destroy(image);
}
END_TEST

/* A debug file split off by objcopy has of a segment of code what lies in front of that,
 * notes and what is between them: no code that could be another. */
START_TEST(a_debug_file)
{
	static const uint8_t code[] = {0xc3, 0xc3};
	struct hlg_fingerprint noted;
	struct hlg_image *image;
	struct mkelf_simple s;

	mkelf_simple_init(&s, 0x1000, code, sizeof(code), syms, 1);
	s.segment.vaddr -= 0x10;
	s.segment.memsz += 0x10;
	ck_assert_int_eq(hlg_image_open_elf(&image, scratch_elf("a", &s.elf), &err), 0);
	strcpy(image->elf.build_id, "0011");
	ck_assert_int_eq(hlg_fingerprint_take(&noted, image, &err), 0);
	image->elf.loads[0].filesz = 8;
	ck_assert_int_eq(compare(image, &noted), HLG_LIKENESS_SAME);
	strcpy(image->elf.build_id, "0012");
	ck_assert_int_eq(compare(image, &noted), HLG_LIKENESS_OTHER);
	ck_assert(hlg_fingerprint_has_other_id(image, &noted));
	hlg_image_destroy(image);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fingerprint");
	TCase *tc = tcase_create("fingerprint");

	suite_add_tcase(suite, tc);
	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_test(tc, ids_bytes_or_code);
	tcase_add_test(tc, ids_that_were_cut);
	tcase_add_test(tc, the_same_file);
	tcase_add_test(tc, nothing_to_compare);
	tcase_add_test(tc, a_debug_file);
	return tap_main(suite);
}
