// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a page leaves out: the largest sections give way first, and never all of a thing;
 * shares are below what is said; addresses that are not kept count at the start of their
 * row, those of other rows in one behind these.
 */
#include "tools/page/cut.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/kit/tap.h"
#include "tools/page/addresses.h"

START_TEST(below)
{
	static const struct {
		double share;
		const char *text;
	} cases[] = {{0.5, "100 %"},       {0.0999, "10 %"},  {0.01, "10 %"},
		     {0.00999, "1 %"},     {0.0002, "0.1 %"}, {0.00002, "0.01 %"},
		     {0.000002, "0.001 %"}};
	char buf[32];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_str_eq(hlg_page_cut_below(buf, cases[i].share), cases[i].text);
	hlg_page_cut_below(buf, 0);
}
END_TEST

static struct hlg_page_cut of_kept(void)
{
	struct hlg_page_cut cut = HLG_PAGE_CUT_NONE;

	cut.is.kept_rows = 1000;
	cut.is.kept_addresses = 5000;
	cut.is.kept_frames = 4000;
	return cut;
}

START_TEST(largest_first)
{
	struct hlg_page_cut cut = of_kept();
	size_t sizes[HLG_PAGE_SECTIONS] = {
		[HLG_PAGE_IMAGES] = 10, [HLG_PAGE_ROWS] = 20, [HLG_PAGE_FLAME] = 1000};

	hlg_page_cut_more(&cut, sizes, 500);
	ck_assert_uint_eq(cut.rows, SIZE_MAX);
	ck_assert_uint_eq(cut.addresses, SIZE_MAX);
	ck_assert(!cut.outlines && !cut.stacks && cut.longer == 0);
	/* What the others leave of 95 %. */
	ck_assert_uint_eq(cut.frames, 4000 * 445 / 1000);
	sizes[HLG_PAGE_WHERE] = 4000;
	sizes[HLG_PAGE_STACKS] = 900;
	hlg_page_cut_more(&cut, sizes, 500);
	ck_assert_uint_eq(cut.longer, 5); /* more than 16 times too large */
	ck_assert(!cut.stacks);
	cut.is.longest = true;
	hlg_page_cut_more(&cut, sizes, 500);
	ck_assert(cut.stacks);
	ck_assert_uint_eq(cut.longer, 5);
	ck_assert_uint_lt(cut.addresses, 500);
}
END_TEST

START_TEST(outlines_then_rows)
{
	struct hlg_page_cut cut = of_kept();
	size_t sizes[HLG_PAGE_SECTIONS] = {[HLG_PAGE_IMAGES] = 1000};

	hlg_page_cut_more(&cut, sizes, 100);
	ck_assert(cut.outlines);
	ck_assert_uint_eq(cut.rows, SIZE_MAX);
	hlg_page_cut_more(&cut, sizes, 500);
	ck_assert_uint_eq(cut.rows, 475);
	hlg_page_cut_more(&cut, sizes, 1);
	ck_assert_uint_eq(cut.rows, HLG_PAGE_LEAST);
}
END_TEST

/* Where that is not enough, all is cut that grows; and it says so. */
START_TEST(least)
{
	struct hlg_page_cut cut = of_kept();
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	hlg_page_cut_least(&cut);
	ck_assert_uint_eq(cut.rows, HLG_PAGE_LEAST);
	ck_assert_uint_eq(cut.addresses + cut.frames, 2);
	ck_assert(cut.outlines && cut.stacks && cut.longer > 64);
	ck_assert(hlg_page_cut_any(&cut));
	cut.is.slice = 1;
	cut.is.longest = true;
	hlg_page_cut_words(f, &cut, "functions");
	fclose(f);
	ck_assert_str_eq(text, "functions are known of whole recordings only; the flame "
			       "graph is of all time");
	free(text);
}
END_TEST

static void check_words(const struct hlg_page_cut *cut, const char *right)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	hlg_page_cut_words(f, cut, "functions");
	fclose(f);
	ck_assert_str_eq(text, right);
	ck_assert_int_eq(hlg_page_cut_any(cut), right[0] != '\0');
	free(text);
}

