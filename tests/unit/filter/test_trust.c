// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the samples prove of themselves. The verdict at each of its limits, from numbers
 * alone; the numbers from random samples of several series at several bases, against a
 * count by hand over the small AArch64 guest of mkelf-guest.h, whose instructions any
 * build knows; what is not tested; and samples that fit another base.
 */
#include "filter/trust/trust.h"

#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "tests/kit/filter-trust.h"
#include "tests/kit/tap.h"

enum {
	UNTESTED = HLG_TRUST_UNTESTED,
	TOO_FEW = HLG_TRUST_TOO_FEW,
	VERIFIED = HLG_TRUST_VERIFIED,
	MIXED = HLG_TRUST_MIXED,
	MISMATCH = HLG_TRUST_MISMATCH
};

/*
 * The lower end of Wilson's 99 % interval of n of n is n / (n + 6.6349): at chance 25 %
 * (half 62.5 %) 12 suffice (64.40 %) and 11 do not (62.38 %).
 */
static const struct {
	uint64_t samples_on, samples, addrs_on, addrs, undecodable, stray_addrs;
	double chance;
	int verdict;
} verdicts[] = {
	/* Nothing tested. */
	{0, 0, 0, 0, 0, 0, 0, TOO_FEW},
	{0, 0, 0, 0, 0, 11, 0, TOO_FEW},
	{0, 0, 0, 0, 0, 12, 0, MISMATCH},
	{0, 0, 0, 0, 5, 0, 0, UNTESTED},
	{0, 0, 0, 0, 5, 29, 0, UNTESTED},
	{0, 0, 0, 0, 5, 30, 0, UNTESTED},
	/* All on boundaries. */
	{100, 100, 12, 12, 0, 0, .25, VERIFIED},
	{100, 100, 11, 11, 0, 0, .25, TOO_FEW},
	{1000000, 1000000, 1, 1, 0, 0, .25, TOO_FEW},
	{12, 12, 12, 12, 100, 0, .25, VERIFIED},
	{12, 12, 12, 12, 0, 1000, .25, VERIFIED},
	{100, 100, 12, 12, 0, 0, 0, VERIFIED}, /* nothing by chance: half is 50 % */
	{100, 100, 11, 11, 0, 0, 0, TOO_FEW},
	{2000, 2000, 1000, 1000, 0, 0, 1, TOO_FEW}, /* all by chance: never */
	/* Few, and strays: right as long as all fit. */
	{100, 100, 11, 11, 0, 30, .25, TOO_FEW},
	{99, 100, 10, 11, 0, 29, .25, TOO_FEW},
	{99, 100, 10, 11, 0, 30, .25, MISMATCH},
	{0, 5, 0, 5, 0, 30, .25, MISMATCH},
	/* Few, and off: of 100 samples more than 4 (0.34 %), of 11 addresses more than 1
	 * (0.52 %), or one that is alone (1 %: no less). */
	{96, 100, 10, 11, 0, 0, .25, TOO_FEW},
	{95, 100, 10, 11, 0, 0, .25, MISMATCH},
	{98, 100, 9, 11, 0, 0, .25, MISMATCH},
	{0, 1, 0, 1, 0, 0, .25, TOO_FEW},
	{0, 2, 0, 1, 0, 0, .25, MISMATCH},
	{0, 1484, 0, 4, 0, 0, .25, MISMATCH},
	/* The shares of addresses and of samples. */
	{1000, 1000, 99, 100, 0, 0, .25, VERIFIED},
	{1000, 1000, 98, 100, 0, 0, .25, MIXED},
	{990, 1000, 100, 100, 0, 0, .25, VERIFIED},
	{989, 1000, 100, 100, 0, 0, .25, MIXED},
	/* Neither: from 12 addresses on. */
	{90, 100, 12, 12, 0, 0, .20, MIXED},
	{63, 100, 63, 100, 0, 0, .25, MIXED},
	{8, 12, 8, 12, 0, 0, .25, MIXED},
	/* Not at all. */
	{25, 100, 25, 100, 0, 0, .25, MISMATCH},
	{0, 12, 0, 12, 0, 0, .25, MISMATCH},
	{0, 11, 0, 11, 0, 0, .25, MISMATCH},
	{0, 1000000, 0, 1, 0, 0, .25, MISMATCH},
	{62, 100, 62, 100, 0, 0, .25, MISMATCH}, /* half is 62.5 % */
	/* One hot loop on boundaries, everything else not; and the other way round. */
	{990, 1000, 25, 100, 0, 0, .25, MISMATCH},
	{990, 1000, 63, 100, 0, 0, .25, MIXED},
	{625, 1000, 99, 100, 0, 0, .25, MIXED},
	{624, 1000, 99, 100, 0, 0, .25, MISMATCH},
};

