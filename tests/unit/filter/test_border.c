// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which addresses are the border's, on counts made up for the small guest as AArch64: by
 * the test alone, against values reckoned apart; both sides of an exit, one side where
 * control comes in from elsewhere, where the guest is entered; and nothing where the
 * neighbours are as hot, where there are few samples, or no neighbours.
 */
#include "filter/view/border.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/kit/filter-trust.h"
#include "tests/kit/tap.h"

#define HVC     0xd4000002
#define WFI     0xd503207f
#define NOP     0xd503201f
#define RET     0xd65f03c0
#define BACK    0x17ffffff /* b .-4 */
#define CBZ_12  0xb4000060 /* cbz x0, .+12 */
#define BACK_12 0x17fffffd /* b .-12 */

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
	/* 1070 is branched to: a line of its own, of the same exit. */
	{"two lines",
	 AT,
	 {NOP, CBZ_12, NOP, HVC, NOP, RET},
	 {0, 0, 0, 1, 30},
	 {0},
	 "...xx."},
	{"few, and none in the first line",
	 AT,
	 {NOP, NOP, NOP, CBZ_12, NOP, HVC, NOP, RET},
	 {0, 0, 0, 0, 0, 4, 4},
	 {0},
	 ".....xx."},
	{"the same in a loop",
	 AT,
	 {NOP, NOP, NOP, CBZ_12, NOP, HVC, NOP, BACK_12},
	 {0, 0, 0, 0, 0, 4, 4},
	 {0},
	 "........"},
	{"a loop in the second line",
	 AT,
	 {NOP, NOP, NOP, CBZ_12, NOP, HVC, NOP, BACK},
	 {0, 0, 0, 0, 0, 0, 10},
	 {0},
	 "........"},
	{"the first line is as hot",
	 AT,
	 {NOP, NOP, NOP, CBZ_12, NOP, HVC, NOP, RET},
	 {3, 3, 3, 3, 0, 4, 4},
	 {0},
	 "........"},
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

/* A function that is a MiB long is searched; one that is longer is none. */
/* What the system says is told as it is, not as want of memory. */
START_TEST(code_cannot_be_opened)
{
	const struct guest *guest = &guests[0];
	struct hlg_border found;
	struct rlimit old, none;
	struct hlg_run run;
	struct hlg_err err;
	int next;

	write_guest(guest, "dispatch");
	kit_start(&run, "guest.elf@0x4000");
	hlg_profile_event(&run.profile, "a", 0);
	kit_add(&run, 0, guest->at + KIT_BASE, 1, 1);
	find(&found, &run);
	hlg_border_finish(&found);
	next = dup(STDERR_FILENO);
	close(next);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = (struct rlimit){(rlim_t)next, old.rlim_max};
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	ck_assert_int_eq(hlg_border_find(&found, &run.space, &run.profile,
					 run.profile.cells,
					 hlg_profile_room(&run.profile), &err),
			 HLG_ESYSTEM);
	ck_assert_ptr_nonnull(strstr(err.msg, "Too many open files"));
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
	hlg_border_finish(&found);
	hlg_run_finish(&run);
}
END_TEST

START_TEST(of_the_largest_function)
{
	static const size_t sizes[] = {0x10000, 0x100000, 0x100004};
	static uint32_t text[(0x100000 + 4) / 4];
	const struct mkelf_sym sym = MKELF_SYM("large", MKELF_TEXT, sizes[_i], STB_GLOBAL,
					       STT_FUNC, MKELF_SEC(0));
	struct mkelf_simple simple;
	struct mkelf_image image;
	struct hlg_border found;
	struct hlg_run run;

	for (size_t i = 0; i < sizes[_i] / 4; i++)
		text[i] = i == 3 ? HVC : i == 5 ? RET : NOP;
	mkelf_simple_init(&simple, MKELF_TEXT, text, sizes[_i], &sym, 1);
	simple.elf.machine = EM_AARCH64;
	ck_assert_int_eq(mkelf_build(&simple.elf, &image), 0);
	ck_assert_int_eq(mkelf_write(&image, "guest.elf"), 0);
	mkelf_finish(&image);
	kit_start(&run, "guest.elf@0x4000");
	hlg_profile_event(&run.profile, "a", 0);
	kit_add(&run, 0, 0x4000 + 4 * 3, 1, 9);
	kit_add(&run, 0, 0x4000 + 4 * 4, 1, 20);
	find(&found, &run);
	ck_assert_uint_eq(found.n, sizes[_i] <= 0x100000 ? 2 : 0);
	hlg_border_finish(&found);
	hlg_run_finish(&run);
}
END_TEST