/* Only what was cut is told, though recordings may be as long as one slice anyway. */
START_TEST(words)
{
	struct hlg_page_cut cut = HLG_PAGE_CUT_NONE;

	cut.is.kept_rows = 7;
	cut.is.longest = true;
	check_words(&cut, "");
	cut.is.callers = 5;
	check_words(&cut, "5 callers without samples of their own have no row");
	cut.is.rows = 4;
	cut.is.row_share = 0.0002;
	cut.is.addresses = 3;
	cut.is.outlines = 2;
	check_words(&cut, "4 functions below 0.1 % are one row; 5 callers without samples of "
			  "their own have no row; the samples of 3 addresses are at the "
			  "start of their function; 2 functions without samples have no "
			  "outline");
	cut = (struct hlg_page_cut)HLG_PAGE_CUT_NONE;
	cut.is.frames = 6;
	cut.is.frame_share = 0.02;
	cut.is.slice = 320000000;
	check_words(&cut, "6 frames of the flame graph below 10 % are [smaller frames]; "
			  "functions are known by slices of 0.32 s");
}
END_TEST

enum {
	ROWS = 3,
	EACH = 4, /* addresses of a row */
	HITS = ROWS * EACH
};

/* Rows of four addresses each, of which the last has most. */
static void fold(size_t rows, size_t most, uint64_t first, const char *right)
{
	struct hlg_image image = {.number = 0};
	struct hlg_page_offsets offsets = {.part = {{0, 0x1000}}, .n = 1};
	struct hlg_hit hits[HITS] = {0};
	struct hlg_row row[ROWS] = {0};
	struct hlg_report report = {
		.all = {.rows = row, .n_rows = ROWS, .hits = hits, .n_hits = HITS}};
	struct hlg_page_addresses a = {0};
	struct hlg_page_cut cut = HLG_PAGE_CUT_NONE;
	char text[400] = "", *at = text;

	for (size_t i = 0; i < HITS; i++) {
		uint64_t addr = 0x1000 + i / EACH * 0x100 + first + i % EACH;

		hits[i] = (struct hlg_hit){
			.ip = addr, .addr = addr, .count = {1 + i % EACH, 0}};
		row[i / EACH].place.image = &image;
		row[i / EACH].place.start = 0x1000 + i / EACH * 0x100;
		row[i / EACH].first_hit = i / EACH * EACH;
		row[i / EACH].n_hits = EACH;
	}
	report.all.weight = HLG_WEIGHT_SAMPLES;
	cut.is.kept_rows = rows;
	cut.addresses = most;
	ck_assert(hlg_page_addresses_collect(&a, &report, &offsets));
	ck_assert(hlg_page_addresses_fold(&a, &report, &offsets, &cut));
	for (size_t i = 0; i < a.n; i++)
		at += sprintf(at, "%u:%x=%u ", a.list[i].row, (unsigned)a.list[i].at,
			      (unsigned)a.list[i].count);
	ck_assert_str_eq(text, right);
	/* Samples of an ip are where their address is. */
	for (size_t i = 0; i < HITS; i++) {
		const struct hlg_page_address *to = &a.list[a.sampled[i].address];

		ck_assert_uint_eq(to->row, i / EACH < rows ? i / EACH : rows);
	}
	hlg_page_addresses_finish(&a);
}

START_TEST(addresses)
{
	fold(3, SIZE_MAX, 0,
	     "0:0=1 0:1=2 0:2=3 0:3=4 1:100=1 1:101=2 1:102=3 1:103=4 "
	     "2:200=1 2:201=2 2:202=3 2:203=4 ");
	fold(2, SIZE_MAX, 0,
	     "0:0=1 0:1=2 0:2=3 0:3=4 1:100=1 1:101=2 1:102=3 1:103=4 2:0=10 ");
	/* Of those with as many the first; the others at the start, where there is one.
	 */
	fold(3, 4, 0, "0:0=3 0:2=3 0:3=4 1:100=6 1:103=4 2:200=6 2:203=4 ");
	fold(3, 4, 8, "0:0=3 0:a=3 0:b=4 1:100=6 1:10b=4 2:200=6 2:20b=4 ");
	fold(1, 1, 8, "0:0=6 0:b=4 1:0=20 ");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("page cut");
	TCase *tc = tap_case(suite, "page cut");

	tcase_add_test(tc, below);
	tcase_add_test(tc, largest_first);
	tcase_add_test(tc, outlines_then_rows);
	tcase_add_test(tc, least);
	tcase_add_test(tc, words);
	tcase_add_test(tc, addresses);
	return tap_main(suite);
}
