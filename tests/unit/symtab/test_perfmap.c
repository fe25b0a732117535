// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves what a perf map's lines mean: a table of single lines says which are taken and
 * as what, and which are passed over and counted; later lines own what they share with
 * earlier ones; the areas are the union of the lines; and a file without a usable line,
 * or one that is no text at all, is refused.
 */
#include "symtab/image/perfmap.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "symtab/image/image.h"
#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"

struct line {
	const char *text;
	size_t len;       /* 0: up to the NUL */
	const char *name; /* NULL: passed over */
	uint64_t start, end;
};

#define SKIPPED NULL, 0, 0

static const struct line lines[] = {
	{"1000 20 f\n", 0, "f", 0x1000, 0x1020},
	{"1000 20 f", 0, "f", 0x1000, 0x1020},
	{"1000 20 f\r\n", 0, "f", 0x1000, 0x1020},
	{"0x1000 0x20 f\n", 0, "f", 0x1000, 0x1020},
	{"0X1000 0X20 f\n", 0, "f", 0x1000, 0x1020},
	{"1000\t20\tf\n", 0, "f", 0x1000, 0x1020},
	{"1000   20   f\n", 0, "f", 0x1000, 0x1020},
	{"aBcDeF 1 f\n", 0, "f", 0xabcdef, 0xabcdf0},
	{"0 1 f\n", 0, "f", 0, 1},
	{"00000000000000000000001000 20 f\n", 0, "f", 0x1000, 0x1020},
	{"1000 20 void f<int, char>(std::x) [clone .y]\n", 0,
	 "void f<int, char>(std::x) [clone .y]", 0x1000, 0x1020},
	{"1000 20 f  \n", 0, "f  ", 0x1000, 0x1020},
	{"1000 20 20 f\n", 0, "20 f", 0x1000, 0x1020},
	{"1000 20 \033[31m\xff\n", 0, "\033[31m\xff", 0x1000, 0x1020},
	{"1000 20 f\rg\n", 0, "f\rg", 0x1000, 0x1020},
	{"fffffffffffffffe 1 f\n", 0, "f", UINT64_MAX - 1, UINT64_MAX},
	{"0 ffffffffffffffff f\n", 0, "f", 0, UINT64_MAX},

	{"1000 0 f\n", 0, SKIPPED},
	{"1000 20\n", 0, SKIPPED},
	{"1000 20 \n", 0, SKIPPED},
	{"1000\n", 0, SKIPPED},
	{"1000 f\n", 0, SKIPPED},
	{"f\n", 0, SKIPPED}, /* hex, but alone */
	{" 1000 20 f\n", 0, SKIPPED},
	{"# comment\n", 0, SKIPPED},
	{"1000 20f\n", 0, SKIPPED},
	{"1000 2g f\n", 0, SKIPPED},
	{"-1000 20 f\n", 0, SKIPPED},
	{"+1000 20 f\n", 0, SKIPPED},
	{"0x 20 f\n", 0, SKIPPED},
	{"1000 0x f\n", 0, SKIPPED},
	{"0x0x1000 20 f\n", 0, SKIPPED},
	{"10000000000000000 20 f\n", 0, SKIPPED},
	{"1000 10000000000000000 f\n", 0, SKIPPED},
	{"ffffffffffffffff 1 f\n", 0, SKIPPED},
	{"fffffffffffffff0 10 f\n", 0, SKIPPED},
	{"1000 fffffffffffff000 f\n", 0, SKIPPED},
	{"1000 20 f\0g\n", 12, SKIPPED},
	{"1000\0 20 f\n", 11, SKIPPED},
	{"\0\n", 2, SKIPPED},
	{"\xef\xbb\xbf"
	 "1000 20 f\n",
	 0, SKIPPED},
};

#define N_LINES ((int)(sizeof(lines) / sizeof(lines[0])))

#define GOOD "7000 1 good\n"

/* Reads a map; the caller finishes *tab. */
static int read_map(const char *text, size_t len, struct hlg_symtab *tab, size_t *skipped,
		    struct hlg_err *err)
{
	return hlg_perfmap_read(scratch_write("perf.map", text, len), tab, skipped, err);
}

static const struct hlg_symbol *find(const struct hlg_symtab *tab, uint64_t addr)
{
	for (size_t i = 0; i < tab->n_syms; i++)
		if (tab->syms[i].addr == addr)
			return &tab->syms[i];
	return NULL;
}

