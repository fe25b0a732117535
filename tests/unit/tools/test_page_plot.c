// SPDX-License-Identifier: GPL-2.0-only
/* Names, remarks and reasons stand in a page's plots as text, whatever they hold. */
#include <stdlib.h>

#include "tests/kit/tap.h"
#include "tools/page/plot.h"

#define BAD     "<b>&"
#define AS_TEXT "&lt;b&gt;&amp;"

static char *got;
static size_t size;

static FILE *begin(void)
{
	FILE *f = open_memstream(&got, &size);

	ck_assert_ptr_nonnull(f);
	return f;
}

static void expect(FILE *f, const char *expected)
{
	fclose(f);
	ck_assert_str_eq(got, expected);
	free(got);
}

START_TEST(rows)
{
	FILE *f = begin();

	hlg_plot_row(f, BAD, BAD);
	expect(f, "<tr><th scope=\"row\">" AS_TEXT " <small>" AS_TEXT "</small></th>");
	f = begin();
	hlg_plot_row(f, "a::" BAD, "");
	expect(f, "<tr><th scope=\"row\">a::<wbr>" AS_TEXT "</th>");
}
END_TEST

START_TEST(groups_and_cells)
{
	FILE *f = begin();

	hlg_plot_group(f, 2, BAD, BAD);
	expect(f, "<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"2\">" AS_TEXT
		  " <small>" AS_TEXT "</small></th></tr>\n");
	f = begin();
	hlg_plot_cell(f, "number", BAD);
	expect(f, "<td class=\"number\">" AS_TEXT "</td>");
	f = begin();
	hlg_plot_missing(f, 3, BAD);
	expect(f, "<td class=\"missing\" colspan=\"3\">" AS_TEXT "</td></tr>\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("page plot");
	TCase *tc = tap_case(suite, "page plot");

	tcase_add_test(tc, rows);
	tcase_add_test(tc, groups_and_cells);
	return tap_main(suite);
}
