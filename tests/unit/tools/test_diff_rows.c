// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which rows of two sides are one. Proved on the small guest (mkelf-guest.h) and on
 * another build of it, where names were changed as compilers and people change them:
 * rows of one build go by address, of two by name; names that are not one function's
 * alone are one row that says so; what only one build has is new or gone, what was only
 * not sampled is not. Whatever is matched with what, no sample is lost.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/kit/filter.h"
#include "tests/kit/tap.h"
#include "tools/diff/diff.h"
#include "tools/diff/key.h"
#include "tools/diff/sides.h"
#include "tools/diff/text.h"

/* Addresses in the guest, at its base. */
enum {
	ENTRY = 0x5000,
	DISPATCH = 0x5020,
	PADDING = 0x5054,
	COMPUTE = 0x5060,
	GAP = 0x50e0,
	HANDLER = 0x5120,
	COLD = 0x5180,
	LAST = 0x51c0,
	DATA = 0x7000,
	OUTSIDE = 0x90000
};

static struct hlg_run run[2];
static struct hlg_profile *const runs[2] = {&run[0].profile, &run[1].profile};
static struct hlg_diff diff;

static void rename_symbol(struct mkelf_guest *g, const char *from, const char *to)
{
	for (int i = 0; i < MKELF_N_SYMS; i++)
		if (g->syms[i].name && strcmp(g->syms[i].name, from) == 0)
			g->syms[i].name = to;
}

static void write_map(const char *path)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fputs("900000 10 jitted\n", f);
	ck_assert_int_eq(fclose(f), 0);
}

/* The build after, or one that differs in nothing but its bytes and has no id. */
static void write_builds(void)
{
	static const uint8_t id[] = {1, 2, 3, 4, 5, 6, 7, 8};
	struct mkelf_guest g;

	kit_guest("old.elf");
	mkelf_guest_init(&g, 0);
	g.elf.build_id = id;
	g.elf.build_id_size = sizeof(id);
	rename_symbol(&g, "last", "fresh");
	rename_symbol(&g, "dispatch", "helper.lto_priv.3");
	for (int i = 0; i < MKELF_N_SYMS; i++)
		if (g.syms[i].value == 0x1120)
			g.syms[i].type = STT_FUNC, g.syms[i].size = 0x60;
	kit_write(&g, "new.elf");
	mkelf_guest_init(&g, 0);
	rename_symbol(&g, "dispatch", "helper.lto_priv.0");
	rename_symbol(&g, "cold", "helper.lto_priv.1");
	kit_write(&g, "local.elf");
	mkelf_guest_init(&g, 0);
	g.elf.build_id = NULL;
	kit_write(&g, "bare.elf");
	kit_write(&g, "copy.elf");
	mkdir("to", 0700);
	kit_write(&g, "to/other.elf");
	kit_write(&g, "to/list.map");
	write_map("list.map");
	rename_symbol(&g, "last", "tail");
	kit_write(&g, "other.elf");
}

static void start(const char *before, const char *after)
{
	write_builds();
	kit_start(&run[0], before);
	kit_start(&run[1], after);
}

static void add(int side, uint64_t ip, unsigned n)
{
	uint32_t event = hlg_profile_event(&run[side].profile, "cycles", 0);

	kit_add(&run[side], event, ip, 1000, n);
}

static int try_compare(struct hlg_err *err)
{
	memset(&diff, 0, sizeof(diff));
	for (int s = 0; s < 2; s++) {
		static char x[] = "x", *paths[] = {x};
		static const uint64_t one = 1;

		ck_assert_msg(hlg_run_settle(&run[s], err) == 0, "%s", err->msg);
		diff.side[s].options = &run[s].options;
		diff.side[s].space = &run[s].space;
		diff.side[s].profile = runs[s];
		diff.side[s].runs = runs[s];
		diff.side[s].paths = paths;
		diff.side[s].of = &one;
		diff.side[s].n_runs = 1;
	}
	return hlg_diff_build(&diff, err);
}

static void compare(void)
{
	struct hlg_err err = {0};

	ck_assert_msg(try_compare(&err) == 0, "%s", err.msg);
}