START_TEST(hyperlight_enters_at_its_function)
{
	const struct guest *last = &guests[sizeof(guests) / sizeof(guests[0]) - 1];

	check(last, "x....", "dispatch_function");
}
END_TEST

/* Of 100 guest samples 30 are of the border: the function keeps 20, with shares of 70. */
static const struct guest split = {
	"split", AT,  {NOP, NOP, NOP, HVC, NOP, RET}, {2, 2, 0, 10, 20, 0, 10, 6},
	{0},     NULL};

static void start_split(struct hlg_run *run, const char *words)
{
	static const char *const border[] = {"split", "keep", "drop"};

	write_guest(&split, "dispatch");
	kit_start(run, words);
	for (int i = 0; i < 3; i++)
		if (strstr(words, border[i]))
			run->options.border = i;
	hlg_profile_event(&run->profile, "a", 0);
	for (unsigned i = 0; i < 10; i++)
		kit_add(run, 0, AT + KIT_BASE + 4 * i, 10, split.samples[i]);
	kit_add(run, 0, KIT_BASE + 0x1180, 10, 50);
}

static const struct {
	const char *words;
	double compute; /* its share */
	uint64_t samples, border;
} shares[] = {
	{"guest.elf border=split region=1K", 20. / 70, 20, 30},
	{"guest.elf border=keep region=1K", 50. / 100, 50, 0},
	{"guest.elf border=drop region=1K", 20. / 70, 20, 30},
	{"guest.elf border=split region=1K weight=samples gaps=drop", 20. / 70, 20, 30},
	{"guest.elf border=split region=1K by=event gaps=stretch", 20. / 70, 20, 30},
};

START_TEST(rows_and_shares)
{
	struct hlg_report r;
	struct hlg_run run;
	const struct hlg_view *v = &r.all;
	size_t compute = 0;

	start_split(&run, shares[_i].words);
	kit_build(&run, &r);
	kit_check_view(v, 1024);
	for (uint32_t i = 0; i < r.n_groups; i++)
		kit_check_view(&r.groups[i].view, 1024);
	while (strcmp(v->rows[compute].name, "compute") != 0)
		compute++;
	ck_assert_uint_eq(v->rows[compute].count.samples, shares[_i].samples);
	ck_assert_double_eq_tol(v->rows[compute].share.share, shares[_i].compute, 1e-12);
	ck_assert_uint_eq(v->border.samples, shares[_i].border);
	ck_assert_uint_eq(v->border.period, 10 * shares[_i].border);
	ck_assert_uint_eq(v->n_borders, shares[_i].border != 0);
	if (v->n_borders) {
		ck_assert_str_eq(v->borders[0].name, "__vm_exit__ in compute");
		ck_assert(v->borders[0].border && !v->rows[compute].border);
		ck_assert_uint_eq(v->borders[0].count.samples, shares[_i].border);
		ck_assert_double_eq_tol(v->borders[0].share.share, 0.3, 1e-12);
	}
	/* The check sees all samples, whatever is shown. */
	ck_assert_uint_eq(r.trust.all.samples.on, 100);
	hlg_report_finish(&r);
	hlg_run_finish(&run);
}
END_TEST

