// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bars by the eighth and by the sign, colours by the share, and nothing of it where
 * colours is off; and on a terminal what its user asked for. Whole reports on one are
 * tried in tests/harm/terminal.py.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "filter/output/colour.h"
#include "tests/kit/tap.h"

static char text[256];

static const char *bar(bool on, bool blocks, double share, double most)
{
	const struct hlg_colour colours = {.on = on, .blocks = blocks};
	FILE *f = fmemopen(text, sizeof(text), "w");

	ck_assert_ptr_nonnull(f);
	hlg_colour_bar(f, &colours, share, most, 4);
	ck_assert_int_eq(fclose(f), 0);
	return text;
}

START_TEST(signs)
{
	ck_assert_str_eq(bar(false, false, 0.4, 0.4), "####");
	ck_assert_str_eq(bar(false, false, 0.3, 0.4), "### ");
	ck_assert_str_eq(bar(false, false, 0.31, 0.4), "####"); /* rounded up */
	ck_assert_str_eq(bar(false, false, 1e-9, 1), "#   ");
	ck_assert_str_eq(bar(false, false, 0, 1), "    ");
	ck_assert_str_eq(bar(false, false, 0, 0), "    ");
	ck_assert_str_eq(bar(false, false, 2, 1), "####"); /* never wider */
}
END_TEST

START_TEST(blocks)
{
	static const char *const parts[] = {"▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
	char expected[32];

	for (int i = 1; i <= 8; i++) {
		snprintf(expected, sizeof(expected), "█%s  ", parts[i - 1]);
		ck_assert_str_eq(bar(false, true, 8 + i, 32), expected);
	}
	ck_assert_str_eq(bar(false, true, 1, 1), "████");
	ck_assert_str_eq(bar(false, true, 1e-9, 1), "▏   ");
	ck_assert_str_eq(bar(false, true, 0, 1), "    ");
}
END_TEST

/* The blanks behind the bar have no colour. */
START_TEST(colours)
{
	ck_assert_str_eq(bar(true, false, 0.05, 0.1), "\033[31m##\033[m  ");
	ck_assert_str_eq(bar(true, false, 0.0499, 0.1), "\033[32m##\033[m  ");
	ck_assert_str_eq(bar(true, false, 0.005, 0.005), "\033[32m####\033[m");
	ck_assert_str_eq(bar(true, false, 0.00499, 0.005), "####");
}
END_TEST

START_TEST(no_terminal)
{
	FILE *f = fmemopen(text, sizeof(text), "w");

	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	ck_assert(!hlg_colour_of(f).on && !hlg_colour_of(f).blocks);
	fclose(f);
}
END_TEST

static void set(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

START_TEST(terminal)
{
	static const struct {
		const char *no_color, *term, *locale;
		bool on, blocks;
	} c[] = {
		{NULL, "xterm", "C", true, false},
		{NULL, "xterm", "C.UTF-8", true, true},
		{NULL, "xterm", "nowhere", true, false},
		{"", "xterm", "C.UTF-8", true, true}, /* no-color.org: if not empty */
		{"0", "xterm", "C.UTF-8", false, false},
		{NULL, "dumb", "C.UTF-8", false, false},
		{NULL, "", "C.UTF-8", false, false},
		{NULL, NULL, "C.UTF-8", false, false},
	};
	int fd = posix_openpt(O_RDWR | O_NOCTTY);
	FILE *f;

	if (fd < 0 || grantpt(fd) != 0 || unlockpt(fd) != 0)
		return; /* no terminals here */
	f = fopen(ptsname(fd), "w");
	ck_assert_ptr_nonnull(f);
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct hlg_colour asked;

		set("NO_COLOR", c[i].no_color);
		set("TERM", c[i].term);
		set("LC_ALL", c[i].locale);
		asked = hlg_colour_of(f);
		ck_assert_int_eq(asked.on, c[i].on);
		ck_assert_int_eq(asked.blocks, c[i].blocks);
	}
	fclose(f);
	close(fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("colour");
	TCase *tc = tap_case(suite, "colour");

	tcase_add_test(tc, signs);
	tcase_add_test(tc, blocks);
	tcase_add_test(tc, colours);
	tcase_add_test(tc, no_terminal);
	tcase_add_test(tc, terminal);
	return tap_main(suite);
}