/* Nothing is lost, and the order is that of the header. */
static void check_rows(const struct hlg_diff_rows *rows, bool any)
{
	for (int s = 0; s < 2; s++) {
		struct hlg_count sum = {0, 0};

		for (size_t i = 0; i < rows->n; i++)
			hlg_count_add(&sum, rows->row[i].count[s]);
		ck_assert_uint_eq(sum.samples, any ? diff.side[s].all.kept.samples : 0);
		ck_assert_uint_eq(sum.period, any ? diff.side[s].all.kept.period : 0);
	}
	for (size_t i = 0; i + 1 < rows->n; i++) {
		const struct hlg_diff_row *x = &rows->row[i], *y = x + 1;

		ck_assert_int_ge(x->significant, y->significant);
		if (x->significant == y->significant)
			ck_assert_double_ge(fabs(x->compared.diff),
					    fabs(y->compared.diff));
	}
}

static void finish(void)
{
	check_rows(&diff.functions, true);
	check_rows(&diff.regions, diff.images.same);
	hlg_diff_finish(&diff);
	hlg_run_finish(&run[0]);
	hlg_run_finish(&run[1]);
}

/* The row of this name; there must be one. */
static const struct hlg_diff_row *row(const char *name)
{
	const struct hlg_diff_row *found = NULL;

	for (size_t i = 0; i < diff.functions.n; i++)
		if (strcmp(hlg_diff_name(&diff.functions.row[i]), name) == 0) {
			ck_assert_msg(!found, "%s: twice", name);
			found = &diff.functions.row[i];
		}
	ck_assert_msg(found, "%s: no such row", name);
	return found;
}

static void check_row(const char *name, uint64_t before, uint64_t after,
		      enum hlg_diff_presence presence)
{
	ck_assert_uint_eq(row(name)->count[0].samples, before);
	ck_assert_uint_eq(row(name)->count[1].samples, after);
	ck_assert_int_eq(row(name)->presence, presence);
}

START_TEST(keys)
{
	static const char *const known[][2] = {
		{"main", "main"},
		{"init.llvm.1234567890", "init"},
		{"init.llvm.12.cold", "init.cold"},
		{"init.lto_priv.0", "init"},
		{"init.lto_priv.0.cold", "init.cold"},
		{"init.part.0", "init.part.0"},
		{"init.constprop.1", "init.constprop.1"},
		{"init.llvm.", "init.llvm."},
		{"init.llvm.12x", "init.llvm.12x"},
		{"_ZN4core3fmt5write17h0123456789abcdefE", "_ZN4core3fmt5writeE"},
		{"_ZN4core3fmt5write17h0123456789abcdefE.llvm.77", "_ZN4core3fmt5writeE"},
		{"_ZN4core3fmt5write17h0123456789abcdeE",
		 "_ZN4core3fmt5write17h0123456789abcdeE"},
		{"_ZN4core17h0123456789abcdeFE", "_ZN4core17h0123456789abcdeFE"},
		{"x17h0123456789abcdefE", "x17h0123456789abcdefE"},
		{"_ZN", "_ZN"},
		{"__gap__ after _ZN4core3fmt5write17h0123456789abcdefE.llvm.7",
		 "__gap__ after _ZN4core3fmt5writeE"},
		{"", ""},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		char *key = hlg_diff_key(known[i][0]);

		ck_assert_str_eq(key, known[i][1]);
		free(key);
	}
}
END_TEST

START_TEST(one_build)
{
	start("old.elf", "old.elf");
	add(0, ENTRY, 10);
	add(0, COMPUTE, 500);
	add(0, COMPUTE + 4, 20);
	add(0, PADDING, 3);
	add(0, GAP, 40);
	add(0, DATA, 5);
	add(0, OUTSIDE, 7);
	add(1, COMPUTE + 8, 100);
	add(1, GAP + 4, 41);
	add(1, LAST, 30);
	add(1, OUTSIDE + 64, 9);
	compare();
	ck_assert(diff.images.same);
	check_row("compute", 520, 100, HLG_DIFF_BOTH);
	check_row("entrypoint", 10, 0, HLG_DIFF_ONLY_BEFORE);
	check_row("last", 0, 30, HLG_DIFF_ONLY_AFTER);
	check_row("__gap__ after compute", 40, 41, HLG_DIFF_BOTH);
	check_row("__gap__ after dispatch", 3, 0, HLG_DIFF_ONLY_BEFORE);
	check_row("[data] .data", 5, 0, HLG_DIFF_ONLY_BEFORE);
	check_row("[outside]", 7, 9, HLG_DIFF_BOTH);
	ck_assert(diff.functions.row[0].significant);
	ck_assert_double_eq_tol(row("compute")->compared.diff, 100.0 / 180 - 520.0 / 585,
				1e-12);
	ck_assert_uint_gt(diff.regions.n, 0);
	finish();
}
END_TEST

