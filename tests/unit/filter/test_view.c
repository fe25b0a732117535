// SPDX-License-Identifier: GPL-2.0-only
/*
 * A view says of every sample what it is, and loses none. Proved by random profiles over
 * the small guest, whose addresses and names are written down by hand here, in every gap
 * policy and both weights: each row has what the list says, and all sums agree. Then
 * places of their own kind: gaps without a neighbour, the end of memory, address 0.
 */
#include "filter/view/view.h"

#include <string.h>

#include "tests/kit/filter.h"
#include "tests/kit/tap.h"

/* The addresses of mkelf-guest.h, by hand. */
static const struct known {
	uint64_t start, end; /* own addresses */
	enum hlg_kind kind;
	const char *name;
	const char *before; /* of a gap: the symbol that stretches into it */
	bool filler;
} guest[] = {
	{0x1000, 0x1020, HLG_FUNCTION, "entrypoint", NULL, false},
	{0x1020, 0x1054, HLG_FUNCTION, "dispatch", NULL, false},
	{0x1054, 0x1060, HLG_GAP, "__gap__ after dispatch", "dispatch", true},
	{0x1060, 0x10e0, HLG_FUNCTION, "compute", NULL, false},
	{0x10e0, 0x1120, HLG_GAP, "__gap__ after compute", "compute", false},
	{0x1120, 0x1180, HLG_LABEL, "handler", NULL, false},
	{0x1180, 0x11c0, HLG_FUNCTION, "cold", NULL, false},
	{0x11c0, 0x11e0, HLG_FUNCTION, "last", NULL, false},
	{0x11e0, 0x1200, HLG_GAP, "__gap__ after last", "last", true},
	{0x1200, 0x1220, HLG_FUNCTION, "copy", NULL, false},
	{0x1220, 0x1240, HLG_GAP, "__gap__ after copy", "copy", true},
};

enum {
	N_KNOWN = sizeof(guest) / sizeof(guest[0])
};

/* What the samples come to: by entry of the list, and in the rest of the guest. */
struct tally {
	struct hlg_count known[N_KNOWN], data, outside, all;
};

static void draw(struct hlg_run *run, struct tally *t, uint64_t *random)
{
	struct hlg_sample s = kit_sample((uint32_t)kit_random(random, 2), 0);
	uint64_t addr = 0xf00 + kit_random(random, 0x400);
	struct hlg_count *to = &t->outside;

	if (kit_random(random, 8) == 0)
		addr = kit_random(random, 0x3200);
	s.ip = KIT_BASE + addr;
	s.period = kit_random(random, 3) ? 1000 : kit_random(random, 5000000);
	s.tid = (int32_t)kit_random(random, 3);
	if (addr < 0x200 || (addr >= 0x3000 && addr < 0x3110))
		to = &t->data;
	for (int i = 0; i < N_KNOWN; i++)
		if (addr >= guest[i].start && addr < guest[i].end)
			to = &t->known[i];
	hlg_count_add(to, (struct hlg_count){1, s.period});
	hlg_count_add(&t->all, (struct hlg_count){1, s.period});
	ck_assert_int_eq(hlg_profile_add(&run->profile, &s), HLG_GUEST);
}

static void same(struct hlg_count a, struct hlg_count b)
{
	ck_assert_uint_eq(a.samples, b.samples);
	ck_assert_uint_eq(a.period, b.period);
}

/* What the row of entry k is to hold under a policy. */
static struct hlg_count expect(const struct tally *t, int k, int gaps)
{
	struct hlg_count sum = t->known[k];

	if (guest[k].kind == HLG_GAP && gaps != HLG_GAPS_RETAG)
		return (struct hlg_count){0, 0};
	for (int i = 0; i < N_KNOWN && gaps == HLG_GAPS_STRETCH; i++)
		if (guest[i].before && strcmp(guest[i].before, guest[k].name) == 0)
			hlg_count_add(&sum, t->known[i]);
	return sum;
}

static const struct hlg_row *find_row(const struct hlg_view *v, const char *name)
{
	const struct hlg_row *found = NULL;

	for (size_t i = 0; i < v->n_rows; i++)
		if (strcmp(v->rows[i].name, name) == 0) {
			ck_assert_msg(!found, "two rows of %s", name);
			found = &v->rows[i];
		}
	return found;
}

