// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves what is known of each byte of a small image: a picture for each sketch, the same
 * whether its bytes are asked forwards, backwards or after all are decoded, with as many
 * of them in the file as there may be.
 */
#include <string.h>

#include "config.h"
#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"
#include "tests/unit/symtab/test_code_kit.h"

static const struct sketch x86[] = {
	{"a function, then a gap",
	 "oo....o???",
	 EM_X86_64,
	 {NOP, MOV, RET, NOP, NOP, NOP},
	 {FUNC("f", 0, 7)}},
	{"a label reaches the end of the section",
	 "??o....o",
	 EM_X86_64,
	 {NOP, NOP, MOV, RET},
	 {LABEL("l", 2)}},
	{"a label up to the next symbol",
	 "o....oo....o",
	 EM_X86_64,
	 {MOV, RET, MOV, RET},
	 {LABEL("l", 0), FUNC("f", 6, 6)}},
	{"a sized label",
	 "?o....o??",
	 EM_X86_64,
	 {NOP, MOV, RET, NOP, NOP},
	 {SYM("l", 1, 6, NOTYPE)}},
	{"an object in text is decoded as a sized label is",
	 "?o....o",
	 EM_X86_64,
	 {NOP, MOV, RET},
	 {SYM("table", 1, 6, OBJECT)}},
	{"data ends what is known",
	 "oo????????",
	 EM_X86_64,
	 {NOP, NOP, BAD, NOP, MOV, RET},
	 {FUNC("f", 0, 10)}},
	{"up to the next function",
	 "o???o....o",
	 EM_X86_64,
	 {NOP, BAD, NOP, NOP, MOV, RET},
	 {FUNC("f", 0, 4), FUNC("g", 4, 6)}},
	{"up to a label inside",
	 "o???o....o",
	 EM_X86_64,
	 {NOP, BAD, NOP, NOP, MOV, RET},
	 {FUNC("f", 0, 10), LABEL("inside", 4)}},
	{"up to a function inside, and on behind it",
	 "o???o....ooo",
	 EM_X86_64,
	 {NOP, BAD, NOP, NOP, MOV, RET, NOP, RET},
	 {FUNC("f", 0, 12), FUNC("inside", 4, 6)}},
	{"an instruction that goes on where a function inside has data",
	 "o..??o",
	 EM_X86_64,
	 {0xb8, 1, 2, BAD, BAD, RET},
	 {FUNC("f", 0, 6), FUNC("inside", 3, 2)}},
	{"data at the first byte", "??????", EM_X86_64, {BAD, MOV}, {FUNC("f", 0, 6)}},
	{"a function in a function",
	 "oo....oo....oo",
	 EM_X86_64,
	 {NOP, MOV, NOP, MOV, NOP, RET},
	 {FUNC("f", 0, 14), FUNC("inside", 6, 6)}},
	{"a label in a function, after an instruction's first byte, begins one too",
	 "oo...o",
	 EM_X86_64,
	 {0xf0, 0x48, 0x0f, 0xb1, 0x0f, RET}, /* lock cmpxchg */
	 {FUNC("f", 0, 6), FUNC("without_lock", 1, 5)}},
	{"a size that cuts an instruction",
	 "o???",
	 EM_X86_64,
	 {NOP, 0xb8, 1, 2},
	 {FUNC("f", 0, 3)}},
	{"a size that cuts an instruction before the next symbol",
	 "??o....o",
	 EM_X86_64,
	 {0xb8, 1, MOV, RET},
	 {FUNC("f", 0, 2), FUNC("g", 2, 6)}},
	{"the section cuts an instruction",
	 "o????",
	 EM_X86_64,
	 {NOP, 0xb8, 1, 2, 3},
	 {FUNC("f", 0, 100)}},
	{"aliases",
	 "o....o?",
	 EM_X86_64,
	 {MOV, RET, NOP},
	 {FUNC("f", 0, 6), FUNC("g", 0, 6), LABEL("h", 0)}},
};