START_TEST(verdict_at_its_limits)
{
	struct hlg_tested t = {
		.samples = {verdicts[_i].samples_on,
			    verdicts[_i].samples - verdicts[_i].samples_on,
			    verdicts[_i].undecodable},
		.addrs = {verdicts[_i].addrs_on,
			  verdicts[_i].addrs - verdicts[_i].addrs_on,
			  verdicts[_i].undecodable},
		.inside = verdicts[_i].addrs + verdicts[_i].undecodable,
		.starts = verdicts[_i].chance * (double)verdicts[_i].samples,
		.bytes = (double)verdicts[_i].samples,
	};
	struct hlg_share want;

	hlg_verdict_judge(&t, verdicts[_i].stray_addrs);
	ck_assert_str_eq(hlg_verdict_word(t.verdict),
			 hlg_verdict_word((enum hlg_trust_verdict)verdicts[_i].verdict));
	ck_assert_double_eq(t.chance, verdicts[_i].chance);
	if (verdicts[_i].addrs == 0)
		return;
	want = hlg_interval_wilson_at((double)verdicts[_i].addrs_on /
					      (double)verdicts[_i].addrs,
				      (double)verdicts[_i].addrs, HLG_INTERVAL_Z99);
	ck_assert_mem_eq(&t.by_addrs, &want, sizeof(want));
	want = hlg_interval_wilson_at((double)verdicts[_i].samples_on /
					      (double)verdicts[_i].samples,
				      (double)verdicts[_i].samples, HLG_INTERVAL_Z99);
	ck_assert_mem_eq(&t.by_samples, &want, sizeof(want));
}
END_TEST

START_TEST(words_of_verdicts)
{
	ck_assert_str_eq(hlg_verdict_word(HLG_TRUST_VERIFIED), "verified");
	ck_assert_str_eq(hlg_verdict_word(HLG_TRUST_MIXED), "mixed");
	ck_assert_str_eq(hlg_verdict_word(HLG_TRUST_MISMATCH), "mismatch");
	ck_assert_str_eq(hlg_verdict_word(HLG_TRUST_TOO_FEW), "too few samples to tell");
	ck_assert_str_eq(hlg_verdict_word(HLG_TRUST_UNTESTED), "not tested");
	ck_assert_str_eq(hlg_verdict_said(HLG_TRUST_VERIFIED), "OK");
	ck_assert_str_eq(hlg_verdict_said(HLG_TRUST_MIXED), "MIXED");
	ck_assert_str_eq(hlg_verdict_said(HLG_TRUST_MISMATCH), "WRONG ELF OR BASE");
	ck_assert_str_eq(hlg_verdict_said(HLG_TRUST_TOO_FEW), "cannot tell");
	ck_assert_str_eq(hlg_verdict_said(HLG_TRUST_UNTESTED), "not checked");
}
END_TEST

/* Counted by hand. */
struct tally {
	uint64_t on, off;
	bool met[KIT_TRUST_SIZE], data[KIT_TRUST_SIZE]; /* own addresses */
	struct hlg_count at[3], outside;
};

static const uint64_t bases[] = {0x4000, 0x100000, 0x7f0000000000};

static void draw(struct hlg_run *run, struct tally *t, uint64_t *random)
{
	int b = (int)kit_random(random, 3);
	uint64_t addr = kit_random(random, 8) ? 0xfe0 + kit_random(random, 0x280)
					      : kit_random(random, 0x3200);
	struct hlg_sample s =
		kit_sample((uint32_t)kit_random(random, 2), bases[b] + addr);

	s.tid = (int32_t)kit_random(random, 3);
	s.period = kit_random(random, 1000);
	ck_assert_int_eq(hlg_profile_add(&run->profile, &s), HLG_GUEST);
	if (!kit_trust_inside(addr)) {
		hlg_count_add(&t->outside, (struct hlg_count){1, s.period});
		return;
	}
	hlg_count_add(&t->at[b], (struct hlg_count){1, s.period});
	t->data[addr] = kit_trust_data(addr);
	t->met[addr] = kit_trust_named(addr);
	t->on += t->met[addr] && addr % 4 == 0;
	t->off += t->data[addr] || (t->met[addr] && addr % 4 != 0);
}