START_TEST(two_builds)
{
	start("old.elf", "new.elf");
	add(0, DISPATCH, 40);
	add(0, HANDLER, 50);
	add(0, LAST, 60);
	add(0, GAP, 10);
	add(0, OUTSIDE, 5);
	add(1, DISPATCH, 41);
	add(1, HANDLER, 51);
	add(1, LAST, 61);
	add(1, GAP, 11);
	add(1, COLD, 12);
	compare();
	ck_assert(!diff.images.same);
	ck_assert_uint_eq(diff.regions.n, 0);
	check_row("handler", 50, 51, HLG_DIFF_BOTH);
	check_row("dispatch", 40, 0, HLG_DIFF_GONE);
	check_row("helper.lto_priv.3", 0, 41, HLG_DIFF_NEW);
	check_row("last", 60, 0, HLG_DIFF_GONE);
	check_row("fresh", 0, 61, HLG_DIFF_NEW);
	check_row("cold", 0, 12, HLG_DIFF_ONLY_AFTER);
	check_row("__gap__ after compute", 10, 11, HLG_DIFF_BOTH);
	check_row("[outside]", 5, 0, HLG_DIFF_ONLY_BEFORE);
	finish();
}
END_TEST

static void write_text(FILE *f, const struct hlg_diff *of)
{
	struct hlg_err err;

	(void)of;
	ck_assert_int_eq(hlg_diff_text_write(&diff, f, &err), 0);
}

/* Two file-local functions of one build are one of the other, or are not. */
START_TEST(namesakes)
{
	static const char *const names[] = {"helper.lto_priv.3", "helper.lto_priv.1"};
	static const char *const told[] = {"  (of this name: 2 before, 1 after)\n",
					   "  (of this name: 1 before, 2 after)\n"};
	const int two = _i, one = !_i;
	const char *name = names[_i];
	char *text;

	start(two ? "new.elf" : "local.elf", two ? "local.elf" : "new.elf");
	run[0].space.images[0]->elf.build_id[0] ^= 1;
	add(two, DISPATCH, 40);
	add(two, COLD, 50);
	add(one, DISPATCH, 41);
	compare();
	check_row(name, two ? 41 : 90, two ? 90 : 41, HLG_DIFF_BOTH);
	ck_assert_uint_eq(row(name)->n[two], 2);
	ck_assert_uint_eq(row(name)->n[one], 1);
	diff.every = true;
	text = hlg_diff_text_of(&diff, write_text);
	ck_assert_ptr_nonnull(strstr(text, told[_i]));
	free(text);
	finish();
}
END_TEST

/* Both sides are in the unit of what is more, unless it would leave nothing of the other.
 */
START_TEST(one_unit)
{
	static const struct {
		unsigned n[2];
		const char *told[2];
	} sides[] = {{{90, 2000}, {"0.090 M, ", "2.000 M, "}},
		     {{2000, 90}, {"2.000 M, ", "0.090 M, "}},
		     {{15, 2000}, {"15.000 k, ", "2.000 M, "}}};
	char *text;

	start("old.elf", "old.elf");
	for (int s = 0; s < 2; s++)
		add(s, COMPUTE, sides[_i].n[s]);
	compare();
	text = hlg_diff_text_of(&diff, hlg_diff_sides_tail);
	for (int s = 0; s < 2; s++)
		ck_assert_msg(strstr(text, sides[_i].told[s]), "no %s in %s",
			      sides[_i].told[s], text);
	free(text);
	finish();
}
END_TEST

/* Without build ids, the bytes tell. */
START_TEST(no_build_id)
{
	start("bare.elf", "copy.elf");
	add(0, LAST, 1);
	add(1, LAST, 1);
	compare();
	ck_assert(diff.images.same);
	finish();
	start("bare.elf", "other.elf");
	add(0, LAST, 1);
	add(1, LAST, 1);
	compare();
	ck_assert(!diff.images.same);
	check_row("last", 1, 0, HLG_DIFF_GONE);
	check_row("tail", 0, 1, HLG_DIFF_NEW);
	finish();
}
END_TEST

