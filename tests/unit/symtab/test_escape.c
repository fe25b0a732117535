// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that text from files cannot do anything to whoever shows it: a table of single
 * characters says which are shown as they are and which are refused, whole texts come
 * out byte for byte as expected, and a short buffer is cut between two characters, never
 * inside one, at every length. The same table goes through all four doors.
 */
#include "symtab/escape.h"

#include <locale.h>
#include <stdbool.h>
#include <string.h>

#include "tests/kit/tap.h"

/* The one character that text begins with: shown as it is, or its first byte refused. */
static const struct {
	const char *text;
	size_t plain;
} characters[] = {
	{" ", 1},
	{"~", 1},
	{"\\", 1},
	{"\"", 1},
	{"a\x80", 1},
	{"\xc2\xa1", 2},     /* the first one behind C1 and the no-break space */
	{"\xc3\xa9", 2},     /* e with acute accent */
	{"\xdf\xbf", 2},     /* the last of two bytes */
	{"\xe0\xa0\x80", 3}, /* the first of three */
	{"\xe2\x82\xac", 3}, /* euro sign */
	{"\xe2\x80\x90", 3}, /* a hyphen, behind the directional marks */
	{"\xe2\x80\xa7", 3}, /* in front of the line separator */
	{"\xe2\x80\xb0", 3}, /* behind the embeddings and a narrow space */
	{"\xc2\xac", 2},     /* on both sides of the soft hyphen */
	{"\xc2\xae", 2},
	{"\xe1\xbf\xbf", 3},     /* in front of the spaces */
	{"\xe2\x81\x9e", 3},     /* in front of the last of them and the word joiner */
	{"\xe2\xa0\x81", 3},     /* a Braille pattern with a dot */
	{"\xe3\x80\x81", 3},     /* an ideographic comma */
	{"\xe2\x81\xb0", 3},     /* behind what has no glyph */
	{"\xef\xbf\xbd", 3},     /* replacement character */
	{"\xf3\x9f\xbf\xbd", 4}, /* in front of the tags */
	{"\xf3\xa1\x80\x80", 4}, /* behind them */
	{"\xed\x9f\xbf", 3},     /* in front of the surrogates */
	{"\xee\x80\x80", 3},     /* behind them */
	{"\xf0\x90\x80\x80", 4}, /* the first of four */
	{"\xf0\x9f\xa6\x80", 4},
	{"\xf4\x8f\xbf\xbd", 4}, /* the last of all */

	{"", 0},
	{"\x01", 0},
	{"\t", 0},
	{"\n", 0},
	{"\r", 0},
	{"\033[31m", 0},
	{"\x1f", 0},
	{"\x7f", 0},
	{"\xc2\x80", 0},     /* C1, first */
	{"\xc2\x85", 0},     /* next line */
	{"\xc2\x9b", 0},     /* CSI */
	{"\xc2\x9f", 0},     /* C1, last */
	{"\xd8\x9c", 0},     /* Arabic letter mark */
	{"\xe2\x80\x8e", 0}, /* left-to-right mark */
	{"\xe2\x80\x8f", 0}, /* right-to-left mark */
	{"\xe2\x80\xa8", 0}, /* line separator */
	{"\xe2\x80\xa9", 0}, /* paragraph separator */
	{"\xe2\x80\xaa", 0}, /* embeddings, overrides */
	{"\xe2\x80\xab", 0},
	{"\xe2\x80\xac", 0},
	{"\xe2\x80\xad", 0},
	{"\xe2\x80\xae", 0},
	{"\xe2\x81\xa6", 0}, /* isolates */
	{"\xe2\x81\xa7", 0},
	{"\xe2\x81\xa8", 0},
	{"\xe2\x81\xa9", 0},
	{"\xef\xbb\xbf", 0}, /* byte order mark */

	{"\xc2\xa0", 0}, /* blanks that are none: no-break, Ogham, en quad, hair, ... */
	{"\xe1\x9a\x80", 0},
	{"\xe2\x80\x80", 0},
	{"\xe2\x80\x8a", 0},
	{"\xe2\x80\xaf", 0},
	{"\xe2\x81\x9f", 0},
	{"\xe2\xa0\x80", 0},     /* a Braille pattern without dots */
	{"\xe3\x80\x80", 0},     /* ideographic */
	{"\xf0\x9d\x85\x99", 0}, /* a note without a head */

	{"\xc2\xad", 0},     /* soft hyphen */
	{"\xcd\x8f", 0},     /* combining grapheme joiner */
	{"\xe1\x85\x9f", 0}, /* Hangul fillers */
	{"\xe3\x85\xa4", 0},
	{"\xef\xbe\xa0", 0},
	{"\xe1\xa0\x8e", 0}, /* Mongolian vowel separator */
	{"\xe2\x80\x8b", 0}, /* zero-width space, non-joiner, joiner */
	{"\xe2\x80\x8c", 0},
	{"\xe2\x80\x8d", 0},
	{"\xe2\x81\xa0", 0}, /* word joiner */
	{"\xe2\x81\xa4", 0}, /* invisible plus */
	{"\xe2\x81\xa5", 0},
	{"\xe2\x81\xaa", 0}, /* deprecated formats */
	{"\xe2\x81\xaf", 0},
	{"\xef\xb8\x8f", 0}, /* variation selector */
	{"\xef\xb7\x90", 0}, /* noncharacters */
	{"\xef\xb7\xaf", 0},
	{"\xef\xbf\xbe", 0},
	{"\xef\xbf\xbf", 0},
	{"\xf0\x9f\xbf\xbe", 0},
	{"\xf4\x8f\xbf\xbf", 0},
	{"\xef\xbf\xb9", 0}, /* interlinear annotations */
	{"\xef\xbf\xbb", 0},
	{"\xf0\x9d\x85\xb3", 0}, /* musical beam */
	{"\xf3\xa0\x80\x81", 0}, /* tags */
	{"\xf3\xa0\x84\x80", 0}, /* variation selector 17 */

	{"\x80", 0}, /* continuations with nothing to continue */
	{"\xbf", 0},
	{"\xc0\x80", 0}, /* overlong NUL */
	{"\xc0\xaf", 0}, /* overlong / */
	{"\xc1\xbf", 0},
	{"\xe0\x80\xaf", 0},
	{"\xe0\x9f\xbf", 0},
	{"\xf0\x80\x80\xaf", 0},
	{"\xf0\x8f\xbf\xbf", 0},
	{"\xed\xa0\x80", 0}, /* surrogates */
	{"\xed\xbf\xbf", 0},
	{"\xf4\x90\x80\x80", 0}, /* past U+10FFFF */
	{"\xf5\x80\x80\x80", 0},
	{"\xf8\x88\x80\x80\x80", 0},
	{"\xfe", 0},
	{"\xff", 0},
	{"\xc3", 0}, /* cut short by the end */
	{"\xe2\x82", 0},
	{"\xe2", 0},
	{"\xf0\x9f\xa6", 0},
	{"\xf0\x9f", 0},
	{"\xc3(", 0}, /* cut short by something else */
	{"\xe2\x82(", 0},
	{"\xe2(\xac", 0},
	{"\xf0\x9f\xa6(", 0},
	{"\xc3\xc3\xa9", 0},
};

