// SPDX-License-Identifier: GPL-2.0-only
/* What was meant: known distances, what is near enough, and which of several. */
#include "filter/options/nearest.h"

#include <string.h>

#include "tests/kit/tap.h"

static const char words[] = "report|record|annotate|diff|exits|calibrate|base|top|time";

static void check(const char *word, const char *expected)
{
	struct hlg_nearest nearest = {.word = word, .n = strlen(word)};

	hlg_nearest_look_words(&nearest, words);
	if (!expected) {
		ck_assert_msg(!nearest.best, "%s: %s", word, nearest.best);
		return;
	}
	ck_assert_msg(nearest.best, "%s: nothing", word);
	ck_assert_uint_eq(nearest.best_n, strlen(expected));
	ck_assert_int_eq(strncmp(nearest.best, expected, nearest.best_n), 0);
}

START_TEST(near)
{
	check("report", "report");
	check("reprot", "report");  /* two swapped */
	check("repot", "report");   /* one missing */
	check("rreport", "report"); /* one too many */
	check("raport", "report");  /* another */
	check("rekort", "report");  /* two others: a third of six */
	check("cal", "calibrate");  /* its begin */
	check("dif", "diff");
	check("tpo", "top");
	check("anotat", "annotate");
	check("local-base", "base"); /* its end, behind a dash */
}
END_TEST

START_TEST(far)
{
	check("", NULL);
	check("t", NULL);
	check("xx", NULL);
	check("profile", NULL);
	check("exxxs", NULL);
	check("database", NULL);
	check("a word that is longer than all words", NULL);
}
END_TEST

/* Its end need not be NUL, and the first of two equally near ones counts. */
START_TEST(parts)
{
	struct hlg_nearest nearest = {.word = "tip=3", .n = 3};

	hlg_nearest_look_words(&nearest, "tap|top");
	ck_assert_uint_eq(nearest.edits, 1);
	ck_assert_int_eq(strncmp(nearest.best, "tap", 3), 0);
	hlg_nearest_look(&nearest, "tip", 3);
	ck_assert_uint_eq(nearest.edits, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("nearest");
	TCase *tc = tap_case(suite, "nearest");

	tcase_add_test(tc, near);
	tcase_add_test(tc, far);
	tcase_add_test(tc, parts);
	return tap_main(suite);
}