/* Of several that are alike the first goes with the first; then by name, then any. */
START_TEST(several_images)
{
	static const struct {
		const char *before, *after;
		bool same;
	} wanted[] = {
		{"bare.elf", "copy.elf", true}, {"copy.elf", "bare.elf", true},
		{"local.elf", "old.elf", true}, {"other.elf", "to/other.elf", false},
		{"list.map", "list.map", true}, {NULL, "new.elf", false},
	};

	start("bare.elf@0x10000 copy.elf@0x20000 local.elf@0x30000 other.elf@0x40000 "
	      "map:list.map",
	      "old.elf@0x10000 copy.elf@0x20000 new.elf@0x30000 bare.elf@0x40000 "
	      "to/other.elf@0x50000 map:list.map");
	add(0, LAST, 1);
	add(1, LAST, 1);
	compare();
	ck_assert(!diff.images.same);
	ck_assert_uint_eq(diff.images.n, sizeof(wanted) / sizeof(*wanted));
	for (size_t i = 0; i < diff.images.n; i++) {
		const struct hlg_paired_image *pair = &diff.images.pairs[i];

		ck_assert_pstr_eq(pair->image[0] ? pair->image[0]->path : NULL,
				  wanted[i].before);
		ck_assert_pstr_eq(pair->image[1] ? pair->image[1]->path : NULL,
				  wanted[i].after);
		ck_assert(pair->same == wanted[i].same);
		for (int s = 0; s < 2; s++)
			ck_assert_uint_eq(
				hlg_paired_find(&diff.images, s, pair->image[s]),
				pair->image[s] ? i : diff.images.n);
	}
	finish();
}
END_TEST

/* A map is never an ELF's partner, whatever they are called. */
START_TEST(maps_and_elfs)
{
	start("map:list.map old.elf@0x10000", "to/list.map@0x10000");
	add(0, ENTRY, 1);
	add(1, ENTRY, 1);
	compare();
	ck_assert_uint_eq(diff.images.n, 2);
	ck_assert_str_eq(diff.images.pairs[0].image[0]->path, "list.map");
	ck_assert_ptr_null(diff.images.pairs[0].image[1]);
	ck_assert_str_eq(diff.images.pairs[1].image[0]->path, "old.elf");
	ck_assert_str_eq(diff.images.pairs[1].image[1]->path, "to/list.map");
	ck_assert(!diff.images.pairs[1].same);
	finish();
}
END_TEST

static int compare_events(const char *before, const char *after, struct hlg_err *err)
{
	const char *const names[] = {before, after};
	int rc;

	start("old.elf", "old.elf");
	for (int s = 0; s < 2; s++)
		kit_add(&run[s], hlg_profile_event(&run[s].profile, names[s], 0), ENTRY,
			1000, 4);
	rc = try_compare(err);
	hlg_diff_finish(&diff);
	hlg_run_finish(&run[0]);
	hlg_run_finish(&run[1]);
	return rc;
}

/* Names that differ in how often is one thing, in what is another. */
START_TEST(events_of_sides)
{
	struct hlg_err err = {0};

	ck_assert_int_eq(compare_events("cpu-clock", "cpu-clock/freq=997/G", &err), 0);
	ck_assert_int_ne(compare_events("cpu-clock", "cycles", &err), 0);
	ck_assert_ptr_nonnull(strstr(err.msg, "cpu-clock before and cycles after"));
	ck_assert_int_ne(compare_events("cycles:u", "cycles", &err), 0);
}
END_TEST

START_TEST(several_events)
{
	struct hlg_err err = {0};

	start("old.elf", "old.elf");
	add(0, LAST, 1);
	add(1, LAST, 1);
	kit_add(&run[1], hlg_profile_event(&run[1].profile, "faults", 0), LAST, 1, 1);
	ck_assert_int_lt(try_compare(&err), 0);
	ck_assert_ptr_nonnull(strstr(err.msg, "after: the samples are of several"));
	hlg_diff_finish(&diff);
	hlg_run_finish(&run[0]);
	hlg_run_finish(&run[1]);
}
END_TEST