static void check_tested(const struct hlg_tested *tested, const struct tally *t)
{
	uint64_t on = 0, off = 0;

	for (uint64_t a = 0; a < KIT_TRUST_SIZE; a++) {
		on += t->met[a] && a % 4 == 0;
		off += t->data[a] || (t->met[a] && a % 4 != 0);
	}
	ck_assert_uint_eq(tested->samples.on, t->on);
	ck_assert_uint_eq(tested->samples.off, t->off);
	ck_assert_uint_eq(tested->samples.undecodable, 0);
	ck_assert_uint_eq(tested->addrs.on, on);
	ck_assert_uint_eq(tested->addrs.off, off);
	ck_assert_uint_eq(tested->addrs.undecodable, 0);
	ck_assert_double_eq_tol(tested->chance, .25, 1e-12);
}

/* gaps x from few samples to many; what lies in gaps is tested under none. */
START_TEST(random_samples_are_counted)
{
	static const char *const gaps[] = {"retag", "drop", "stretch"};
	uint64_t random = (uint64_t)_i;
	struct tally t = {0};
	struct hlg_report r;
	struct hlg_err err;
	struct hlg_count sum;
	struct hlg_run run;
	char words[64];

	kit_trust_guest("guest.elf");
	snprintf(words, sizeof(words), "guest.elf@0x4000 by=tid gaps=%s", gaps[_i % 3]);
	kit_start(&run, words);
	for (int b = 1; b < 3; b++)
		ck_assert_int_eq(hlg_image_add_base(run.space.images[0], bases[b], &err),
				 0);
	hlg_profile_event(&run.profile, "a", 0);
	hlg_profile_event(&run.profile, "b", 0);
	for (int i = 0; i < 20 << _i / 3; i++)
		draw(&run, &t, &random);
	kit_build(&run, &r);
	check_tested(&r.trust.all, &t);
	ck_assert_uint_eq(r.trust.n_images, 1);
	check_tested(&r.trust.images[0].tested, &t);
	ck_assert_uint_eq(r.trust.images[0].n_bases, 3);
	sum = t.outside;
	for (int b = 0; b < 3; b++) {
		const struct hlg_image_test_base *at = &r.trust.images[0].bases[b];

		ck_assert_uint_eq(at->base, bases[b]);
		hlg_count_add(&sum, at->count);
		if (_i % 3 == HLG_GAPS_DROP) /* it lies there, but has no row */
			continue;
		ck_assert_uint_eq(at->count.samples, t.at[b].samples);
		ck_assert_uint_eq(at->count.period, t.at[b].period);
	}
	ck_assert_uint_eq(sum.samples, r.all.kept.samples);
	ck_assert_uint_eq(sum.period, r.all.kept.period);
	hlg_report_finish(&r);
	hlg_run_finish(&run);
}
END_TEST

static enum hlg_trust_verdict verdict_of(struct hlg_run *run)
{
	enum hlg_trust_verdict verdict;
	struct hlg_report r;

	kit_build(run, &r);
	verdict = r.trust.all.verdict;
	hlg_report_finish(&r);
	return verdict;
}

/* What is outside counts by address. */
static void add_stray(struct hlg_run *run, uint64_t number)
{
	/* Far apart: they are no piece of code that has moved. */
	const uint64_t ip = 0x900000 + number * 0x10000;
	struct hlg_sample s = kit_sample(0, ip);

	kit_add(run, 0, ip, 1, 3);
	s.tid = 5; /* of another series, not another address */
	hlg_profile_add(&run->profile, &s);
}

/*
 * Where all are outside fewer tell than where one is in the image, if but in data; one that
 * fits is enough to doubt, but not if something is in data: no instruction is there.
 */
START_TEST(strays_only_are_a_mismatch)
{
	const uint64_t n = _i ? 28 : 11;
	struct hlg_run run;

	kit_trust_guest("guest.elf");
	kit_start(&run, "guest.elf by=tid");
	hlg_profile_event(&run.profile, "a", 0);
	if (_i)
		kit_add(&run, 0, KIT_BASE + 0x3000, 1, 1);
	for (uint64_t i = 0; i < n; i++)
		add_stray(&run, i);
	ck_assert_int_eq(verdict_of(&run), TOO_FEW);
	add_stray(&run, n);
	ck_assert_int_eq(verdict_of(&run), MISMATCH);
	kit_add(&run, 0, KIT_BASE + 0x1060, 1, 1);
	ck_assert_int_eq(verdict_of(&run), _i ? MISMATCH : TOO_FEW);
	hlg_run_finish(&run);
}
END_TEST

