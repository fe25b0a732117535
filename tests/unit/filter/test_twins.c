// SPDX-License-Identifier: GPL-2.0-only
/* Rows of one name in one image are told apart, and no others: by hints where each has
 * one of its own, else by addresses. */
#include "filter/report/shift.h"
#include "filter/report/twins.h"

#include <stdlib.h>
#include <string.h>

#include "tests/kit/tap.h"

static struct hlg_image images[2];
static struct hlg_symbol symbol;
static struct hlg_row rows[6];
static struct hlg_report report;

static void set(size_t i, const char *name, int image, uint64_t start)
{
	rows[i] = (struct hlg_row){.name = (char *)name,
				   .place = {.kind = HLG_FUNCTION,
					     .image = &images[image],
					     .symbol = &symbol,
					     .start = start}};
}

static void enter(void)
{
	set(0, "call", 0, 0x300);
	set(1, "call", 1, 0x100);
	set(2, "other", 0, 0x400);
	set(3, "call", 0, 0x200);
	set(4, "call", 0, 0x500);
	set(5, "call", 0, 0x600);
	rows[4].place.symbol = NULL; /* a gap of that name */
	rows[5].place.kind = HLG_GAP;
	report = (struct hlg_report){.all = {.rows = rows, .n_rows = 6}};
}

static void leave(void)
{
	for (size_t i = 0; i < 6; i++)
		free(rows[i].apart);
}

static char *line(void *ctx, const struct hlg_place *place)
{
	(void)ctx;
	return strdup(place->start == 0x200 ? "a.c:2" : "a.c:3");
}

static char *one_line(void *ctx, const struct hlg_place *place)
{
	(void)ctx;
	(void)place;
	return strdup("a.c:1");
}

static char *some(void *ctx, const struct hlg_place *place)
{
	return place->start == 0x200 ? line(ctx, place) : NULL;
}

static const struct {
	char *(*of)(void *ctx, const struct hlg_place *place);
	const char *first, *second;
} hints[] = {
	{NULL, "ELF 0x300", "ELF 0x200"},
	{line, "a.c:3", "a.c:2"},
	{one_line, "ELF 0x300", "ELF 0x200"},
	{some, "ELF 0x300", "ELF 0x200"},
};

START_TEST(told_apart)
{
	const struct hlg_twins_hint hint = {.of = hints[_i].of};
	struct hlg_err err;

	ck_assert_int_eq(hlg_twins_tell(&report, &hint, &err), 0);
	ck_assert_str_eq(rows[0].apart, hints[_i].first);
	ck_assert_str_eq(rows[3].apart, hints[_i].second);
	for (size_t i = 0; i < 6; i++)
		if (i != 0 && i != 3)
			ck_assert_ptr_null(rows[i].apart);
}
END_TEST

/* Two of three hints are alike, whichever. */
START_TEST(two_of_three)
{
	const struct hlg_twins_hint hint = {.of = line};
	static const size_t at[] = {0, 1, 3};
	struct hlg_err err;

	set(1, "call", 0, 0x100);
	rows[3].place.start = 0x700;
	rows[at[_i]].place.start = 0x200;
	ck_assert_int_eq(hlg_twins_tell(&report, &hint, &err), 0);
	for (int i = 0; i < 3; i++)
		ck_assert_msg(strncmp(rows[at[i]].apart, "ELF 0x", 6) == 0, "%s",
			      rows[at[i]].apart);
}
END_TEST

/* What marked one before stands behind it. */
START_TEST(marked)
{
	const struct hlg_twins_hint hint = {.of = line};
	struct hlg_err err;

	rows[3].apart = strdup("moved by +4");
	ck_assert_int_eq(hlg_twins_tell(&report, &hint, &err), 0);
	ck_assert_str_eq(rows[0].apart, "a.c:3");
	ck_assert_str_eq(rows[3].apart, "a.c:2, moved by +4");
}
END_TEST

START_TEST(in_groups)
{
	const struct hlg_twins_hint hint = {.of = line};
	struct hlg_group group = {.view = report.all};
	struct hlg_err err;

	report = (struct hlg_report){.groups = &group, .n_groups = 1};
	ck_assert_int_eq(hlg_twins_tell(&report, &hint, &err), 0);
	ck_assert_str_eq(rows[0].apart, "a.c:3");
	ck_assert_ptr_null(rows[1].apart);
}
END_TEST

/* Where another build is assumed to have run, marked is what it moved: from the function
 * on in which it differs. */
START_TEST(moved)
{
	static char path[] = "a.elf";
	static const bool is[6] = {true, false, true, false, true, true};
	struct hlg_image *list[] = {&images[0], &images[1]};
	const struct hlg_space space = {.images = list, .n_images = 2};
	struct hlg_tail tails[2] = {{.from = 0x310, .samples = 5, .shift = 16}, {0}};
	const struct hlg_shift shift = {tails, 2};

	images[0].path = path;
	images[1].number = 1;
	report.space = &space;
	for (size_t i = 0; i < 6; i++)
		rows[i].place.end = rows[i].place.start + 0x100;
	rows[3].place.end = 0x320; /* where the tail begins here */
	ck_assert(hlg_shift_mark(&shift, &report));
	for (size_t i = 0; i < 6; i++)
		ck_assert_str_eq(rows[i].apart ? rows[i].apart : "",
				 is[i] ? "moved by +16" : "");
	ck_assert_uint_eq(report.notes.n, 1);
	ck_assert_str_eq(report.notes.line[0],
			 "a.elf: from 0x310 on, 5 samples are counted +16 bytes further "
			 "on, as if another build of it ran (--assume-shift)");
	hlg_note_list_finish(&report.notes);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("twins");
	TCase *tc = tap_case(suite, "twins");

	tcase_add_checked_fixture(tc, enter, leave);
	tcase_add_loop_test(tc, told_apart, 0, sizeof(hints) / sizeof(hints[0]));
	tcase_add_loop_test(tc, two_of_three, 0, 3);
	tcase_add_test(tc, marked);
	tcase_add_test(tc, in_groups);
	tcase_add_test(tc, moved);
	return tap_main(suite);
}
