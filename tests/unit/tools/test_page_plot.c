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

/* In the unit of the longest of its column; what would be rounded to nothing is less than
 * the last digit. */
static const struct {
	uint64_t ns, most;
	const char *text;
} times[] = {
	{99999, 99999, "99999 ns"},
	{1, 99999, "1 ns"},
	{60, 200000, "0.1 us"},
	{49, 200000, "&lt;0.1 us"},
	{0, 200000, "0.0 us"},
	{600, 2000000, "1 us"},
	{499, 2000000, "&lt;1 us"},
	{99999000, 99999000, "99999 us"},
	{100000000, 100000000, "100.0 ms"},
	{2500000000, 999900000000, "2.5 s"},
};

START_TEST(durations)
{
	FILE *f = begin();
	char cell[64];

	hlg_plot_ns(f, times[_i].ns, times[_i].most);
	snprintf(cell, sizeof(cell), "<td class=\"number\">%s</td>", times[_i].text);
	expect(f, cell);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("page plot");
	TCase *tc = tap_case(suite, "page plot");

	tcase_add_test(tc, rows);
	tcase_add_test(tc, groups_and_cells);
	tcase_add_loop_test(tc, durations, 0, sizeof(times) / sizeof(times[0]));
	return tap_main(suite);
}