/* The words that each format has for it, and none where it is kept or left out. */
static const struct {
	const char *words, *has, *lacks;
} formats[] = {
	{"guest.elf border=split", " 100 guest   = 70 in functions + 30 at VM exits\n",
	 "__vm_exit__"},
	{"guest.elf border=split",
	 "note:     30.00 % of the guest's samples are at VM exits, ", "left out"},
	{"guest.elf border=split verbose=yes",
	 "30.00 %        30  __vm_exit__ in compute\n", "left out"},
	{"guest.elf border=split verbose=yes", "percent   of period, without VM exits\n",
	 "left out"},
	{"guest.elf border=keep verbose=yes", "VM exits  in the functions", "at VM"},
	{"guest.elf border=keep verbose=yes", "percent   of period\n", "at VM"},
	{"guest.elf border=drop", "+ 30 at VM exits (left out: border=drop)\n",
	 "__vm_exit__"},
	{"guest.elf border=split format=csv", "\ntotal,,,\"border\",,,,,,30,300,",
	 "left"},
	{"guest.elf border=split format=csv",
	 "\nborder,,border,\"__vm_exit__ in compute\",\"compute\",", "left"},
	{"guest.elf border=drop format=csv", "\ntotal,,,\"border\",,,,,,30,300,",
	 "__vm_exit__"},
	{"guest.elf border=keep format=csv", "\ntotal,,,\"border\",,,,,,0,0,",
	 "__vm_exit__"},
	{"guest.elf border=split format=folded", ";__vm_exit__ in compute 300\n",
	 "total"},
	{"guest.elf border=drop format=folded", ";compute 200\n", "__vm_exit__"},
	{"guest.elf border=keep format=folded", ";compute 500\n", "__vm_exit__"},
};

/* The two sides of an exit have more than the others, but too few samples to tell. */
static const struct {
	unsigned samples[10];
	uint64_t doubtful;
	uint32_t next;       /* instruction behind the first exit */
	unsigned second[10]; /* samples of another event */
} doubts[] = {
	{{0, 0, 0, 2, 1}, 3, NOP, {0}},
	{{1, 1, 1, 2, 1}, 2, NOP, {0}}, /* one side has as many as others */
	{{9, 9, 9, 2, 1}, 0, NOP, {0}},
	{{0, 0, 0, 9, 20}, 0, NOP, {0}},     /* that is enough */
	{{0, 0, 0, 2, 1}, 3, HVC, {0}},      /* a side of two exits is one address, */
	{{0, 0, 0, 30, 30, 1}, 0, HVC, {0}}, /* which the first of them tells */
	{{0, 0, 0, 2, 1}, 0, NOP, {0, 0, 0, 9, 20}}, /* the other event tells */
	{{0, 0, 0, 2, 1}, 3, NOP, {9, 9, 9, 2, 1}},  /* the other has no doubt */
};

START_TEST(too_few_to_tell)
{
	struct guest few = {"few", AT, {NOP, NOP, NOP, HVC, NOP, RET}, {0}, {0}, NULL};
	const char note[] = " % of the guest's samples may be at VM exits";
	struct hlg_border border;
	struct hlg_run run;
	char percent[32], *text, *at;
	uint64_t all = 0;

	memcpy(few.samples, doubts[_i].samples, sizeof(few.samples));
	few.word[4] = doubts[_i].next;
	write_guest(&few, "dispatch");
	kit_start(&run, "guest.elf@0x4000");
	hlg_profile_event(&run.profile, "a", 0);
	hlg_profile_event(&run.profile, "b", 0);
	for (unsigned i = 0; i < 10; i++) {
		kit_add(&run, 0, few.at + KIT_BASE + 4 * i, 1, few.samples[i]);
		kit_add(&run, 1, few.at + KIT_BASE + 4 * i, 1, doubts[_i].second[i]);
		all += few.samples[i] + doubts[_i].second[i];
	}
	find(&border, &run);
	ck_assert_uint_eq(border.doubtful, doubts[_i].doubtful);
	hlg_border_finish(&border);
	run.options.border = HLG_BORDER_SPLIT;
	text = kit_report(&run);
	at = strstr(text, note);
	ck_assert_msg(!at == (doubts[_i].doubtful < 3), "%s", text);
	/* In hundredths, whatever the locale's decimal point. */
	all = (10000 * doubts[_i].doubtful + all / 2) / all;
	snprintf(percent, sizeof(percent), " %" PRIu64 ".%02" PRIu64, all / 100,
		 all % 100);
	ck_assert_msg(!at || strncmp(at - strlen(percent), percent, strlen(percent)) == 0,
		      "%s, not%s", text, percent);
	free(text);
	hlg_run_finish(&run);
}
END_TEST

