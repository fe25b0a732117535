// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which addresses are the border's, on counts made up for the small guest as AArch64: by
 * the test alone, against values reckoned apart; both sides of an exit, one side where
 * control comes in from elsewhere, where the guest is entered; and nothing where the
 * neighbours are as hot, where there are few samples, or no neighbours.
 */
#include "filter/view/border.h"

#include <string.h>

#include "tests/kit/filter-trust.h"
#include "tests/kit/tap.h"

#define HVC  0xd4000002
#define WFI  0xd503207f
#define NOP  0xd503201f
#define RET  0xd65f03c0
#define BACK 0x17ffffff /* b .-4 */

static const struct {
	struct hlg_border_counts counts;
	double times;
	bool stands_out;
} tests[] = {
	/* (2 / 3)^17 = 0.00102, (2 / 3)^18 = 0.00068 */
	{{17, 2, 0, 2}, 2, false},
	{{18, 2, 0, 2}, 2, true},
	/* (4 / 14)^5 = 0.0019, (4 / 14)^6 = 0.0005 */
	{{5, 2, 0, 10}, 2, false},
	{{6, 2, 0, 10}, 2, true},
	/* X of 400, p = 2 / 3: mean 267, deviation 9.4 */
	{{290, 1, 110, 1}, 2, false},
	{{300, 1, 100, 1}, 2, true},
	{{100, 1, 100, 1}, 2, false},
	/* (400 / 410)^279 = 0.00102, ^280 = 0.00099 */
	{{279, 2, 0, 10}, 200, false},
	{{280, 2, 0, 10}, 200, true},
	{{100000, 1, 1000, 10}, 200, true},
	{{30000, 1, 1000, 10}, 200, true},
	{{21000, 1, 1000, 10}, 200, false},
	{{1000000, 2, 0, 0}, 2, false},
	{{0, 1, 0, 10}, 2, false},
};

START_TEST(the_test)
{
	ck_assert_int_eq(hlg_border_stands_out(&tests[_i].counts, tests[_i].times),
			 tests[_i].stands_out);
}
END_TEST

/* Instructions from an own address on, samples there, and which of these are the border's
 * ('x'); of the second event what is told of it. */
struct guest {
	const char *what;
	uint64_t at;
	uint32_t word[10]; /* up to 0 */
	unsigned samples[10], second[10];
	const char *border;
};

#define AT 0x1060 /* compute, whose other instructions are nops */

static const struct guest guests[] = {
	{"both sides",
	 AT,
	 {NOP, NOP, NOP, HVC, NOP, RET},
	 {0, 0, 1, 9, 20},
	 {0},
	 "...xx."},
	{"as hot as the line",
	 AT,
	 {NOP, NOP, NOP, HVC, NOP, NOP, RET},
	 {21, 19, 20, 22, 35, 22},
	 {0},
	 "......."},
	{"one side only",
	 AT,
	 {NOP, NOP, NOP, HVC, NOP, NOP, RET},
	 {10, 11, 9, 12, 90, 8},
	 {0},
	 "....x.."},
	{"too few",
	 AT,
	 {NOP, NOP, NOP, NOP, HVC, NOP, RET},
	 {0, 0, 0, 0, 2, 3},
	 {0},
	 "......."},
	{"few",
	 AT,
	 {NOP, NOP, NOP, NOP, HVC, NOP, RET},
	 {0, 0, 0, 0, 4, 5},
	 {0},
	 "....xx."},
	{"of two events",
	 AT,
	 {NOP, NOP, NOP, NOP, HVC, NOP, RET},
	 {0, 0, 0, 0, 2, 3},
	 {0, 0, 0, 0, 2, 3},
	 "......."},
	{"of the second event",
	 AT,
	 {NOP, NOP, NOP, NOP, HVC, NOP, RET},
	 {10, 10, 10, 10, 10, 10},
	 {0, 0, 0, 0, 4, 5},
	 "....xx."},
	/* 106c is a loop's first: of its own line, with 1070, which is as hot. */
	{"a loop behind",
	 AT,
	 {NOP, NOP, HVC, NOP, BACK},
	 {0, 0, 20, 500, 510},
	 {0},
	 "..x.."},
	{"a loop of nothing else: the function stands for it",
	 AT,
	 {NOP, NOP, NOP, RET, HVC, BACK},
	 {0, 0, 0, 0, 60, 5},
	 {0},
	 "....xx"},
	{"the same, not always leaving",
	 AT,
	 {NOP, NOP, NOP, RET, WFI, BACK},
	 {0, 0, 0, 0, 60000, 5},
	 {0},
	 "......"},
	{"not always leaving",
	 AT,
	 {NOP, NOP, NOP, NOP, WFI, NOP, RET},
	 {0, 0, 0, 0, 50, 60},
	 {0},
	 "......."},
	{"not always leaving, but often",
	 AT,
	 {NOP, NOP, NOP, NOP, WFI, NOP, RET},
	 {0, 0, 0, 0, 500, 600},
	 {0},
	 "....xx."},
	{"no exit at all",
	 AT,
	 {NOP, NOP, NOP, NOP, NOP, NOP, RET},
	 {0, 0, 0, 0, 500, 600},
	 {0},
	 "......."},
	{"the entry point", 0x1000, {NOP, NOP, NOP, NOP, RET}, {20, 0, 1}, {0}, "x...."},
	{"no entry point", 0x1020, {NOP, NOP, NOP, NOP, RET}, {20, 0, 1}, {0}, "....."},
};