static void check_known(const struct hlg_view *v, const struct tally *t, int gaps)
{
	for (int k = 0; k < N_KNOWN; k++) {
		struct hlg_count expected = expect(t, k, gaps);
		const struct hlg_row *row = find_row(v, guest[k].name);

		if (expected.samples == 0) {
			ck_assert_ptr_null(row);
			continue;
		}
		ck_assert_msg(row, "no row of %s", guest[k].name);
		same(row->count, expected);
		ck_assert_int_eq(row->place.kind, guest[k].kind);
		ck_assert_uint_eq(row->place.start, guest[k].start);
		ck_assert_uint_eq(row->place.end, guest[k].end);
		if (guest[k].filler)
			same(row->padding, row->count);
		else
			same(row->padding, (struct hlg_count){0, 0});
	}
}

static void check_totals(const struct hlg_view *v, const struct tally *t, int gaps)
{
	struct hlg_count kinds[HLG_N_KINDS] = {
		[HLG_DATA] = t->data, [HLG_OUTSIDE] = t->outside};
	struct hlg_count none = {0, 0}, gap, filler = {0, 0};
	const struct hlg_row *outside = find_row(v, "[outside]");

	for (int k = 0; k < N_KNOWN; k++) {
		hlg_count_add(&kinds[guest[k].kind], t->known[k]);
		if (guest[k].filler)
			hlg_count_add(&filler, t->known[k]);
	}
	for (int k = 0; k < HLG_N_KINDS; k++)
		same(v->kinds[k], kinds[k]);
	gap = kinds[HLG_GAP];
	same(v->guest, t->all);
	same(v->padding, filler); /* under every policy */
	same(v->dropped, gaps == HLG_GAPS_DROP ? gap : none);
	same(v->stretched, gaps == HLG_GAPS_STRETCH ? gap : none);
	same(outside ? outside->count : none, t->outside);
}