/* One in a hundred may lie in padding, where nothing runs; more is of other code. */
START_TEST(padding_is_not_verified)
{
	static const struct {
		uint64_t n;
		int verdict;
	} in_padding[] = {{0, VERIFIED}, {5, VERIFIED}, {16, MIXED}};
	const uint64_t n = in_padding[_i].n;
	struct hlg_report r;
	struct hlg_run run;

	kit_trust_guest("guest.elf");
	kit_start(&run, "guest.elf");
	hlg_profile_event(&run.profile, "a", 0);
	for (uint64_t i = 0; i < 32; i++)
		kit_add(&run, 0, KIT_BASE + 0x1060 + 4 * i, 1, 9);
	for (uint64_t i = 0; i < n; i++)
		kit_add(&run, 0, KIT_BASE + 0x11e0 + i % 4, 1, 1);
	kit_build(&run, &r);
	ck_assert_uint_eq(r.trust.all.padding, n);
	ck_assert_uint_eq(r.trust.all.samples.off, 0);
	ck_assert_int_eq(r.trust.all.verdict, in_padding[_i].verdict);
	ck_assert_int_eq(r.trust.images[0].tested.verdict, in_padding[_i].verdict);
	if (n > 5)
		ck_assert_ptr_nonnull(strstr(r.banner, "; 5.26 % lie in padding"));
	hlg_report_finish(&r);
	hlg_run_finish(&run);
}

/* Samples in a part that is not executable do not fit, nor does their thread. */
START_TEST(data_does_not_fit)
{
	static const struct {
		uint64_t n;
		int verdict;
	} in_data[] = {{0, VERIFIED}, {1, MIXED}, {60, MISMATCH}};
	const uint64_t n = in_data[_i].n;
	struct hlg_report r;
	struct hlg_run run;

	kit_trust_guest("guest.elf");
	kit_start(&run, "guest.elf");
	hlg_profile_event(&run.profile, "a", 0);
	for (uint64_t i = 0; i < 32; i++)
		kit_add(&run, 0, KIT_BASE + 0x1060 + 4 * i, 1, 9);
	for (uint64_t i = 0; i < 3 * n; i++) {
		struct hlg_sample s = kit_sample(0, KIT_BASE + 0x3000 + i % n);

		s.tid = 7;
		hlg_profile_add(&run.profile, &s);
	}
	kit_build(&run, &r);
	ck_assert_uint_eq(r.trust.all.samples.on, 288);
	ck_assert_uint_eq(r.trust.all.samples.off, 3 * n);
	ck_assert_uint_eq(r.trust.all.addrs.off, n);
	ck_assert_uint_eq(r.trust.all.stray_addrs, n);
	ck_assert_double_eq_tol(r.trust.all.chance, .25, 1e-12);
	ck_assert_int_eq(r.trust.all.verdict, in_data[_i].verdict);
	ck_assert_uint_eq(r.trust.n_threads, _i > 0);
	if (_i > 0) {
		ck_assert_int_eq(r.trust.threads[0].tid, 7);
		ck_assert_uint_eq(r.trust.threads[0].samples.off, 3 * n);
	}
	hlg_report_finish(&r);
	hlg_run_finish(&run);
}
END_TEST

/* A thread's samples at the border, which have rows of their own, are its own, too. */
START_TEST(threads_have_their_border)
{
	struct hlg_report r;
	struct hlg_run run;

	kit_trust_guest("guest.elf");
	kit_start(&run, "guest.elf");
	run.options.border = HLG_BORDER_SPLIT;
	hlg_profile_event(&run.profile, "a", 0);
	for (uint64_t i = 0; i < 32; i++)
		kit_add(&run, 0, KIT_BASE + 0x1060 + 4 * i, 1, 9);
	for (uint64_t i = 1; i < 20; i++)
		kit_add(&run, 0, KIT_BASE + 0x1000 + 4 * i, 1, 1);
	for (uint64_t i = 0; i < 200; i++) {
		/* Where the guest is entered, and in data. */
		struct hlg_sample s =
			kit_sample(0, KIT_BASE + (i % 2 ? 0x1000 : 0x3000 + i));

		s.tid = 7;
		hlg_profile_add(&run.profile, &s);
	}
	kit_build(&run, &r);
	ck_assert_uint_gt(r.all.n_borders, 0);
	ck_assert_uint_eq(r.trust.n_threads, 1);
	ck_assert_int_eq(r.trust.threads[0].tid, 7);
	ck_assert_uint_eq(r.trust.threads[0].samples.on, 100);
	ck_assert_uint_eq(r.trust.threads[0].samples.off, 100);
	hlg_report_finish(&r);
	hlg_run_finish(&run);
}
END_TEST