static void put(struct mkelf_guest *g, uint64_t addr, uint32_t word)
{
	for (int i = 0; i < 4; i++)
		g->text[addr - MKELF_TEXT + (uint64_t)i] = (uint8_t)(word >> 8 * i);
}

static void write_guest(const struct guest *guest, const char *dispatch)
{
	struct mkelf_guest g;

	mkelf_guest_init(&g, 0);
	g.elf.machine = EM_AARCH64;
	mkelf_guest_code(&g);
	for (uint64_t a = 0x1000; a < 0x1020; a += 4)
		put(&g, a, NOP);
	for (uint64_t i = 0; i < 10 && guest->word[i]; i++)
		put(&g, guest->at + 4 * i, guest->word[i]);
	for (int i = 0; i < MKELF_N_SYMS; i++)
		if (g.syms[i].name && strcmp(g.syms[i].name, "dispatch") == 0)
			g.syms[i].name = dispatch;
	kit_write(&g, "guest.elf");
}

static void find(struct hlg_border *border, struct hlg_run *run)
{
	struct hlg_cell cells[64];
	struct hlg_err err;
	size_t n = 0;

	ck_assert_int_eq(hlg_run_settle(run, &err), 0);
	for (size_t i = 0; i < hlg_profile_room(&run->profile); i++)
		if (run->profile.cells[i].count.samples)
			cells[n++] = run->profile.cells[i];
	ck_assert_int_eq(
		hlg_border_find(border, &run->space, &run->profile, cells, n, &err), 0);
}

static void check(const struct guest *guest, const char *border, const char *dispatch)
{
	struct hlg_border found;
	struct hlg_run run;
	size_t n = 0;

	write_guest(guest, dispatch);
	kit_start(&run, "guest.elf@0x4000");
	hlg_profile_event(&run.profile, "a", 0);
	hlg_profile_event(&run.profile, "b", 0);
	for (unsigned i = 0; i < 10; i++) {
		kit_add(&run, 0, guest->at + KIT_BASE + 4 * i, 1, guest->samples[i]);
		kit_add(&run, 1, guest->at + KIT_BASE + 4 * i, 1, guest->second[i]);
	}
	find(&found, &run);
	for (unsigned i = 0; border[i]; i++) {
		bool has = hlg_border_has(&found, run.space.images[0], guest->at + 4 * i);

		ck_assert_msg(has == (border[i] == 'x'), "%s: 0x%jx", guest->what,
			      (uintmax_t)(guest->at + 4 * i));
		n += has;
	}
	ck_assert_msg(found.n == n, "%s: %zu addresses", guest->what, found.n);
	ck_assert(!hlg_border_has(NULL, run.space.images[0], guest->at));
	ck_assert(!hlg_border_has(&found, NULL, guest->at));
	hlg_border_finish(&found);
	hlg_border_finish(&found); /* twice does no harm */
	hlg_run_finish(&run);
}

START_TEST(what_is_the_border)
{
	check(&guests[_i], guests[_i].border, "dispatch");
}
END_TEST

START_TEST(hyperlight_enters_at_its_function)
{
	const struct guest *last = &guests[sizeof(guests) / sizeof(guests[0]) - 1];

	check(last, "x....", "dispatch_function");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("border");
	TCase *tc = tap_case(suite, "border");

	tcase_add_checked_fixture(tc, kit_enter, kit_leave);
	tcase_add_loop_test(tc, the_test, 0, sizeof(tests) / sizeof(tests[0]));
	tcase_add_loop_test(tc, what_is_the_border, 0,
			    sizeof(guests) / sizeof(guests[0]));
	tcase_add_test(tc, hyperlight_enters_at_its_function);
	return tap_main(suite);
}