START_TEST(lines_are_read)
{
	const struct line *l = &lines[_i];
	bool taken = l->name != NULL;
	size_t len = l->len ? l->len : strlen(l->text), skipped;
	const struct hlg_symbol *s;
	struct hlg_symtab tab;
	struct hlg_err err;
	char text[256];

	memcpy(text, GOOD, strlen(GOOD)); /* a map of nothing is refused */
	memcpy(text + strlen(GOOD), l->text, len);
	ck_assert_int_eq(read_map(text, strlen(GOOD) + len, &tab, &skipped, &err), 0);
	ck_assert_msg(tab.n_syms == 1 + (size_t)taken && skipped == !taken,
		      "%s: %zu taken, %zu skipped", l->text, tab.n_syms - 1, skipped);
	ck_assert_ptr_nonnull(find(&tab, 0x7000));
	if (taken) {
		s = find(&tab, l->start);
		ck_assert_ptr_nonnull(s);
		ck_assert_uint_eq(s->end, l->end);
		ck_assert_int_eq(s->class, HLG_SYM_FUNCTION);
		ck_assert_str_eq(tab.names + s->name, l->name);
	}
	hlg_symbol_finish(&tab);
}
END_TEST

START_TEST(bad_lines_between_good_ones)
{
	static const char text[] =
		"3000 10 c\nnonsense\n\n1000 10 a\n2000 0 b\n\n2000 10 b";
	struct hlg_symtab tab;
	struct hlg_err err;
	size_t skipped;

	ck_assert_int_eq(read_map(text, strlen(text), &tab, &skipped, &err), 0);
	ck_assert_uint_eq(skipped, 2); /* an empty line is no line */
	ck_assert_uint_eq(tab.n_syms, 3);
	for (size_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(tab.syms[i].addr, 0x1000 * (i + 1));
		ck_assert_int_eq(tab.names[tab.syms[i].name], "abc"[i]);
	}
	hlg_symbol_finish(&tab);
}
END_TEST

START_TEST(more_lines_than_the_first_allocation)
{
	enum {
		N = 5000
	};
	char *text = malloc(N * 32), *at = text;
	struct hlg_symtab tab;
	struct hlg_err err;
	size_t skipped;

	for (unsigned i = 0; i < N; i++)
		at += sprintf(at, "%x 8 f%u\n", (N - i) * 16, i);
	ck_assert_int_eq(read_map(text, (size_t)(at - text), &tab, &skipped, &err), 0);
	free(text);
	ck_assert_uint_eq(tab.n_syms, N);
	ck_assert_uint_eq(skipped, 0);
	for (unsigned i = 0; i < N; i++) {
		char name[16];

		sprintf(name, "f%u", N - 1 - i);
		ck_assert_uint_eq(tab.syms[i].addr, 16 * (i + 1));
		ck_assert_str_eq(tab.names + tab.syms[i].name, name);
	}
	hlg_symbol_finish(&tab);
}
END_TEST

static const struct {
	const char *text;
	size_t len, skipped;
} useless[] = {
	{"", 0, 0},         {"\n\n\n", 3, 0},     {"no map\n", 7, 1},
	{"\0\0\0\0", 4, 1}, {"1000 0 f\n", 9, 1}, {"\177ELF\2\1\1\n\n\n", 10, 1},
};

START_TEST(useless_files_are_refused)
{
	struct hlg_image *image;
	struct hlg_symtab tab;
	struct hlg_err err, want;
	size_t skipped;

	ck_assert_int_eq(
		read_map(useless[_i].text, useless[_i].len, &tab, &skipped, &err),
		HLG_EINPUT);
	hlg_err_set(&want, 0, "%s: has no line of a perf map (START SIZE NAME, in hex)",
		    scratch_path("perf.map"));
	ck_assert_str_eq(err.msg, want.msg);
	ck_assert_uint_eq(skipped, useless[_i].skipped);
	hlg_symbol_finish(&tab);
	ck_assert_int_eq(hlg_image_open_map(&image, scratch_path("perf.map"), &err),
			 HLG_EINPUT);
	ck_assert_ptr_null(image);
	ck_assert_str_eq(err.msg, want.msg);
}
END_TEST

START_TEST(missing_files_are_refused)
{
	struct hlg_symtab tab;
	struct hlg_err err;
	size_t skipped;

	ck_assert_int_eq(hlg_perfmap_read("no/such.map", &tab, &skipped, &err),
			 HLG_EINPUT);
	ck_assert_str_eq(err.msg, "no/such.map: no such file (check the path)");
	hlg_symbol_finish(&tab);
}
END_TEST