#define N_CHARACTERS ((int)(sizeof(characters) / sizeof(characters[0])))

START_TEST(characters_are_told_apart)
{
	const char *text = characters[_i].text;

	ck_assert_msg(hlg_escape_plain(text) == characters[_i].plain,
		      "character %d (%#x ...): %zu bytes shown, expected %zu", _i,
		      (unsigned)(unsigned char)text[0], hlg_escape_plain(text),
		      characters[_i].plain);
}
END_TEST

static const struct {
	const char *raw, *shown;
} texts[] = {
	{"", ""},
	{"plain text", "plain text"},
	{"tab\there", "tab\\x09here"},
	{"\033[2J", "\\x1b[2J"},
	{"two\nlines\r", "two\\x0alines\\x0d"},
	{"\xc3\xa9\xe2\x82\xac\xf0\x9f\xa6\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\xa6\x80"},
	{"a\xe2\x80\xae"
	 "b",
	 "a\\xe2\\x80\\xaeb"},
	{"c1\xc2\x9b"
	 "31m",
	 "c1\\xc2\\x9b31m"},
	{"bad\xff\xfe\xc0\x80.", "bad\\xff\\xfe\\xc0\\x80."},
	{"cut\xe2\x82", "cut\\xe2\\x82"},
	/* What comes behind a bad byte is read anew. */
	{"\xe2\xc3\xa9", "\\xe2\xc3\xa9"},
	{"\xed\xa0\x80!", "\\xed\\xa0\\x80!"},
	{"back\\slash", "back\\slash"},
};

#define N_TEXTS ((int)(sizeof(texts) / sizeof(texts[0])))

START_TEST(texts_come_out_as_expected)
{
	char buf[128];
	char *copy = hlg_escape_dup(texts[_i].raw);
	size_t len = hlg_escape(buf, sizeof(buf), texts[_i].raw);

	ck_assert_str_eq(buf, texts[_i].shown);
	ck_assert_uint_eq(len, strlen(texts[_i].shown));
	ck_assert_uint_eq(hlg_escape(NULL, 0, texts[_i].raw), len);
	ck_assert_str_eq(copy, texts[_i].shown);
	free(copy);
}
END_TEST

