// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves the rule of area.h on layouts drawn by hand: only loaded bytes are in the image;
 * a section's word counts before the segment's; bytes of no section are what their
 * segment is, but for the ELF's headers; areas come sorted, disjoint, joined where
 * nothing tells them apart; and executable sections that overlap are refused. What the
 * rule makes of random layouts is the oracle's matter.
 */
#include "symtab/image/area.h"

#include <string.h>

#include "tests/kit/tap.h"

#define MAX 8

struct layout {
	const char *what;
	struct hlg_load loads[MAX];       /* until one is empty */
	struct hlg_section sections[MAX]; /* from index 1 on; until one has no name */
	struct hlg_area areas[MAX];       /* until one is empty */
};

#define RX(a, b)                                                                         \
	{                                                                                \
		.addr = (a), .end = (b), .exec = true                                    \
	}
#define HELD(a, b, offset_, filesz_)                                                     \
	{                                                                                \
		.addr = (a), .end = (b), .offset = (offset_), .filesz = (filesz_),       \
		.exec = true                                                             \
	}
#define RW(a, b)                                                                         \
	{                                                                                \
		.addr = (a), .end = (b)                                                  \
	}
#define TEXT(a, b)                                                                       \
	{                                                                                \
		.addr = (a), .end = (b), .exec = true, .name = (char[])                  \
		{                                                                        \
			"text"                                                           \
		}                                                                        \
	}
#define DATA(a, b)                                                                       \
	{                                                                                \
		.addr = (a), .end = (b), .name = (char[])                                \
		{                                                                        \
			"data"                                                           \
		}                                                                        \
	}
#define CODE_AREA(a, b, section_)                                                        \
	{                                                                                \
		.start = (a), .end = (b), .section = (section_), .code = true            \
	}
#define DATA_AREA(a, b, section_)                                                        \
	{                                                                                \
		.start = (a), .end = (b), .section = (section_)                          \
	}

#define TOP     UINT64_MAX
#define HEADERS 10

static const struct layout layouts[] = {
	{"segments alone",
	 {RX(10, 20), RW(30, 40)},
	 {{0}},
	 {CODE_AREA(10, 20, 0), DATA_AREA(30, 40, 0)}},
	{"sections that fill their segments",
	 {RX(10, 20), RW(30, 40)},
	 {TEXT(10, 20), DATA(30, 40)},
	 {CODE_AREA(10, 20, 1), DATA_AREA(30, 40, 2)}},
	{"read-only data in the executable segment",
	 {RX(0, 40)},
	 {DATA(0, 10), TEXT(10, 20), DATA(20, 40)},
	 {DATA_AREA(0, 10, 1), CODE_AREA(10, 20, 2), DATA_AREA(20, 40, 3)}},
	{"code in a segment that is not executable",
	 {RW(0, 30)},
	 {TEXT(10, 20)},
	 {DATA_AREA(0, 10, 0), CODE_AREA(10, 20, 1), DATA_AREA(20, 30, 0)}},
	{"bytes of no section",
	 {RX(0, 30)},
	 {TEXT(5, 10), DATA(20, 25)},
	 {CODE_AREA(0, 5, 0), CODE_AREA(5, 10, 1), CODE_AREA(10, 20, 0),
	  DATA_AREA(20, 25, 2), CODE_AREA(25, 30, 0)}},
	{"a section larger than its segment",
	 {RX(10, 20)},
	 {TEXT(5, 30)},
	 {CODE_AREA(10, 20, 1)}},
	{"a section across a hole",
	 {RX(0, 10), RX(20, 30)},
	 {TEXT(5, 25)},
	 {CODE_AREA(0, 5, 0), CODE_AREA(5, 10, 1), CODE_AREA(20, 25, 1),
	  CODE_AREA(25, 30, 0)}},
	{"a section across two segments",
	 {RX(0, 10), RW(10, 20)},
	 {TEXT(5, 15)},
	 {CODE_AREA(0, 5, 0), CODE_AREA(5, 15, 1), DATA_AREA(15, 20, 0)}},
	{"a section in no segment", {RX(0, 10)}, {TEXT(20, 30)}, {CODE_AREA(0, 10, 0)}},
	{"neighbours stay apart",
	 {RX(0, 20)},
	 {TEXT(0, 10), TEXT(10, 20)},
	 {CODE_AREA(0, 10, 1), CODE_AREA(10, 20, 2)}},
	{"neighbours given in another order",
	 {RX(0, 20)},
	 {TEXT(10, 20), TEXT(0, 10)},
	 {CODE_AREA(0, 10, 2), CODE_AREA(10, 20, 1)}},
	{"segments that touch and are alike are one",
	 {RX(0, 10), RX(10, 20)},
	 {{0}},
	 {CODE_AREA(0, 20, 0)}},
	{"segments that touch and differ are two",
	 {RX(0, 10), RW(10, 20)},
	 {{0}},
	 {CODE_AREA(0, 10, 0), DATA_AREA(10, 20, 0)}},
	{"code wins over data",
	 {RX(0, 30)},
	 {TEXT(10, 20), DATA(0, 30)},
	 {DATA_AREA(0, 10, 2), CODE_AREA(10, 20, 1), DATA_AREA(20, 30, 2)}},
	{"empty sections are nowhere",
	 {RX(0, 20)},
	 {TEXT(5, 5), DATA(7, 7), TEXT(0, 20), TEXT(9, 9)},
	 {CODE_AREA(0, 20, 3)}},
	{"the two ends of memory",
	 {RX(0, 1), RX(TOP - 1, TOP)},
	 {TEXT(0, 1), TEXT(TOP - 10, TOP)},
	 {CODE_AREA(0, 1, 1), CODE_AREA(TOP - 1, TOP, 2)}},
	{"headers in the executable segment",
	 {HELD(50, 100, 0, 30)},
	 {TEXT(70, 100)},
	 {DATA_AREA(50, 60, 0), CODE_AREA(60, 70, 0), CODE_AREA(70, 100, 1)}},
	{"a section in the headers",
	 {HELD(50, 100, 0, 30)},
	 {TEXT(52, 56), DATA(58, 62)},
	 {DATA_AREA(50, 52, 0), CODE_AREA(52, 56, 1), DATA_AREA(56, 58, 0),
	  DATA_AREA(58, 62, 2), CODE_AREA(62, 100, 0)}},
	{"the headers' end in one segment, all that is in the file in another",
	 {HELD(50, 100, 6, 30), HELD(200, 300, 2, 5)},
	 {{0}},
	 {DATA_AREA(50, 54, 0), CODE_AREA(54, 100, 0), DATA_AREA(200, 205, 0),
	  CODE_AREA(205, 300, 0)}},
	{"headers in no segment",
	 {HELD(50, 100, 10, 30)},
	 {{0}},
	 {CODE_AREA(50, 100, 0)}},
	{"one segment of everything",
	 {RX(0, TOP)},
	 {TEXT(5, TOP)},
	 {CODE_AREA(0, 5, 0), CODE_AREA(5, TOP, 1)}},
};