/* Names are found by 32-bit offsets. */
START_TEST(enormous_files_are_refused)
{
	const char *path = scratch_write("perf.map", "1000 20 f\n", 10);
	struct hlg_symtab tab;
	struct hlg_err err, want;
	size_t skipped;

	ck_assert_int_eq(truncate(path, UINT32_MAX), 0);
	ck_assert_int_eq(hlg_perfmap_read(path, &tab, &skipped, &err), HLG_EINPUT);
	hlg_err_set(&want, 0, "%s: is 4 GiB or more (no perf map is; name another)",
		    scratch_path("perf.map"));
	ck_assert_str_eq(err.msg, want.msg);
	ck_assert_ptr_null(tab.names); /* nothing of that size was asked for */
	hlg_symbol_finish(&tab);
}
END_TEST

START_TEST(areas_are_the_union)
{
	static const char text[] = "1000 10 a\n1008 10 b\n1018 8 c\n1004 2 d\n"
				   "1021 1 e\n2000 100 f\n2010 10 g\n";
	static const uint64_t want[][2] = {
		{0x1000, 0x1020}, {0x1021, 0x1022}, {0x2000, 0x2100}};
	struct hlg_area *areas;
	struct hlg_symtab tab;
	struct hlg_err err;
	size_t skipped, n;

	ck_assert_int_eq(read_map(text, strlen(text), &tab, &skipped, &err), 0);
	ck_assert_int_eq(hlg_perfmap_areas(&tab, "perf.map", &areas, &n, &err), 0);
	ck_assert_uint_eq(n, 3);
	for (size_t i = 0; i < n; i++) {
		ck_assert_uint_eq(areas[i].start, want[i][0]);
		ck_assert_uint_eq(areas[i].end, want[i][1]);
		ck_assert(areas[i].code);
		ck_assert_uint_eq(areas[i].section, 0);
	}
	free(areas);
	hlg_symbol_finish(&tab);
}
END_TEST

/* One character for each address from 0x1000 on: the name of the line that owns it. */
static const struct {
	const char *map, *owners;
} pictures[] = {
	{"1000 4 a\n1006 2 b\n", "aaaa  bb "},
	{"1000 8 a\n1002 4 b\n", "aabbbbaa "},
	{"1002 4 b\n1000 8 a\n", "aaaaaaaa "},
	{"1000 6 a\n1004 6 b\n", "aaaabbbbbb "},
	{"1004 6 b\n1000 6 a\n", "aaaaaabbbb "},
	{"1000 4 a\n1000 4 b\n", "bbbb "},
	{"1000 4 a\n1000 8 b\n", "bbbbbbbb "},
	{"1000 8 b\n1000 4 a\n", "aaaabbbb "},
	{"1000 9 a\n1002 2 b\n1001 5 c\n1003 1 d\n", "accdccaaa "},
	{"1002 1 x\nbad\n1002 1 y\n", "  y "},
};

#define N_PICTURES ((int)(sizeof(pictures) / sizeof(pictures[0])))

START_TEST(later_lines_own)
{
	const char *owners = pictures[_i].owners;
	struct hlg_image *image;
	struct hlg_place p;
	struct hlg_err err;
	char got[32] = "";

	scratch_write("perf.map", pictures[_i].map, strlen(pictures[_i].map));
	ck_assert_int_eq(hlg_image_open_map(&image, scratch_path("perf.map"), &err), 0);
	for (size_t i = 0; owners[i]; i++) {
		hlg_image_lookup(image, 0x1000 + i, &p);
		got[i] = p.symbol ? *hlg_image_name(image, p.symbol) : ' ';
		ck_assert_int_eq(p.kind, p.symbol ? HLG_FUNCTION : HLG_OUTSIDE);
	}
	ck_assert_str_eq(got, owners);
	ck_assert_uint_eq(hlg_image_read(image, 0x1002, got, 1), 0);
	hlg_image_destroy(image);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perfmap");
	TCase *tc = tap_case(suite, "perfmap");

	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_loop_test(tc, lines_are_read, 0, N_LINES);
	tcase_add_test(tc, bad_lines_between_good_ones);
	tcase_add_test(tc, more_lines_than_the_first_allocation);
	tcase_add_loop_test(tc, useless_files_are_refused, 0,
			    (int)(sizeof(useless) / sizeof(useless[0])));
	tcase_add_test(tc, missing_files_are_refused);
	tcase_add_test(tc, enormous_files_are_refused);
	tcase_add_test(tc, areas_are_the_union);
	tcase_add_loop_test(tc, later_lines_own, 0, N_PICTURES);
	return tap_main(suite);
}