/* Escaped twice is escaped once; so a name that spells an escape out is left alone. */
START_TEST(escaped_text_stays)
{
	char buf[128];

	ck_assert_uint_eq(hlg_escape(buf, sizeof(buf), texts[_i].shown),
			  strlen(texts[_i].shown));
	ck_assert_str_eq(buf, texts[_i].shown);
}
END_TEST

START_TEST(printed_text_is_the_same)
{
	char *out = NULL;
	size_t size;
	FILE *f = open_memstream(&out, &size);

	ck_assert_ptr_nonnull(f);
	hlg_escape_print(f, texts[_i].raw);
	fclose(f);
	ck_assert_str_eq(out, texts[_i].shown);
	free(out);
}
END_TEST

/* May a text be cut behind its first n bytes? Only between two pieces. */
static bool whole(const char *shown, size_t n)
{
	size_t at = 0;

	while (at < n)
		at += !strncmp(shown + at, "\\x", 2) ? 4 : hlg_escape_plain(shown + at);
	return at == n;
}

START_TEST(short_buffers_are_cut_between_characters)
{
	const char *shown = texts[_i].shown;
	size_t full = strlen(shown);

	for (size_t size = 1; size <= full + 2; size++) {
		char *buf = malloc(size); /* exact, for the sanitizer */
		size_t got;

		ck_assert_uint_eq(hlg_escape(buf, size, texts[_i].raw), full);
		got = strlen(buf);
		ck_assert_uint_lt(got, size);
		ck_assert_int_eq(strncmp(buf, shown, got), 0);
		ck_assert_msg(whole(shown, got), "cut inside a character: %s", buf);
		/* As much as fits: the next piece, of 4 bytes at most, did not. */
		ck_assert(got == full || got + 4 >= size);
		free(buf);
	}
}
END_TEST

/* What is cut ends with dots, and no escape or character is in part. */
START_TEST(cut_text_says_so)
{
	char buf[8];

	hlg_escape_cut(buf, sizeof(buf), "1234567");
	ck_assert_str_eq(buf, "1234567");
	hlg_escape_cut(buf, sizeof(buf), "12345678");
	ck_assert_str_eq(buf, "1234...");
	hlg_escape_cut(buf, sizeof(buf),
		       "1\033"
		       "2345");
	ck_assert_str_eq(buf, "1...");
	hlg_escape_cut(buf, sizeof(buf),
		       "123\xc3\xa4"
		       "567");
	ck_assert_str_eq(buf, "123...");
	hlg_escape_cut(buf, 4, "12345");
	ck_assert_str_eq(buf, "...");
}
END_TEST

START_TEST(nothing_is_written_without_room)
{
	char guard = 'x';

	ck_assert_uint_eq(hlg_escape(&guard, 0, "text"), 4);
	ck_assert_int_eq(guard, 'x');
	/* Behind a piece that did not fit, a shorter one must not slip in. */
	char buf[4];

	ck_assert_uint_eq(hlg_escape(buf, sizeof(buf), "a\tb"), 6);
	ck_assert_str_eq(buf, "a");
}
END_TEST

START_TEST(locale_changes_nothing)
{
	static const char *const locales[] = {"C", "C.UTF-8", "fr_FR.UTF-8", ""};
	char buf[64];

	for (size_t i = 0; i < sizeof(locales) / sizeof(locales[0]); i++) {
		setlocale(LC_ALL, locales[i]);
		hlg_escape(buf, sizeof(buf), "\xc3\xa9\xc2\x9b\xe9");
		setlocale(LC_ALL, "C");
		ck_assert_str_eq(buf, "\xc3\xa9\\xc2\\x9b\\xe9");
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("escape");
	TCase *tc = tap_case(suite, "escape");

	tcase_add_loop_test(tc, characters_are_told_apart, 0, N_CHARACTERS);
	tcase_add_loop_test(tc, texts_come_out_as_expected, 0, N_TEXTS);
	tcase_add_loop_test(tc, escaped_text_stays, 0, N_TEXTS);
	tcase_add_loop_test(tc, printed_text_is_the_same, 0, N_TEXTS);
	tcase_add_loop_test(tc, short_buffers_are_cut_between_characters, 0, N_TEXTS);
	tcase_add_test(tc, cut_text_says_so);
	tcase_add_test(tc, nothing_is_written_without_room);
	tcase_add_test(tc, locale_changes_nothing);
	return tap_main(suite);
}