START_TEST(nothing_on_a_side)
{
	start("old.elf", "old.elf");
	add(1, LAST, 100);
	compare();
	check_row("last", 0, 100, HLG_DIFF_ONLY_AFTER);
	ck_assert(!row("last")->significant);
	ck_assert_ptr_null(hlg_diff_grown(&diff, 0, NULL));
	finish();
}
END_TEST

START_TEST(grown)
{
	start("old.elf", "old.elf");
	add(0, COMPUTE, 5000);
	add(0, COLD, 5000);
	add(1, COMPUTE, 5500);
	add(1, COLD, 4500);
	compare();
	ck_assert_ptr_eq(hlg_diff_grown(&diff, 0.05, NULL), row("compute"));
	ck_assert_ptr_null(hlg_diff_grown(&diff, 0.11, NULL));
	finish();
}
END_TEST

/* What lies outside may be of who is not named: the rest is asked by itself. */
START_TEST(grown_but_for_outside)
{
	start("old.elf", "old.elf");
	add(0, COMPUTE, 5000);
	add(1, COMPUTE, 5000);
	add(1, OUTSIDE, 5000);
	compare();
	ck_assert_ptr_eq(hlg_diff_outside(&diff), row("[outside]"));
	ck_assert_ptr_eq(hlg_diff_grown(&diff, 0, NULL), row("[outside]"));
	ck_assert_ptr_null(hlg_diff_grown(&diff, 0, row("[outside]")));
	ck_assert(hlg_diff_total_growth(&diff.total) == 1);
	ck_assert(hlg_diff_total_growth(&diff.inside) == 0);
	finish();
	start("old.elf", "old.elf");
	add(0, COMPUTE, 5000);
	add(1, COMPUTE, 5000);
	compare();
	ck_assert_ptr_null(hlg_diff_outside(&diff));
	finish();
}
END_TEST

/* What a row took is of a recording, and grew by a part of what it was. */
START_TEST(grown_by_a_part)
{
	static struct hlg_diff d;
	struct hlg_diff_row row = {.count = {{10, 1000}, {20, 2 * 1050}}, .amount = 0.05};

	d.recordings[0] = 1;
	d.recordings[1] = 2;
	d.total.clock = true;
	ck_assert(!hlg_diff_total_grew(&d, &row, 0.05));
	row.count[1].period += 2;
	ck_assert(hlg_diff_total_grew(&d, &row, 0.05));
	ck_assert(!hlg_diff_total_grew(&d, &row, 0.06));
	row.amount = 0.051;
	ck_assert(!hlg_diff_total_grew(&d, &row, 0.05));
	row.amount = 0;
	d.total.clock = false; /* by weight, which is as much */
	d.weight = HLG_WEIGHT_SAMPLES;
	ck_assert(!hlg_diff_total_grew(&d, &row, 0));
	row.count[1].samples++;
	ck_assert(hlg_diff_total_grew(&d, &row, 0));
}
END_TEST

START_TEST(growth_of_the_total)
{
	static const struct {
		double mean[2], growth;
	} totals[] = {{{0, 0}, 0}, {{0, 5}, INFINITY}, {{5, 0}, -1}, {{4, 5}, 0.25}};
	static struct hlg_diff d;

	for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++) {
		memcpy(d.total.mean, totals[i].mean, sizeof(d.total.mean));
		ck_assert(hlg_diff_total_growth(&d.total) == totals[i].growth);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("diff");
	TCase *tc = tap_case(suite, "rows");

	tcase_add_checked_fixture(tc, kit_enter, kit_leave);
	tcase_add_test(tc, keys);
	tcase_add_test(tc, one_build);
	tcase_add_test(tc, two_builds);
	tcase_add_loop_test(tc, namesakes, 0, 2);
	tcase_add_loop_test(tc, one_unit, 0, 3);
	tcase_add_test(tc, no_build_id);
	tcase_add_test(tc, several_images);
	tcase_add_test(tc, maps_and_elfs);
	tcase_add_test(tc, events_of_sides);
	tcase_add_test(tc, several_events);
	tcase_add_test(tc, nothing_on_a_side);
	tcase_add_test(tc, grown);
	tcase_add_test(tc, grown_but_for_outside);
	tcase_add_test(tc, grown_by_a_part);
	tcase_add_test(tc, growth_of_the_total);
	return tap_main(suite);
}