/* Of a part of a recording, in which there may be such; not of all. */
START_TEST(told_of_a_part)
{
	static const struct {
		unsigned deselected, exits;
		int border;
		bool told;
	} parts[] = {
		{0, 20, HLG_BORDER_SPLIT, false}, {9, 20, HLG_BORDER_SPLIT, true},
		{9, 4, HLG_BORDER_SPLIT, true},   {9, 0, HLG_BORDER_SPLIT, false},
		{9, 20, HLG_BORDER_KEEP, false},
	};
	struct guest some = {"some", AT, {NOP, NOP, NOP, HVC, NOP, RET}, {0}, {0}, NULL};

	write_guest(&some, "dispatch");
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		struct hlg_count left = {parts[i].deselected, parts[i].deselected};
		struct hlg_run run;
		char *text;

		kit_start(&run, "guest.elf@0x4000");
		run.options.border = parts[i].border;
		hlg_profile_event(&run.profile, "a", 0);
		kit_add(&run, 0, some.at + KIT_BASE, 1, 2);
		kit_add(&run, 0, some.at + KIT_BASE + 12, 1, parts[i].exits);
		run.profile.deselected = left;
		hlg_count_add(&run.profile.seen, left);
		text = kit_report(&run);
		ck_assert_msg(!strstr(text, "from the selected samples alone") ==
				      !parts[i].told,
			      "%zu: %s", i, text);
		free(text);
		hlg_run_finish(&run);
	}
}
END_TEST

START_TEST(words_of_formats)
{
	struct hlg_run run;
	char *text;

	start_split(&run, formats[_i].words);
	text = kit_report(&run);
	ck_assert_msg(strstr(text, formats[_i].has), "%s:\n%s", formats[_i].words, text);
	ck_assert_msg(!strstr(text, formats[_i].lacks), "%s:\n%s", formats[_i].words,
		      text);
	free(text);
	hlg_run_finish(&run);
}
END_TEST

/* A store to a device's memory, which KVM carries out, and what stands behind it. */
START_TEST(told_by_emulation)
{
	static const uint64_t samples[] = {1, 1, 1, 1, 500, 600, 1};
	static const struct guest store = {
		"store", AT, {NOP, NOP, NOP, NOP, NOP, NOP, RET}, {0}, {0}, NULL};
	struct hlg_border found;
	struct hlg_run run;

	write_guest(&store, "dispatch");
	for (uint64_t emulated = 0; emulated < 2; emulated++) {
		kit_start(&run, "guest.elf@0x4000");
		hlg_profile_event(&run.profile, "a", 0);
		for (uint64_t i = 0; i < 7; i++)
			kit_add(&run, 0, AT + 4 * i + KIT_BASE, 1, samples[i]);
		hlg_transits_add(
			&run.profile.transits,
			(struct hlg_transit){AT + 4 * 4 + KIT_BASE, 0, 0, emulated});
		find(&found, &run);
		ck_assert_uint_eq(found.n, emulated ? 2 : 0);
		for (uint64_t i = 0; i < 7; i++)
			ck_assert_int_eq(
				hlg_border_has(&found, run.space.images[0], AT + 4 * i),
				emulated && (i == 4 || i == 5));
		hlg_border_finish(&found);
		hlg_run_finish(&run);
	}
}
END_TEST