static const struct sketch a64[] = {
	{"a function, then a gap",
	 "o...o...????",
	 EM_AARCH64,
	 {A64_ADD, A64_RET, A64_ADD},
	 {MARK("$x", 0), FUNC("f", 0, 8)}},
	{"$d up to the next $x",
	 "o...????????o...",
	 EM_AARCH64,
	 {A64_ADD, A64_DATA, A64_DATA, A64_RET},
	 {FUNC("f", 0, 16), MARK("$x.1", 12), MARK("$d.0", 4), MARK("$x.0", 0)}},
	{"$d up to the end",
	 "o...o...????????",
	 EM_AARCH64,
	 {A64_ADD, A64_RET, A64_DATA, A64_DATA},
	 {MARK("$x", 0), FUNC("f", 0, 16), MARK("$d", 8)}},
	{"$d begins inside a word of code",
	 "o...o...????",
	 EM_AARCH64,
	 {A64_ADD, A64_ADD, A64_DATA},
	 {MARK("$x", 0), FUNC("f", 0, 12), MARK("$d", 6)}},
	{"no mark at all", "o...o...", EM_AARCH64, {A64_ADD, A64_RET}, {LABEL("l", 0)}},
	{"a word that is none, alone",
	 "o...????o...",
	 EM_AARCH64,
	 {A64_ADD, A64_UDF, A64_RET},
	 {FUNC("f", 0, 12)}},
	{"a first byte between words",
	 "????o...",
	 EM_AARCH64,
	 {A64_ADD, A64_RET},
	 {FUNC("f", 2, 6)}},
	{"a size that cuts a word",
	 "o...????",
	 EM_AARCH64,
	 {A64_ADD, A64_RET},
	 {FUNC("f", 0, 6)}},
};

static void expect_picture(const struct sketch *s, const char *picture)
{
	size_t size = strlen(picture);
	char got[MAX_TEXT + 1] = "";

	for (size_t i = 0; i < size; i++)
		got[i] = code_draw(TEXT + i);
	ck_assert_msg(!strcmp(got, picture), "%s: %s, expected %s", s->what, got,
		      picture);
	code_open();
	for (size_t i = size; i-- > 0;)
		got[i] = code_draw(TEXT + i);
	ck_assert_msg(!strcmp(got, picture), "%s: %s, expected %s, from the end", s->what,
		      got, picture);
}

/* The same of all at once, and how much it is. */
static void expect_all(const struct sketch *s, const char *picture)
{
	struct hlg_density want = {0, 0}, total;

	for (size_t i = 0; picture[i]; i++) {
		want.starts += picture[i] == 'o';
		want.bytes += picture[i] != '?';
	}
	code_open();
	total = hlg_code_total(code);
	ck_assert(total.starts == 0 && total.bytes == 0);
	for (size_t i = 0; picture[i]; i++)
		ck_assert_int_eq(code_draw_decoded(TEXT + i), '?');
	hlg_code_decode_all(code);
	for (size_t i = 0; picture[i]; i++)
		ck_assert_msg(code_draw_decoded(TEXT + i) == picture[i],
			      "%s: byte %zu: %c, expected %c", s->what, i,
			      code_draw_decoded(TEXT + i), picture[i]);
	ck_assert_int_eq(code_draw_decoded(TEXT - 1), '?');
	ck_assert_int_eq(code_draw_decoded(TEXT + strlen(picture)), '?');
	total = hlg_code_total(code);
	ck_assert_uint_eq(total.starts, want.starts);
	ck_assert_uint_eq(total.bytes, want.bytes);
	for (size_t i = 0; picture[i]; i++)
		ck_assert_int_eq(code_draw(TEXT + i), picture[i]);
}

static void check(const struct sketch *s)
{
	size_t size = strlen(s->picture);

	code_load(s, size);
	expect_picture(s, s->picture);
	expect_all(s, s->picture);
}

START_TEST(x86_pictures)
{
	check(&x86[_i]);
}
END_TEST

START_TEST(a64_pictures)
{
	check(&a64[_i]);
}
END_TEST

/* Whatever the number of stored bytes, what is known ends with the last whole one. */
START_TEST(what_is_not_stored_is_unknown)
{
	static const struct sketch *const all[] = {&x86[2], &a64[0]};
	const struct sketch *s = all[_i];
	const char *whole[] = {"o....oo....o", "o...o...????"};

	for (size_t filesz = 1; filesz <= 12; filesz++) {
		char picture[13];
		size_t known = filesz;

		while (known && known < 12 && whole[_i][known] == '.')
			known--;
		if (known < filesz && whole[_i][filesz] == 'o')
			known = filesz;
		memset(picture, '?', 12);
		memcpy(picture, whole[_i], known);
		picture[12] = '\0';
		code_load(s, filesz);
		expect_picture(s, picture);
		expect_all(s, picture);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("code");
	TCase *tc = tap_case(suite, "code");
	bool x86_too = HLG_HAVE_ZYDIS;

	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_checked_fixture(tc, NULL, code_close_all);
	tcase_add_loop_test(tc, x86_pictures, 0, x86_too ? N(x86) : 0);
	tcase_add_loop_test(tc, a64_pictures, 0, N(a64));
	tcase_add_loop_test(tc, what_is_not_stored_is_unknown, x86_too ? 0 : 1, 2);
	return tap_main(suite);
}