/* Functions whose bytes are no instructions; a perf map, which has no bytes. */
START_TEST(what_cannot_be_decoded_is_not_tested)
{
	struct mkelf_guest g;
	struct hlg_report r;
	struct hlg_run run;
	FILE *f = fopen("jit.map", "w");

	fputs("900000 100 jit\n", f);
	fclose(f);
	mkelf_guest_init(&g, 0);
	g.elf.machine = EM_AARCH64;
	memset(g.text, 0, sizeof(g.text));
	kit_write(&g, "guest.elf");
	kit_start(&run, _i ? "map:jit.map" : "guest.elf");
	hlg_profile_event(&run.profile, "a", 0);
	for (uint64_t i = 0; i < 20; i++) {
		kit_add(&run, 0, KIT_BASE + 0x1060 + 3 * i, 1, 2);
		kit_add(&run, 0, 0x900000 + 3 * i, 1, 2);
	}
	kit_build(&run, &r);
	ck_assert_int_eq(r.trust.all.verdict, UNTESTED);
	ck_assert_uint_eq(r.trust.all.samples.undecodable, 40);
	ck_assert_uint_eq(r.trust.all.addrs.undecodable, 20);
	ck_assert_uint_eq(r.trust.all.addrs.on + r.trust.all.addrs.off, 0);
	ck_assert_int_eq(r.trust.images[0].code == NULL, _i);
	hlg_report_finish(&r);
	hlg_run_finish(&run);
}
END_TEST

/* All outside, but where they fit is told; more than what fits here is a mismatch. */
START_TEST(other_bases_are_told)
{
	struct hlg_report r;
	struct hlg_run run;

	kit_trust_guest("guest.elf");
	kit_start(&run, "guest.elf@0x4000");
	hlg_profile_event(&run.profile, "a", 0);
	for (uint64_t i = 0; i < 32; i++)
		kit_add(&run, 0, 0x701060 + 4 * i, 1, 1);
	for (int i = 0; i < _i; i++) /* seven addresses: no base is found for so few */
		kit_add(&run, 0, 0x5060 + 4 * (uint64_t)(i % 7), 1, 1);
	kit_build(&run, &r);
	ck_assert_int_eq(r.trust.all.verdict, _i < 32 ? MISMATCH : TOO_FEW);
	ck_assert_uint_eq(r.trust.images[0].found.n, 1);
	ck_assert_uint_eq(r.trust.images[0].found.fits[0].base, 0x700000);
	hlg_report_finish(&r);
	hlg_run_finish(&run);
}
END_TEST

/* Where few of very many do not fit, nothing says that all do. */
START_TEST(not_quite_all)
{
	struct hlg_run run;
	char *text;

	kit_trust_guest("guest.elf");
	kit_start(&run, "guest.elf");
	hlg_profile_event(&run.profile, "a", 0);
	for (uint64_t i = 0; i < 32; i++)
		kit_add(&run, 0, KIT_BASE + 0x1060 + 4 * i, 1, 1000);
	kit_add(&run, 0, KIT_BASE + 0x1061, 1, 1);
	text = kit_report(&run);
	ck_assert_msg(strstr(text, "; 1 of 32001 samples does not lie on"), "%s", text);
	ck_assert_msg(strstr(text, "MIXED: 99.99 % of samples lie on"), "%s", text);
	free(text);
	hlg_run_finish(&run);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trust");
	TCase *tc = tap_case(suite, "trust");

	tcase_add_checked_fixture(tc, kit_enter, kit_leave);
	tcase_add_test(tc, not_quite_all);
	tcase_add_loop_test(tc, verdict_at_its_limits, 0,
			    sizeof(verdicts) / sizeof(verdicts[0]));
	tcase_add_test(tc, words_of_verdicts);
	tcase_add_loop_test(tc, random_samples_are_counted, 0, 24);
	tcase_add_loop_test(tc, strays_only_are_a_mismatch, 0, 2);
	tcase_add_loop_test(tc, what_cannot_be_decoded_is_not_tested, 0, 2);
	/* On AArch64 a base hardly stands out. */
	if (HLG_HAVE_ZYDIS) {
		tcase_add_loop_test(tc, padding_is_not_verified, 0, 3);
		tcase_add_loop_test(tc, data_does_not_fit, 0, 3);
		tcase_add_test(tc, threads_have_their_border);
		tcase_add_loop_test(tc, other_bases_are_told, 0, 1);
		tcase_add_loop_test(tc, other_bases_are_told, 31, 33);
	}
	return tap_main(suite);
}