static const struct layout overlaps[] = {
	{"by one byte", {RX(0, 40)}, {TEXT(0, 11), TEXT(10, 20)}, {{0}}},
	{"the same bytes", {RX(0, 40)}, {TEXT(0, 10), TEXT(0, 10)}, {{0}}},
	{"one in the other", {RX(0, 40)}, {TEXT(0, 30), TEXT(10, 20)}, {{0}}},
	{"not next to each other",
	 {RX(0, 40)},
	 {TEXT(0, 30), DATA(30, 35), TEXT(29, 30)},
	 {{0}}},
};

#define N(table) ((int)(sizeof(table) / sizeof((table)[0])))

static int build(const struct layout *l, struct hlg_area **areas, size_t *n,
		 struct hlg_err *err)
{
	struct hlg_section sections[MAX + 1] = {{0}};
	struct hlg_load loads[MAX];
	struct hlg_elf64 elf = {.loads = loads,
				.sections = sections,
				.n_sections = 1,
				.headers = HEADERS};

	memcpy(loads, l->loads, sizeof(loads));
	while (elf.n_loads < MAX && loads[elf.n_loads].end)
		elf.n_loads++;
	for (int i = 0; i < MAX && l->sections[i].name; i++)
		sections[elf.n_sections++] = l->sections[i];
	return hlg_area_build(&elf, "guest.elf", areas, n, err);
}

START_TEST(layouts_are_read_as_drawn)
{
	const struct layout *l = &layouts[_i];
	struct hlg_area *areas;
	struct hlg_err err;
	size_t n, i;

	ck_assert_int_eq(build(l, &areas, &n, &err), 0);
	for (i = 0; i < n && i < MAX; i++)
		ck_assert_msg(areas[i].start == l->areas[i].start &&
				      areas[i].end == l->areas[i].end &&
				      areas[i].section == l->areas[i].section &&
				      areas[i].code == l->areas[i].code,
			      "%s: area %zu is [%#lx, %#lx), section %u, code %d",
			      l->what, i, (unsigned long)areas[i].start,
			      (unsigned long)areas[i].end, areas[i].section,
			      areas[i].code);
	ck_assert_msg(i == MAX || l->areas[i].end == 0, "%s: %zu areas", l->what, n);
	free(areas);
}
END_TEST

START_TEST(overlapping_code_is_refused)
{
	struct hlg_area *areas;
	struct hlg_err err;
	size_t n;

	ck_assert_msg(build(&overlaps[_i], &areas, &n, &err) == HLG_EINPUT, "%s",
		      overlaps[_i].what);
	ck_assert_str_eq(err.msg, "guest.elf: has executable sections that overlap (the "
				  "ELF is damaged; build or copy it again)");
	free(areas);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("area");
	TCase *tc = tap_case(suite, "area");

	tcase_add_loop_test(tc, layouts_are_read_as_drawn, 0, N(layouts));
	tcase_add_loop_test(tc, overlapping_code_is_refused, 0, N(overlaps));
	return tap_main(suite);
}
