// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of symbols and processes stand in pictures as text. None may end its element,
 * begin another, or leave a document that a parser refuses; and a cut one is never wider
 * than it was told to be.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/kit/tap.h"
#include "tools/svg/xml.h"

#define ELLIPSIS "\xe2\x80\xa6"

static void same(const char *text, size_t columns, const char *expected)
{
	char *got = NULL;
	size_t size;
	FILE *f = open_memstream(&got, &size);

	ck_assert_ptr_nonnull(f);
	if (columns)
		hlg_xml_text_cut(f, text, columns);
	else
		hlg_xml_text(f, text);
	fclose(f);
	ck_assert_str_eq(got, expected);
	free(got);
}

START_TEST(markup_is_text)
{
	same("a", 0, "a");
	same("", 0, "");
	same("<b>&'\"", 0, "&lt;b&gt;&amp;&#39;&quot;");
	same("]]></script><script>alert(1)", 0,
	     "]]&gt;&lt;/script&gt;&lt;script&gt;alert(1)");
	same("&#60;", 0, "&amp;#60;");
}
END_TEST

START_TEST(only_characters_of_xml)
{
	same("a\tb\nc\x1b[0m\x7f", 0, "a\\x09b\\x0ac\\x1b[0m\\x7f");
	same("\xff\xc0\xaf", 0, "\\xff\\xc0\\xaf");
	same("\xe2\x80\xae", 0, "\\xe2\\x80\\xae"); /* U+202E turns text round */
	same("\xef\xbf\xbe\xef\xbf\xbf\xef\xbf\xbd", 0,
	     "\\xef\\xbf\\xbe\\xef\\xbf\\xbf\xef\xbf\xbd");
	same("\xc3\xa4\xf0\x9f\x94\xa5", 0, "\xc3\xa4\xf0\x9f\x94\xa5");
}
END_TEST

START_TEST(cut_to_columns)
{
	same("abcdef", 6, "abcdef");
	same("abcdef", 5, "abcd" ELLIPSIS);
	same("abcdef", 1, ELLIPSIS);
	same("<<<<", 4, "&lt;&lt;&lt;&lt;");
	same("<<<<", 3, "&lt;&lt;" ELLIPSIS);
	same("a\nb", 6, "a\\x0ab");
	same("a\nb", 5, "a" ELLIPSIS); /* no half of an escape */
	same("\xc3\xa4\xc3\xa4\xc3\xa4", 6, "\xc3\xa4\xc3\xa4\xc3\xa4");
	same("\xc3\xa4\xc3\xa4\xc3\xa4", 5, "\xc3\xa4\xc3\xa4" ELLIPSIS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("xml");
	TCase *tc = tap_case(suite, "text");

	tcase_add_test(tc, markup_is_text);
	tcase_add_test(tc, only_characters_of_xml);
	tcase_add_test(tc, cut_to_columns);
	return tap_main(suite);
}