/* kvm_entry tells of an entry; of exits that were counted, what each took. */
START_TEST(told_by_tracepoints)
{
	static const struct guest entry = {"entry",    0x1020, {NOP, NOP, NOP, NOP, RET},
					   {20, 0, 1}, {0},    NULL};
	/* From its first byte on, and behind its last. */
	struct hlg_transit exits = {AT + KIT_BASE + 4 * 3 - HLG_TRANSITS_INSN, 150, 0, 0};
	struct hlg_transit others = {exits.ip - 1, 1000, 0, 0};
	struct hlg_border found;
	struct hlg_run run;
	struct hlg_err err;
	char *text;

	write_guest(&entry, "dispatch");
	kit_start(&run, "guest.elf@0x4000");
	hlg_profile_event(&run.profile, "a", 0);
	kit_add(&run, 0, 0x1020 + KIT_BASE, 1, 20);
	hlg_transits_add(&run.profile.transits,
			 (struct hlg_transit){0x1020 + KIT_BASE, 0, 5, 0});
	find(&found, &run);
	ck_assert_uint_eq(found.n, 1);
	ck_assert(hlg_border_has(&found, run.space.images[0], 0x1020));
	ck_assert_uint_eq(hlg_border_exits(&found, &run.space, &run.profile), 0);
	/* In two lanes each has all that is known of an address. */
	run.space.n_lanes = 2;
	ck_assert_int_eq(hlg_space_share(&run.space, &err), 0);
	for (unsigned lane = 0; lane < 2; lane++)
		hlg_transits_add(
			&run.profile.transits,
			(struct hlg_transit){0x1020 + KIT_BASE + hlg_lane_move(lane), 7,
					     0, 0});
	ck_assert_uint_eq(hlg_border_exits(&found, &run.space, &run.profile), 7);
	hlg_border_finish(&found);
	hlg_run_finish(&run);

	/* 30 samples of 10 ns by 150 exits: 2 ns each; and one more by as many. */
	for (size_t i = 0; i < 6; i++) {
		static const struct {
			uint64_t more;
			const char *words;
		} each[] = {
			{0, "VM exits, about 0.0 us each, which"},
			{308700, "VM exits, about 2.1 us each, which"},
			{150 * 9940 - 300, "VM exits, about 9.9 us each, which"},
			{150 * 12460 - 300, "VM exits, about 12 us each, which"},
			{150 * 12500 - 300, "VM exits, about 13 us each, which"},
			{0, "VM exits, which"},
		};

		start_split(&run, "guest.elf border=split");
		hlg_profile_describe(&run.profile, 0,
				     i < 5 ? HLG_EVENT_TIMER : HLG_EVENT_COUNTER, false);
		/* An event that nothing was sampled by is no other unit. */
		hlg_profile_describe(&run.profile,
				     hlg_profile_event(&run.profile, "unsampled", 0),
				     HLG_EVENT_COUNTER, false);
		if (each[i].more)
			kit_add(&run, 0, AT + KIT_BASE + 4 * 4, each[i].more, 1);
		hlg_transits_add(&run.profile.transits, exits);
		hlg_transits_add(&run.profile.transits, others);
		text = kit_report(&run);
		ck_assert_msg(strstr(text, each[i].words), "%s", text);
		free(text);
		hlg_run_finish(&run);
	}
}
END_TEST

/* What each exit took is of all events, and not told where these are reported apart. */
START_TEST(each_by_event)
{
	struct hlg_run run;
	char *text;

	start_split(&run, _i ? "guest.elf border=split by=event"
			     : "guest.elf border=split by=tid");
	hlg_profile_describe(&run.profile, 0, HLG_EVENT_TIMER, false);
	hlg_transits_add(&run.profile.transits,
			 (struct hlg_transit){AT + KIT_BASE + 4 * 3, 150, 0, 0});
	text = kit_report(&run);
	ck_assert_msg(
		strstr(text, _i ? "VM exits, which" : "VM exits, about 0.0 us each"),
		"%s", text);
	free(text);
	hlg_run_finish(&run);
}
END_TEST

/* Who recorded exits, if without addresses, is not told to. */
START_TEST(told_to_record_exits)
{
	struct hlg_run run;
	char *text;

	start_split(&run, "guest.elf border=split");
	hlg_profile_event(&run.profile, _i ? "kvm:kvm_userspace_exit" : "kvm:kvm_pio", 0);
	text = kit_report(&run);
	ck_assert_msg(strstr(text, _i ? "(hlguest exits tells why)"
				      : "(record --exits, and hlguest exits tells why)"),
		      "%s", text);
	free(text);
	hlg_run_finish(&run);
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
	tcase_add_test(tc, code_cannot_be_opened);
	tcase_add_loop_test(tc, of_the_largest_function, 0, 3);
	tcase_add_test(tc, hyperlight_enters_at_its_function);
	tcase_add_test(tc, told_by_emulation);
	tcase_add_test(tc, told_by_tracepoints);
	tcase_add_test(tc, told_of_a_part);
	tcase_add_loop_test(tc, each_by_event, 0, 2);
	tcase_add_loop_test(tc, told_to_record_exits, 0, 2);
	tcase_add_loop_test(tc, rows_and_shares, 0, sizeof(shares) / sizeof(shares[0]));
	tcase_add_loop_test(tc, too_few_to_tell, 0, sizeof(doubts) / sizeof(doubts[0]));
	tcase_add_loop_test(tc, words_of_formats, 0,
			    sizeof(formats) / sizeof(formats[0]));
	return tap_main(suite);
}