/* gaps x weight x ten streams, from few samples to many. */
START_TEST(random_profiles)
{
	static const char *const gaps[] = {"retag", "drop", "stretch"};
	static const char *const weight[] = {"period", "samples"};
	int policy = _i % 3;
	uint64_t random = (uint64_t)_i;
	struct tally t = {0};
	struct hlg_report report;
	struct hlg_run run;
	char words[128];

	kit_guest("guest.elf");
	snprintf(words, sizeof(words), "guest.elf gaps=%s weight=%s by=tid region=%u",
		 gaps[policy], weight[_i / 3 % 2], _i % 5 ? 16u << _i % 5 : 0);
	kit_start(&run, words);
	hlg_profile_event(&run.profile, "a", 0);
	hlg_profile_event(&run.profile, "b", 0);
	for (int i = 0; i < 3 << _i / 6; i++)
		draw(&run, &t, &random);
	kit_build(&run, &report);
	kit_check_view(&report.all, run.options.region);
	check_known(&report.all, &t, policy);
	check_totals(&report.all, &t, policy);
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

/* Of a gap that is padded at both ends. */
START_TEST(ends_of_padding)
{
	const struct hlg_padding pad = {.lead = 2, .trail = 3};
	struct hlg_place gap = {.owner = guest, .start = 0x1000, .end = 0x100a};

	for (gap.addr = gap.start; gap.addr < gap.end; gap.addr++)
		ck_assert_int_eq(hlg_view_in_padding(&pad, &gap),
				 gap.addr < 0x1002 || gap.addr >= 0x1007);
}
END_TEST

/* The hits of a row lie by series in their stable order, then by address. */
START_TEST(order_of_hits)
{
	struct hlg_report report;
	struct hlg_run run;
	uint64_t random = 1;
	struct tally t = {0};

	kit_guest("guest.elf");
	kit_start(&run, "guest.elf by=tid,event");
	hlg_profile_event(&run.profile, "z", 0);
	hlg_profile_event(&run.profile, "b", 0);
	for (int i = 0; i < 3000; i++)
		draw(&run, &t, &random);
	kit_build(&run, &report);
	for (size_t r = 0; r < report.all.n_rows; r++) {
		const struct hlg_row *row = &report.all.rows[r];

		for (size_t i = 1; i < row->n_hits; i++) {
			const struct hlg_hit *b = &report.all.hits[row->first_hit + i];
			const struct hlg_hit *a = b - 1;

			ck_assert(a->rank < b->rank ||
				  (a->rank == b->rank && a->ip < b->ip));
			ck_assert_uint_eq(a->rank, report.rank[a->series]);
		}
	}
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

static void check_one(struct hlg_run *run, uint64_t ip, int gaps, enum hlg_kind kind,
		      const char *name)
{
	struct hlg_report report;

	run->options.gaps = gaps;
	kit_add(run, hlg_profile_event(&run->profile, "a", 0), ip, 7, 3);
	kit_build(run, &report);
	kit_check_view(&report.all, run->options.region);
	ck_assert_uint_eq(report.all.kinds[kind].samples, 3);
	ck_assert_uint_eq(report.all.n_rows, 1);
	ck_assert_str_eq(report.all.rows[0].name, name);
	ck_assert_uint_eq(report.all.stretched.samples, 0);
	hlg_report_finish(&report);
	hlg_run_finish(run);
}

/* .data becomes code of its own section, and no symbol is in front of dispatch. */
static void guest_with_lonely_gaps(void)
{
	struct mkelf_guest g;

	mkelf_guest_init(&g, 0);
	g.sec[MKELF_SEC_DATA].name = ".plt";
	g.sec[MKELF_SEC_DATA].flags = SHF_ALLOC | SHF_EXECINSTR;
	g.seg[MKELF_SEG_DATA].flags = PF_R | PF_X;
	for (int i = 0; i < MKELF_N_SYMS; i++)
		if (g.syms[i].name && (strcmp(g.syms[i].name, "entrypoint") == 0 ||
				       strcmp(g.syms[i].name, "counter") == 0))
			g.syms[i].shndx = SHN_ABS;
	kit_write(&g, "guest.elf");
}

/* Without a symbol before it a gap stays a gap, stretch or not. */
START_TEST(lonely_gaps)
{
	int gaps = _i % 2 ? HLG_GAPS_STRETCH : HLG_GAPS_RETAG;
	struct hlg_run run;

	guest_with_lonely_gaps();
	kit_start(&run, "guest.elf");
	if (_i / 2)
		check_one(&run, KIT_BASE + 0x1008, gaps, HLG_GAP,
			  "__gap__ before dispatch");
	else
		check_one(&run, KIT_BASE + 0x3004, gaps, HLG_GAP, "__gap__ in .plt");
}
END_TEST

/* A segment may claim a terabyte of memory: nothing of that size is allocated. */
START_TEST(huge_gap)
{
	struct mkelf_guest g;
	struct hlg_run run;

	mkelf_guest_init(&g, 0);
	g.seg[MKELF_SEG_DATA].flags = PF_R | PF_X;
	g.seg[MKELF_SEG_DATA].memsz = UINT64_C(1) << 40;
	kit_write(&g, "guest.elf");
	kit_start(&run, "guest.elf");
	check_one(&run, KIT_BASE + 0x10000000, HLG_GAPS_RETAG, HLG_GAP, "__gap__");
}
END_TEST

START_TEST(names_of_data)
{
	static const struct {
		uint64_t addr;
		const char *name;
	} c[] = {{0x3000, "[data] .data"},
		 {0x3010, "[data] .bss"},
		 {0x300c, "[data]"},
		 {0x0, "[data]"}};
	struct hlg_run run;

	kit_guest("guest.elf");
	kit_start(&run, "guest.elf");
	check_one(&run, KIT_BASE + c[_i].addr, HLG_GAPS_RETAG, HLG_DATA, c[_i].name);
}
END_TEST

/* The image's last byte is the last of memory. */
START_TEST(end_of_memory)
{
	struct hlg_run run;

	kit_guest("guest.elf");
	kit_start(&run, "guest.elf@0xffffffffffffcef0");
	check_one(&run, UINT64_MAX, HLG_GAPS_RETAG, HLG_DATA, "[data] .bss");
	kit_start(&run, "guest.elf@0xffffffffffffcef0 region=0x8000000000000000");
	check_one(&run, 0xffffffffffffdef0, HLG_GAPS_RETAG, HLG_FUNCTION, "entrypoint");
	kit_start(&run, "guest.elf region=0x8000000000000000");
	check_one(&run, UINT64_MAX, HLG_GAPS_RETAG, HLG_OUTSIDE, "[outside]");
}
END_TEST

START_TEST(ip_zero)
{
	struct hlg_report report;
	struct hlg_run run;

	kit_guest("guest.elf");
	kit_start(&run, "guest.elf");
	kit_add(&run, hlg_profile_event(&run.profile, "a", 0), 0, 10, 4);
	kit_add(&run, 0, KIT_BASE + 0x1000, 10, 4);
	kit_build(&run, &report);
	same(report.all.ip_zero, (struct hlg_count){4, 40});
	same(report.all.kinds[HLG_OUTSIDE], (struct hlg_count){4, 40});
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

/* An overflowed sum of periods is wrong, but equally so on both sides. */
START_TEST(overflow)
{
	struct hlg_report report;
	struct hlg_run run;

	kit_guest("guest.elf");
	kit_start(&run, "guest.elf");
	kit_add(&run, hlg_profile_event(&run.profile, "a", 0), KIT_BASE + 0x1000,
		UINT64_MAX - 3, 5);
	kit_add(&run, 0, KIT_BASE + 0x1060, UINT64_C(1) << 63, 2);
	kit_build(&run, &report);
	ck_assert(run.profile.overflow);
	same(report.all.guest, run.profile.seen);
	ck_assert_uint_eq(
		report.all.rows[0].count.samples + report.all.rows[1].count.samples, 7);
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

/* Rows of 1000, 960, 100 and 99 samples: which order is not established? */
START_TEST(unsure_order)
{
	static const unsigned samples[] = {1000, 960, 100, 99};
	static const bool unsure[] = {true, false, true, false};
	struct hlg_report report;
	struct hlg_run run;

	kit_guest("guest.elf");
	kit_start(&run, "guest.elf");
	hlg_profile_event(&run.profile, "a", 0);
	for (int i = 0; i < 4; i++)
		kit_add(&run, 0, KIT_BASE + guest[i == 2 ? 5 : i].start, 1, samples[i]);
	kit_build(&run, &report);
	ck_assert_uint_eq(report.all.n_rows, 4);
	for (int i = 0; i < 4; i++) {
		ck_assert_uint_eq(report.all.rows[i].count.samples, samples[i]);
		ck_assert_int_eq(report.all.rows[i].unsure, unsure[i]);
	}
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

/* One or two samples of many: what is likely is that there is none of it. */
START_TEST(few)
{
	struct hlg_report report;
	struct hlg_run run;

	kit_guest("guest.elf");
	kit_start(&run, "guest.elf");
	hlg_profile_event(&run.profile, "a", 0);
	kit_add(&run, 0, KIT_BASE + 0x1000, 1, 97);
	kit_add(&run, 0, KIT_BASE + 0x1060, 1, 3);
	kit_add(&run, 0, KIT_BASE + 0x1180, 1, 2);
	kit_add(&run, 0, KIT_BASE + 0x11c0, 1, 1);
	kit_build(&run, &report);
	ck_assert_uint_eq(report.all.n_rows, 4);
	for (size_t i = 0; i < 4; i++) {
		const struct hlg_row *row = &report.all.rows[i];

		ck_assert_int_eq(row->few, i > 1);
		ck_assert_int_eq(row->share.low == 0, i > 1);
	}
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

/* What was in the structure before does not matter. */
START_TEST(over_garbage)
{
	struct hlg_view view;
	struct hlg_err err;
	struct hlg_run run;

	kit_guest("guest.elf");
	kit_start(&run, "guest.elf");
	memset(&view, 0xa5, sizeof(view));
	ck_assert_int_eq(hlg_view_build(&view,
					&(struct hlg_view_input){.space = &run.space,
								 .options = &run.options},
					&err),
			 0);
	ck_assert_uint_eq(view.n_rows + view.n_hits + view.guest.samples, 0);
	hlg_view_finish(&view);
	hlg_run_finish(&run);
}
END_TEST

START_TEST(nothing)
{
	struct hlg_report report;
	struct hlg_run run;

	kit_guest("guest.elf");
	kit_start(&run, "guest.elf by=tid");
	kit_build(&run, &report);
	kit_check_view(&report.all, 1024);
	ck_assert_uint_eq(report.all.n_rows, 0);
	ck_assert_uint_eq(report.n_groups, 0);
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("view");
	TCase *tc = tap_case(suite, "view");

	tcase_add_checked_fixture(tc, kit_enter, kit_leave);
	tcase_add_loop_test(tc, random_profiles, 0, 66);
	tcase_add_test(tc, ends_of_padding);
	tcase_add_test(tc, order_of_hits);
	tcase_add_loop_test(tc, lonely_gaps, 0, 4);
	tcase_add_test(tc, huge_gap);
	tcase_add_loop_test(tc, names_of_data, 0, 4);
	tcase_add_test(tc, end_of_memory);
	tcase_add_test(tc, ip_zero);
	tcase_add_test(tc, overflow);
	tcase_add_test(tc, unsure_order);
	tcase_add_test(tc, nothing);
	tcase_add_test(tc, few);
	tcase_add_test(tc, over_garbage);
	return tap_main(suite);
}
