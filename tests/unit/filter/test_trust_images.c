// SPDX-License-Identifier: GPL-2.0-only
/*
 * What samples in several images prove: each image is judged for itself, none for
 * another, and one that does not fit is not hidden by those that do. And what is said of
 * a base that fits as well. And that a recording alone is judged as a report of it is.
 */
#include "filter/trust/trust.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "filter/report/banner.h"
#include "filter/report/misfits.h"
#include "filter/report/notes.h"
#include "filter/report/shift.h"
#include "filter/trust/apart.h"
#include "filter/trust/identity.h"
#include "filter/trust/per-file.h"
#include "filter/trust/runners.h"
#include "filter/write/report-table.h"
#include "symtab/image/lane.h"
#include "tests/kit/filter-trust.h"
#include "tests/kit/tap.h"

enum {
	VERIFIED = HLG_TRUST_VERIFIED,
	MIXED = HLG_TRUST_MIXED,
	MISMATCH = HLG_TRUST_MISMATCH
};

static void start_two(struct hlg_run *run)
{
	kit_trust_guest("a.elf");
	kit_trust_guest("b.elf");
	kit_start(run, "a.elf@0x100000 b.elf@0x200000");
	hlg_profile_event(&run->profile, "a", 0);
}

/* Each image for itself, all together. */
START_TEST(images_are_judged_apart)
{
	struct hlg_report r;
	struct hlg_run run;

	start_two(&run);
	for (uint64_t i = 0; i < 30; i++) {
		kit_add(&run, 0, 0x101060 + 4 * i, 1, 4);
		kit_add(&run, 0, 0x201062 + 4 * i, 1, 1);
	}
	kit_build(&run, &r);
	ck_assert_ptr_eq(hlg_trust_of(&r.trust, run.space.images[0]), r.trust.images);
	ck_assert_ptr_eq(hlg_trust_of(&r.trust, run.space.images[1]), r.trust.images + 1);
	ck_assert_ptr_null(hlg_trust_of(&r.trust, NULL));
	ck_assert_int_eq(r.trust.images[0].tested.verdict, VERIFIED);
	ck_assert_int_eq(r.trust.images[1].tested.verdict, MISMATCH);
	ck_assert_uint_eq(r.trust.images[0].tested.samples.on, 120);
	ck_assert_uint_eq(r.trust.images[1].tested.samples.off, 30);
	ck_assert_uint_eq(r.trust.all.samples.on, 120);
	ck_assert_uint_eq(r.trust.all.samples.off, 30);
	ck_assert_uint_eq(r.trust.all.addrs.on, 30);
	ck_assert_uint_eq(r.trust.all.addrs.off, 30);
	hlg_report_finish(&r);
	hlg_run_finish(&run);
}
END_TEST

/* Another build of an image ran, whose samples lie outside if the image has none. */
START_TEST(another_build_without_samples)
{
	struct hlg_report r;
	struct hlg_run run;

	start_two(&run);
	hlg_rans_add(&run.profile.ran, 1, HLG_IDENTITY_OTHER, "b.elf", "11");
	for (uint64_t i = 0; i < 30; i++) {
		kit_add(&run, 0, 0x101060 + 4 * i, 1, 1);
		if (_i)
			kit_add(&run, 0, 0x201060 + 4 * i, 1, 1);
	}
	kit_build(&run, &r);
	ck_assert_int_eq(r.trust.all.verdict, _i ? MISMATCH : MIXED);
	hlg_report_finish(&r);
	hlg_run_finish(&run);
}
END_TEST

/*
 * Record noted others than an image, and one that is none of them: that counts where much
 * lies outside and nothing in it, and no recording tells anything else of it.
 */
START_TEST(a_build_that_is_absent)
{
	static const struct {
		int outside, inside;
		enum hlg_identity also;
		int verdict;
	} of[] = {
		{4, 0, HLG_IDENTITY_ABSENT, MIXED},
		{1, 0, HLG_IDENTITY_ABSENT, VERIFIED},
		{4, 30, HLG_IDENTITY_ABSENT, VERIFIED},
		{4, 0, HLG_IDENTITY_SAME, VERIFIED},
		{4, 0, HLG_IDENTITY_UNKNOWN, VERIFIED},
	};
	struct hlg_report r;
	struct hlg_run run;

	start_two(&run);
	hlg_rans_add(&run.profile.ran, 1, HLG_IDENTITY_ABSENT, "c.elf", "11");
	hlg_rans_add(&run.profile.ran, 1, of[_i].also, "c.elf", "11");
	for (int i = 0; i < 30; i++)
		kit_add(&run, 0, 0x101060 + 4 * (uint64_t)i, 1, 1);
	for (int i = 0; i < of[_i].inside; i++)
		kit_add(&run, 0, 0x201060 + 4 * (uint64_t)i, 1, 1);
	kit_add(&run, 0, 0x901000, 1, (uint64_t)of[_i].outside);
	kit_build(&run, &r);
	ck_assert_int_eq(r.trust.all.verdict, of[_i].verdict);
	hlg_report_finish(&r);
	hlg_run_finish(&run);
}
END_TEST

/* One that samples fit at another base may lie there. */
START_TEST(what_is_absent_may_be_elsewhere)
{
	struct hlg_report r;
	struct hlg_run run;

	start_two(&run);
	hlg_rans_add(&run.profile.ran, 1, HLG_IDENTITY_ABSENT, "c.elf", "11");
	for (uint64_t i = 0; i < 32; i++) {
		kit_add(&run, 0, 0x101060 + 4 * i, 1, 1);
		kit_add(&run, 0, 0x901060 + 4 * i, 1, 1);
	}
	kit_build(&run, &r);
	ck_assert_int_eq(r.trust.all.verdict, MISMATCH);
	ck_assert_ptr_nonnull(hlg_trust_elsewhere(&r.trust.images[1]));
	ck_assert_ptr_null(hlg_banner_other(&r));
	hlg_report_finish(&r);
	hlg_run_finish(&run);
}
END_TEST

/*
 * Many samples that fit in other images do not hide a few in one that do not: of 1,320
 * addresses 12, less than one in a hundred, wherever the image stands.
 */
START_TEST(a_mismatch_is_not_outvoted)
{
	enum {
		N = 13
	};
	static const struct {
		uint64_t first, end;
	} code[] = {
		{0x1000, 0x1054}, {0x1060, 0x10e0}, {0x1120, 0x11e0}, {0x1200, 0x1220}};
	char words[N * 24] = "", *at = words;
	struct hlg_report r;
	struct hlg_run run;

	kit_trust_guest("g.elf");
	for (int i = 0; i < N; i++) {
		char path[16];

		snprintf(path, sizeof(path), "%d.elf", i);
		ck_assert_int_eq(link("g.elf", path), 0);
		at += sprintf(at, "%s%s@0x%x00000", i ? " " : "", path, i + 1);
	}
	kit_start(&run, words);
	hlg_profile_event(&run.profile, "a", 0);
	for (int i = 0; i < N; i++)
		for (size_t k = 0; k < sizeof(code) / sizeof(code[0]); k++)
			for (uint64_t a = code[k].first; i != _i && a < code[k].end;
			     a += 4)
				kit_add(&run, 0, 0x100000 * (uint64_t)(i + 1) + a, 1,
					100);
	for (uint64_t i = 0; i < 12; i++)
		kit_add(&run, 0, 0x100000 * (uint64_t)(_i + 1) + 0x1062 + 4 * i, 1, 1);
	kit_build(&run, &r);
	for (int i = 0; i < N; i++)
		ck_assert_int_eq(r.trust.images[i].tested.verdict,
				 i == _i ? MISMATCH : VERIFIED);
	ck_assert_double_ge(r.trust.all.by_addrs.share, 0.99);
	ck_assert_int_eq(r.trust.all.verdict, MIXED);
	hlg_report_finish(&r);
	hlg_run_finish(&run);
}
END_TEST

/* What lies in another image would fit this one, too, but is not asked. */
START_TEST(claimed_samples_fit_nothing_else)
{
	struct hlg_report r;
	struct hlg_run run;

	start_two(&run);
	for (uint64_t i = 0; i < 32; i++) {
		kit_add(&run, 0, 0x201060 + 4 * i, 1, 1);
		kit_add(&run, 0, 0x101060 + 4 * (i % 5), 1, 1);
		kit_add(&run, 0, 0x201061 + 4 * (i % 8), 1, 1);
	}
	kit_build(&run, &r);
	ck_assert_int_eq(r.trust.all.verdict, MIXED);
	ck_assert_uint_eq(r.trust.images[0].found.n, 0);
	ck_assert_uint_eq(r.trust.images[1].found.n, 1);
	ck_assert_uint_eq(r.trust.images[1].found.fits[0].base, 0x200000);
	hlg_report_finish(&r);
	hlg_run_finish(&run);
}
END_TEST

/* Another base is named with what can be done: of two that overlap, guests are searched
 * one by one, unless they were. */
START_TEST(bases_that_overlap_are_told)
{
	static const struct {
		uint64_t base;
		enum hlg_base_from from;
		const char *advice;
	} others[] = {
		/* Without Zydis the guest is AArch64's. */
		{0x100010, HLG_BASE_STATED,
		 HLG_HAVE_ZYDIS ? "lies (FILE@auto tells" : "lies: report these guests"},
		{0xffff0, HLG_BASE_NOTE,
		 HLG_HAVE_ZYDIS ? "lies (FILE@auto tells" : "lies: report these guests"},
		{0xffff0, HLG_BASE_FOUND,
		 "lies: report these guests apart (--tid=, --sandbox="},
		{0x110000, HLG_BASE_STATED, " (FILE@auto counts them there)"},
		{0xf0000, HLG_BASE_STATED, " (FILE@auto counts them there)"},
	};
	struct hlg_fit fit = {.base = others[_i].base, .on_samples = 77}, *fits;
	struct hlg_report r;
	struct hlg_run run;
	char want[128];

	kit_trust_guest("a.elf");
	kit_start(&run, "a.elf@0x100000");
	kit_build(&run, &r);
	ck_assert_uint_eq(r.remarks.n, 0);
	fits = r.trust.images[0].found.fits;
	r.trust.images[0].found.fits = &fit;
	r.trust.images[0].found.n = 1;
	run.space.images[0]->from = others[_i].from;
	hlg_notes_add(&r);
	r.trust.images[0].found.fits = fits;
	r.trust.images[0].found.n = 0;
	ck_assert_uint_eq(r.remarks.n, 1);
	snprintf(want, sizeof(want), "77 samples would fit a.elf at base 0x%" PRIx64,
		 fit.base);
	ck_assert_ptr_nonnull(strstr(r.remarks.line[0], want));
	ck_assert_ptr_nonnull(strstr(r.remarks.line[0], others[_i].advice));
	hlg_report_finish(&r);
	hlg_run_finish(&run);
}
END_TEST

/* Samples that fit a base where the image lies, too, whichever it is, are where they
 * should be. */
START_TEST(no_base_of_its_own_is_told)
{
	struct hlg_fit fit = {.base = _i ? 0x200000 : 0x100000, .on_samples = 77}, *fits;
	struct hlg_report r;
	struct hlg_run run;
	struct hlg_err err;

	kit_trust_guest("a.elf");
	kit_start(&run, "a.elf@0x100000");
	ck_assert_int_eq(hlg_image_add_base(run.space.images[0], 0x200000, &err), 0);
	kit_build(&run, &r);
	fits = r.trust.images[0].found.fits;
	r.trust.images[0].found.fits = &fit;
	r.trust.images[0].found.n = 1;
	hlg_notes_add(&r);
	r.trust.images[0].found.fits = fits;
	r.trust.images[0].found.n = 0;
	ck_assert_uint_eq(r.remarks.n, 0);
	hlg_report_finish(&r);
	hlg_run_finish(&run);
}
END_TEST

static bool remarks(const struct hlg_report *r, const char *text)
{
	for (size_t i = 0; i < r->remarks.n; i++)
		if (strstr(r->remarks.line[i], text))
			return true;
	return false;
}

/* Where an ELF fits as well anywhere else, not that few samples may fit another one. */
START_TEST(few_samples_are_told_once)
{
	struct hlg_report r;
	struct hlg_run run;

	kit_trust_guest("a.elf");
	kit_start(&run, "a.elf@0x100000");
	hlg_profile_event(&run.profile, "a", 0);
	kit_add(&run, 0, 0x101060, 1, 1);
	kit_build(&run, &r);
	ck_assert(remarks(&r, "so few addresses may fit another build"));
	hlg_note_list_finish(&r.remarks);
	r.trust.images[0].any_fits = true;
	hlg_notes_add(&r);
	ck_assert(remarks(&r, "of AArch64 more samples are needed"));
	ck_assert(!remarks(&r, "so few addresses may fit another build"));
	hlg_report_finish(&r);
	hlg_run_finish(&run);
}
END_TEST

/* A part that fits if it is moved is another build's, if it is half of what does not fit
 * or more. */
START_TEST(a_tail_explains)
{
	struct hlg_report r;
	struct hlg_run run;
	uint64_t off;
	char *text;

	kit_trust_guest("a.elf");
	kit_start(&run, "a.elf@0x100000");
	hlg_profile_event(&run.profile, "a", 0);
	for (uint64_t i = 0; i < 30; i++)
		kit_add(&run, 0, 0x101062 + 4 * i, 1, 1);
	kit_build(&run, &r);
	off = r.trust.images[0].tested.samples.off;
	ck_assert_uint_ge(off, 20);
	r.trust.images[0].tail = (struct hlg_tail){.from = 0x1060,
						   .last = 0x1060,
						   .shift = 16,
						   .samples = off / 2 - (uint64_t)_i};
	text = hlg_banner_text(&r);
	ck_assert_msg(strstr(text, _i ? "samples fit if moved)"
				      : "from 0x1060 on, samples fit if moved by +16"),
		      "%s", text);
	free(text);
	/* Where that explains it, it is not that threads differ. */
	r.trust.threads[0] = (struct hlg_thread_test){.tid = 7};
	r.trust.fitting[0] = 8;
	r.trust.n_threads = r.trust.n_fitting = 1;
	text = hlg_banner_text(&r);
	ck_assert_msg((strstr(text, "1 thread fits") != NULL) == _i, "%s", text);
	free(text);
	hlg_report_finish(&r);
	hlg_run_finish(&run);
}
END_TEST

/* A function of which nothing could be tested has its name. */
START_TEST(what_is_not_tested_fits)
{
	struct hlg_misfits misfits = {0};
	struct hlg_report r;
	struct hlg_run run;

	kit_trust_guest("a.elf");
	kit_start(&run, "a.elf@0x100000");
	hlg_profile_event(&run.profile, "a", 0);
	kit_add(&run, 0, 0x101062, 1, 1);
	kit_build(&run, &r);
	ck_assert_uint_eq(r.all.n_rows, 1);
	if (_i)
		r.all.rows[0].n_hits = 0;
	ck_assert(hlg_misfits_mark(&r.all, &r.trust, &misfits));
	ck_assert_uint_eq(misfits.n, !_i);
	ck_assert_int_eq(r.all.rows[0].misfit, !_i);
	free(misfits.owner);
	hlg_report_finish(&r);
	hlg_run_finish(&run);
}
END_TEST

/* From where a tail begins on, all of it moves. */
START_TEST(a_tail_moves)
{
	struct hlg_tail tail = {.from = 0x1060, .shift = 16};
	const struct hlg_shift shift = {.tails = &tail, .n = 1};
	static const uint64_t before[] = {0x105c, 0x1060, 0x1064},
			      behind[] = {0x105c, 0x1070, 0x1074};
	struct hlg_run run;

	kit_trust_guest("a.elf");
	kit_start(&run, "a.elf@0x100000");
	hlg_profile_event(&run.profile, "a", 0);
	kit_add(&run, 0, 0x100000 + before[_i], 1, 3);
	ck_assert_int_eq(hlg_run_settle(&run, &(struct hlg_err){0}), 0);
	ck_assert(hlg_shift_move(&shift, &run.space, &run.profile, NULL));
	for (size_t i = 0; i < hlg_profile_room(&run.profile); i++)
		if (run.profile.cells[i].count.samples)
			ck_assert_uint_eq(run.profile.cells[i].ip, 0x100000 + behind[_i]);
	hlg_run_finish(&run);
}
END_TEST

/* And callers: a return address by the call that stands in front of it. */
START_TEST(a_tail_moves_callers)
{
	struct hlg_tail tail = {.from = 0x1060, .shift = 16};
	const struct hlg_shift shift = {.tails = &tail, .n = 1};
	const uint64_t callers[] = {0x10105f, 0x101060, 0x101061};
	struct hlg_stack key = {.guest = true, .ip = 0x101060, .count = {1, 1}};
	const uint64_t *words;
	struct hlg_run run;
	size_t n;

	kit_trust_guest("a.elf");
	kit_start(&run, "a.elf@0x100000 stacks=callgraph");
	hlg_profile_event(&run.profile, "a", 0);
	kit_add(&run, 0, key.ip, 1, 1);
	key.chain = hlg_chains_add(&run.stacks.chains, callers, 3);
	ck_assert_uint_eq(hlg_stacks_add(&run.stacks, &key), 0);
	ck_assert_int_eq(hlg_run_settle(&run, &(struct hlg_err){0}), 0);
	ck_assert(hlg_shift_move(&shift, &run.space, &run.profile, &run.stacks));
	ck_assert_uint_eq(run.stacks.stacks[0].ip, 0x101070);
	words = hlg_chains_get(&run.stacks.chains, run.stacks.stacks[0].chain, &n);
	ck_assert_uint_eq(n, 3);
	ck_assert_uint_eq(words[0], 0x10105f);
	ck_assert_uint_eq(words[1], 0x101060);
	ck_assert_uint_eq(words[2], 0x101071);
	hlg_run_finish(&run);
}
END_TEST

/* Threads whose numbers were not recorded cannot be told. */
START_TEST(nobodys_threads)
{
	static const int32_t tids[] = {7, -1};
	struct hlg_report r;
	struct hlg_run run;

	kit_trust_guest("a.elf");
	kit_start(&run, "a.elf@0x100000");
	hlg_profile_event(&run.profile, "a", 0);
	for (uint64_t i = 0; i < 30; i++) {
		struct hlg_sample s = kit_sample(0, 0x101060 + 4 * i);

		s.tid = 5;
		hlg_profile_add(&run.profile, &s);
		s.ip += 2;
		s.tid = tids[_i];
		hlg_profile_add(&run.profile, &s);
	}
	kit_build(&run, &r);
	ck_assert_int_ge(r.trust.all.verdict, MIXED);
	ck_assert_uint_eq(r.trust.n_fitting, 1);
	ck_assert_uint_eq(r.trust.n_threads, !_i);
	hlg_report_finish(&r);
	hlg_run_finish(&run);
}
END_TEST

/* That an ELF is newer than a recording matters only where none tells what ran. */
START_TEST(newer)
{
	struct hlg_report r;
	struct hlg_run run;
	bool told = false;

	kit_trust_guest("a.elf");
	kit_start(&run, "a.elf@0x100000");
	hlg_profile_event(&run.profile, "a", 0);
	kit_add(&run, 0, 0x101060, 1, 1);
	hlg_rans_add(&run.profile.ran, 0, HLG_IDENTITY_UNKNOWN, NULL, NULL);
	hlg_rans_written(&run.profile.ran, 1);
	if (_i)
		hlg_rans_add(&run.profile.ran, 0, HLG_IDENTITY_OTHER, "b.elf", "");
	kit_build(&run, &r);
	for (size_t i = 0; i < r.remarks.n; i++)
		told |= strstr(r.remarks.line[i], "is newer than the recording") != NULL;
	ck_assert_int_eq(told, !_i);
	hlg_report_finish(&r);
	hlg_run_finish(&run);
}
END_TEST

/* Recordings have 20 bytes of an id; what is behind them is not known to differ. */
START_TEST(an_id_that_was_cut)
{
	static const char id[] = "00112233445566778899aabbccddeeff0011223344556677";
	static char file[] = "a.elf";
	struct hlg_build build = {.file = file};
	struct hlg_run run;

	kit_trust_guest("a.elf");
	kit_start(&run, "a.elf@0x100000");
	hlg_profile_event(&run.profile, "a", 0);
	kit_add(&run, 0, 0x101060, 1, 1);
	strcpy(run.space.images[0]->elf.build_id, id);
	snprintf(build.print.build_id, sizeof(build.print.build_id), "%.39s%c", id,
		 _i ? 'f' : id[39]);
	ck_assert(hlg_builds_add(&run.profile.builds, &build));
	hlg_identity_judge(&run.profile, &run.space, "a.data");
	ck_assert_uint_eq(run.profile.ran.n, 1);
	ck_assert_int_eq(hlg_rans_worst(&run.profile.ran.at[0]),
			 _i ? HLG_IDENTITY_OTHER : HLG_IDENTITY_SAME);
	hlg_run_finish(&run);
}
END_TEST

/* What lies nowhere may be of an image without a base, unless only another one ran. */
START_TEST(what_ran_is_named)
{
	static char file[] = "a.elf";
	struct hlg_build build = {.file = file, .noted = true};
	struct hlg_run run;

	kit_trust_guest("a.elf");
	kit_trust_guest("b.elf");
	kit_start(&run, "a.elf@0x100000 b.elf@0x800000");
	hlg_profile_event(&run.profile, "a", 0);
	kit_add(&run, 0, 0x5000060, 1, 1);
	run.space.images[0]->from = HLG_BASE_DEFAULT;
	strcpy(run.space.images[0]->elf.build_id, "0011");
	strcpy(run.space.images[1]->elf.build_id, "2233");
	strcpy(build.print.build_id, _i ? "4455" : "2233");
	ck_assert(hlg_builds_add(&run.profile.builds, &build));
	hlg_identity_judge(&run.profile, &run.space, "a.data");
	ck_assert_uint_eq(run.profile.ran.n, _i);
	if (_i)
		ck_assert_int_eq(hlg_rans_worst(&run.profile.ran.at[0]),
				 HLG_IDENTITY_OTHER);
	hlg_run_finish(&run);
}
END_TEST

/* A sandbox that ran another ELF in turn is of neither. */
START_TEST(a_sandbox_in_two_lanes)
{
	struct hlg_runners_recording recording = {.path = "x"};
	struct hlg_runners units;
	struct hlg_run run;

	kit_trust_guest("a.elf");
	kit_start(&run, "a.elf@0x100000");
	hlg_profile_event(&run.profile, "a", 0);
	hlg_profile_keep_apart(&run.profile);
	ck_assert(hlg_sandboxes_add(&run.profile.sandboxes, 1, 5));
	for (uint32_t i = 0; i < 3; i++) {
		struct hlg_sample s = kit_sample(0, 0x101060);

		s.sandbox = 1;
		s.stretch = i;
		hlg_profile_add(&run.profile, &s);
	}
	ck_assert(hlg_runners_collect(&units, &run.profile));
	ck_assert_uint_eq(units.n, 3);
	units.at[1].lane = (unsigned)_i;
	recording.profile = &run.profile;
	recording.host = &run.host;
	ck_assert(hlg_runners_move(&units, &recording, 2));
	ck_assert_uint_eq(run.profile.sandboxes.at[0].lane, _i ? HLG_LANE_SEVERAL : 0);
	hlg_runners_finish(&units);
	hlg_run_finish(&run);
}
END_TEST

/* Where the stretches of a sandbox do not fit one ELF together, it is told once how many
 * of its samples are outside for which reason. */
START_TEST(stretches_are_told_of)
{
	/* of sandbox 1, but the last; at the first function of a.elf or, odd, off it */
	static const struct {
		unsigned n, off;
	} stretches[] = {{20, 1}, {3, 0}, {12, 0}, {1, 1}, {30, 0}};
	struct hlg_note_list notes = {0};
	struct hlg_runners_recording recording = {.path = "x", .notes = &notes};
	struct hlg_apart apart;
	struct hlg_run run;
	struct hlg_err err;
	uint64_t here = 0;

	kit_trust_guest("a.elf");
	kit_trust_guest("b.elf");
	kit_start(&run, "a.elf@0x100000 b.elf@0x200000");
	ck_assert_int_eq(
		hlg_image_set_base(run.space.images[1], 0x102000, HLG_BASE_STATED, &err),
		0);
	ck_assert_int_eq(hlg_space_part(&run.space, &err), 0);
	ck_assert_uint_eq(run.space.n_lanes, 2);
	hlg_profile_event(&run.profile, "a", 0);
	hlg_profile_keep_apart(&run.profile);
	for (int i = 0; i < 2; i++)
		ck_assert(hlg_sandboxes_add(&run.profile.sandboxes, 1, 5 + i));
	for (uint32_t i = 0; i < 5; i++)
		for (unsigned k = 0; k < stretches[i].n; k++) {
			struct hlg_sample s =
				kit_sample(0, 0x101060 + 4 * (k % 30) + stretches[i].off);

			s.sandbox = i < 4 ? 1 : 2;
			s.stretch = i;
			hlg_profile_add(&run.profile, &s);
		}
	recording.profile = &run.profile;
	recording.host = &run.host;
	ck_assert(hlg_apart_begin(&apart, &run.space, &run.options));
	ck_assert_msg(hlg_apart_settle(&apart, &recording, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(notes.n, 1);
	ck_assert_str_eq(
		notes.line[0],
		"sandbox 1 has 36 samples, 4 of which are too few to tell which "
		"ELF it runs, and 20 of which fit none of the ELFs: outside here "
		"(another ELF? name it, too; at another base? FILE@auto looks "
		"for it)");
	for (size_t i = 0; i < hlg_profile_room(&run.profile); i++)
		if (hlg_lane_of(run.profile.cells[i].ip) == 0)
			here += run.profile.cells[i].count.samples;
	ck_assert_uint_eq(here, 42);
	hlg_apart_finish(&apart);
	hlg_note_list_finish(&notes);
	hlg_run_finish(&run);
}
END_TEST

static char *record_again(const void *path)
{
	char *again;

	return asprintf(&again, "again %s", (const char *)path) < 0 ? NULL : again;
}

/* A thread without sandboxes that ran two ELFs in turn fits them together, and it is told
 * how to record it anew; what fits neither, or only in part, is told so.
 */
START_TEST(a_thread_that_takes_turns)
{
	/* addresses of a.elf, b.elf and neither; of a.elf in another thread */
	static const struct {
		unsigned a, b, off, others;
		const char *said;
	} all[] = {
		{20, 20, 0, 0,
		 "x: thread 7 ran a.elf and b.elf in turn, at the same addresses, and "
		 "the recording does not tell when which of them (record anew: again x)"},
		{20, 20, 0, 30,
		 "thread 7 has 40 samples, which fit the ELFs only together: outside "
		 "here (it ran several in turn; record anew: again x)"},
		{20, 5, 0, 0,
		 "x: thread 7 ran a.elf and b.elf in turn, at the same addresses, and "
		 "the recording does not tell when which of them (record anew: again x)"},
		{20, 4, 0, 0,
		 "x: some samples are of other code than a.elf and b.elf (another "
		 "build of one, or another guest in turn with them? name the ELF of "
		 "each, and record anew: again x)"},
		{20, 20, 1, 30,
		 "thread 7 has 41 samples, which fit the ELFs only in part: outside "
		 "here (another build of one, or another guest in turn with them? name "
		 "the ELF of each, and record anew: again x)"},
		{0, 0, 20, 0,
		 "x: its samples fit neither a.elf nor b.elf where these lie (name the "
		 "ELFs that ran; FILE@auto looks for their bases; if they ran in turn "
		 "on one thread, record anew: again x)"},
		{0, 0, 20, 30,
		 "thread 7 has 20 samples, which fit none of the ELFs: outside here (if "
		 "it ran several in turn, record anew: again x)"},
	};
	struct hlg_note_list notes = {0};
	struct hlg_runners_recording recording = {
		.path = "x", .notes = &notes, .again = record_again, .again_of = "x"};
	struct hlg_apart apart;
	struct hlg_run run;
	struct hlg_err err;
	int rc;

	kit_trust_guest("a.elf");
	kit_trust_guest("b.elf");
	kit_start(&run, "a.elf@0x100000 b.elf@0x200000");
	ck_assert_int_eq(
		hlg_image_set_base(run.space.images[1], 0x102000, HLG_BASE_STATED, &err),
		0);
	ck_assert_int_eq(hlg_space_part(&run.space, &err), 0);
	hlg_profile_event(&run.profile, "a", 0);
	hlg_profile_keep_apart(&run.profile);
	for (unsigned i = 0; i < 30; i++) {
		const uint64_t ips[] = {0x101060 + 4 * i, 0x103060 + 4 * i,
					0x101061 + 4 * i, 0x101060 + 4 * i};
		const unsigned most[] = {all[_i].a, all[_i].b, all[_i].off,
					 all[_i].others};

		for (int k = 0; k < 4; k++) {
			struct hlg_sample s = kit_sample(0, ips[k]);

			s.tid = k < 3 ? 7 : 8;
			if (i < most[k])
				hlg_profile_add(&run.profile, &s);
		}
	}
	recording.profile = &run.profile;
	recording.host = &run.host;
	ck_assert(hlg_apart_begin(&apart, &run.space, &run.options));
	rc = hlg_apart_settle(&apart, &recording, &err);
	ck_assert_int_eq(rc, all[_i].others ? 0 : HLG_EINPUT);
	ck_assert_uint_eq(notes.n, all[_i].others != 0);
	ck_assert_str_eq(rc == 0 ? notes.line[0] : err.msg, all[_i].said);
	hlg_apart_finish(&apart);
	hlg_note_list_finish(&notes);
	hlg_run_finish(&run);
}
END_TEST

/* A sandbox that fits one ELF but for a stretch, which fits the other. Where guests are
 * left is known in both lanes. */
START_TEST(a_stretch_of_another_elf)
{
	static const struct {
		unsigned n;
		uint64_t ip;
	} stretches[] = {{3000, 0x101060}, {12, 0x103060}};
	struct hlg_note_list notes = {0};
	struct hlg_runners_recording recording = {.path = "x", .notes = &notes};
	struct hlg_apart apart;
	struct hlg_run run;
	struct hlg_err err;
	uint64_t in[2] = {0, 0};

	kit_trust_guest("a.elf");
	kit_trust_guest("b.elf");
	kit_start(&run, "a.elf@0x100000 b.elf@0x200000");
	ck_assert_int_eq(
		hlg_image_set_base(run.space.images[1], 0x102000, HLG_BASE_STATED, &err),
		0);
	ck_assert_int_eq(hlg_space_part(&run.space, &err), 0);
	hlg_profile_event(&run.profile, "a", 0);
	hlg_profile_keep_apart(&run.profile);
	for (int i = 0; i < 2; i++)
		ck_assert(hlg_sandboxes_add(&run.profile.sandboxes, 1, 5 + i));
	for (uint32_t i = 0; i < 2; i++)
		for (unsigned k = 0; k < stretches[i].n; k++) {
			struct hlg_sample s =
				kit_sample(0, stretches[i].ip + 4 * (k % 30));

			s.sandbox = 1;
			s.stretch = i;
			hlg_profile_add(&run.profile, &s);
		}
	hlg_transits_add(&run.profile.transits, (struct hlg_transit){0x101060, 3, 0, 0});
	recording.profile = &run.profile;
	recording.host = &run.host;
	ck_assert(hlg_apart_begin(&apart, &run.space, &run.options));
	ck_assert_msg(hlg_apart_settle(&apart, &recording, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(notes.n, 0);
	for (size_t i = 0; i < hlg_profile_room(&run.profile); i++)
		in[hlg_lane_of(run.profile.cells[i].ip) % 2] +=
			run.profile.cells[i].count.samples;
	for (unsigned i = 0; i < 2; i++) {
		struct hlg_transit at = hlg_transits_at(&run.profile.transits,
							0x101060 + hlg_lane_move(i));

		ck_assert_uint_eq(in[i], stretches[i].n);
		ck_assert_uint_eq(at.exits, 3);
	}
	hlg_apart_finish(&apart);
	hlg_note_list_finish(&notes);
	hlg_run_finish(&run);
}
END_TEST

/* What guests of several lanes have at a base is the base's. */
START_TEST(a_base_of_several_lanes)
{
	static const uint64_t bases[] = {0x100000, 0x200000};
	const struct hlg_image_test *test;
	struct hlg_image *image;
	struct hlg_report r;
	struct hlg_run run;
	struct hlg_err err;

	kit_trust_guest("a.elf");
	kit_start(&run, "a.elf@0x100000");
	image = run.space.images[0];
	for (image->lane = 1; image->lane < 3; image->lane++)
		ck_assert_int_eq(hlg_image_add_base(image, bases[1], &err), 0);
	image->lane = 0;
	run.space.n_lanes = 3;
	ck_assert_int_eq(hlg_space_arrange(&run.space, &err), 0);
	hlg_profile_event(&run.profile, "a", 0);
	for (unsigned lane = 0; lane < 3; lane++)
		kit_add(&run, 0, bases[lane > 0] + 0x1060 + hlg_lane_move(lane), 1,
			1U << lane);
	kit_build(&run, &r);
	test = &r.trust.images[0];
	ck_assert_uint_eq(test->n_bases, 2);
	for (size_t i = 0; i < 2; i++) {
		ck_assert_uint_eq(test->bases[i].base, bases[i]);
		ck_assert_uint_eq(test->bases[i].count.samples, i ? 2 + 4 : 1);
	}
	hlg_report_finish(&r);
	hlg_run_finish(&run);
}
END_TEST

/* A stretch without samples is as the guest's others, if these are in one lane. */
START_TEST(a_stretch_without_samples)
{
	struct hlg_runner_sample all[] = {{-1, 5, 0, 1, 1}, {-1, 7, 0, 1, 1},
					  {1, 9, 0, 1, 1},  {1, 9, 4, 1, 1},
					  {2, 9, 1, 1, 1},  {2, 9, 3, 1, 1}};
	static const unsigned lanes[] = {6, 7, 1, 1, 2, 3};
	struct hlg_runner at[6] = {{0}};
	const struct hlg_runners units = {.all = all, .n_all = 6, .at = at, .n = 6};

	for (size_t i = 0; i < 6; i++) {
		at[i].begin = i;
		at[i].end = i + 1;
		at[i].lane = lanes[i];
	}
	ck_assert_ptr_eq(hlg_runners_find(&units, 1, 8, 4), &at[3]);
	ck_assert_uint_eq(hlg_runners_find(&units, 1, 8, 2)->lane, 1);
	ck_assert_uint_eq(hlg_runners_find(&units, 1, 8, 9)->lane, 1);
	ck_assert_ptr_eq(hlg_runners_find(&units, 2, 8, 3), &at[5]);
	ck_assert_ptr_null(hlg_runners_find(&units, 2, 8, 2));
	ck_assert_uint_eq(hlg_runners_find(&units, -1, 7, 3)->lane, 7);
	ck_assert_ptr_null(hlg_runners_find(&units, -1, 6, 0));
	ck_assert_ptr_null(hlg_runners_find(&units, 3, 9, 0));
}
END_TEST

/* A base tells of a sandbox if nobody else has samples there, and it none at another. */
START_TEST(a_sandbox_at_a_base)
{
	const int32_t first = hlg_profile_tid_of(1), second = hlg_profile_tid_of(2),
		      third = hlg_profile_tid_of(3);
	struct hlg_image_test_base bases[] = {
		{.base = 0x1000, .tid = first, .count = {5, 5}},
		{.base = 0x5000, .tid = HLG_MANY_TIDS, .count = {5, 5}},
		{.base = 0x9000, .tid = third, .count = {1, 1}},
		{.base = 0xd000, .tid = third, .count = {1, 1}},
		{.base = 0x11000, .tid = second, .count = {0, 0}},
	};
	const struct hlg_image image = {0};
	struct hlg_image_test test = {.image = &image, .bases = bases, .n_bases = 5};
	const struct hlg_trust trust = {.images = &test, .n_images = 1};
	uint64_t base = 0;

	ck_assert_ptr_eq(hlg_trust_of_sandbox(&trust, 1, &base), &image);
	ck_assert_uint_eq(base, 0x1000);
	ck_assert_ptr_null(hlg_trust_of_sandbox(&trust, 2, &base));
	ck_assert_ptr_null(hlg_trust_of_sandbox(&trust, 3, &base));
	test.n_bases = 1; /* it goes without saying */
	ck_assert_ptr_null(hlg_trust_of_sandbox(&trust, 1, &base));
}
END_TEST

/* Each ELF at a base: what a sandbox runs is told by addresses of its own, and of few
 * samples only if nobody else runs that. */
START_TEST(a_sandbox_of_several_elfs)
{
	static const char *const runs[] = {"a.elf", "b.elf", "b.elf", NULL, NULL, NULL};
	static const struct {
		uint32_t sandbox;
		uint64_t ip, n;
	} some[] = {
		{1, 0x5060, 3},   /* of a.elf, alone */
		{2, 0x65060, 12}, /* of b.elf, not alone: its own addresses, */
		{3, 0x65120, 10}, /* these, */
		{3, 0x65060, 1},  /* and one that is not its own */
		{4, 0x65180, 9},  /* too few */
		{5, 0x651c0, 10}, /* of b.elf */
		{5, 0x95060, 1},  /* and c.elf */
		{6, 0xa0000, 20}, /* of none */
	};
	struct hlg_report report;
	struct hlg_run run;

	kit_guest("a.elf");
	kit_guest("b.elf");
	kit_guest("c.elf");
	kit_start(&run, "a.elf@0x4000 b.elf@0x64000 c.elf@0x94000");
	hlg_profile_event(&run.profile, "a", 0);
	for (int i = 0; i < 6; i++)
		ck_assert(hlg_sandboxes_add(&run.profile.sandboxes, 1, 5 + i));
	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++)
		for (uint64_t k = 0; k < some[i].n; k++) {
			struct hlg_sample s =
				kit_sample(0, some[i].ip + 4 * k); /* each on a start */

			s.sandbox = some[i].sandbox;
			hlg_profile_add(&run.profile, &s);
		}
	kit_build(&run, &report);
	for (uint32_t i = 0; i < 6; i++) {
		const struct hlg_image *image;
		uint64_t base;
		size_t n = hlg_report_table_runs(&report, i + 1, 0, &image, &base);

		ck_assert_pstr_eq(n == 1 ? image->path : NULL, runs[i]);
		if (n == 1)
			ck_assert_uint_eq(base, HLG_SPACE_NOWHERE);
	}
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

/* n distinct addresses from ip on, step apart. */
static void add_some(struct hlg_run *run, uint64_t ip, uint64_t n, uint64_t step)
{
	for (uint64_t i = 0; i < n; i++)
		kit_add(run, 0, ip + i * step, 1, 1);
}

static enum hlg_trust_verdict verdict_of_file(const struct hlg_run *run)
{
	struct hlg_per_file_verdict fit;
	struct hlg_per_file fits;

	ck_assert(hlg_per_file_begin(&fits, &run->space, run->options.gaps));
	ck_assert(hlg_per_file_judge(&fits, &run->profile, &fit));
	hlg_per_file_finish(&fits);
	return fit.verdict;
}

/*
 * Of one recording, the file's verdict is the report's: with samples in data, in padding,
 * outside of all, and beside those that a base is found for.
 */
START_TEST(a_file_is_judged_as_the_whole)
{
	static const char *const words[] = {
		"guest.elf@0x100000", "guest.elf@0x100000 gaps=drop",
		"guest.elf@0x100000 gaps=stretch", "guest.elf@auto"};
	static const uint64_t data[] = {0, 1, 29, 30}, outside[] = {0, 15, 30},
			      on[] = {0, 1, 11, 30}, padding[] = {0, 15};
	const int how = _i % 4, i = _i / 4;
	struct hlg_report r;
	struct hlg_run run;
	enum hlg_trust_verdict alone;

	kit_trust_guest("guest.elf");
	kit_start(&run, words[how]);
	hlg_profile_event(&run.profile, "a", 0);
	add_some(&run, 0x103000, data[i % 4], 8);
	add_some(&run, 0x900001, outside[i / 4 % 3], 0x10000);
	add_some(&run, 0x101060, on[i / 12 % 4], 4);
	add_some(&run, 0x101220, padding[i / 48], 2);
	alone = verdict_of_file(&run);
	kit_build(&run, &r);
	ck_assert_str_eq(hlg_verdict_word(alone), hlg_verdict_word(r.trust.all.verdict));
	hlg_report_finish(&r);
	hlg_run_finish(&run);
}
END_TEST

enum {
	WORDS = 6000,
	LONGEST = 30 /* instructions of a line */
};

/* Code of AArch64 in lines of many lengths; weight: what each instruction runs. */
static void write_lines(const char *path, uint64_t weight[static WORDS])
{
	static uint32_t text[WORDS];
	const struct mkelf_sym sym = MKELF_SYM("all", 0x1000, sizeof(text), STB_GLOBAL,
					       STT_FUNC, MKELF_SEC(0));
	struct mkelf_simple simple;
	struct mkelf_image img;
	uint64_t random = 1, left = 0, runs = 0;

	for (size_t i = 0; i < WORDS; i++, left--) {
		if (left == 0) {
			left = 3 + kit_random(&random, LONGEST - 2);
			runs = UINT64_C(1) << kit_random(&random, 9);
		}
		text[i] = left > 1 ? 0xd503201f : 0xd65f03c0; /* nop, ret */
		weight[i] = runs;
	}
	mkelf_simple_init(&simple, 0x1000, text, sizeof(text), &sym, 1);
	simple.elf.machine = EM_AARCH64;
	ck_assert_int_eq(mkelf_build(&simple.elf, &img), 0);
	ck_assert_int_eq(mkelf_write(&img, path), 0);
	mkelf_finish(&img);
}

/* Where samples fill the lines at all bases, AArch64 is verified, too; where the tail of
 * what ran has moved, as in another build, at any of them, nothing is. */
START_TEST(aarch64_bears_out_each_base)
{
	static const uint64_t bases[] = {0x100000, 0x200000};
	static uint64_t weight[WORDS];
	const enum hlg_trust_verdict verdict = _i ? HLG_TRUST_TOO_FEW : VERIFIED;
	struct hlg_report r;
	struct hlg_run run;
	struct hlg_err err;

	write_lines("a.elf", weight);
	kit_start(&run, "a.elf@0x100000");
	ck_assert_int_eq(hlg_image_add_base(run.space.images[0], bases[1], &err), 0);
	hlg_profile_event(&run.profile, "a", 0);
	for (int b = 0; b < 2; b++)
		for (uint64_t i = 0; i < WORDS - 1; i++) {
			const uint64_t by = _i >> b & 1 && i > WORDS / 2 ? 4 : 0;

			kit_add(&run, 0, bases[b] + 4 * i + by, 1, (unsigned)weight[i]);
		}
	kit_build(&run, &r);
	ck_assert_uint_eq(r.trust.images[0].n_bases, 2);
	ck_assert_str_eq(hlg_verdict_word(r.trust.all.verdict),
			 hlg_verdict_word(verdict));
	ck_assert_int_eq(r.trust.images[0].tested.verdict, verdict);
	ck_assert_int_eq(r.trust.images[0].any_fits, _i > 0);
	hlg_report_finish(&r);
	hlg_run_finish(&run);
}
END_TEST

/* So is a recording by itself. */
START_TEST(aarch64_bears_out_a_file)
{
	const enum hlg_trust_verdict verdict = _i ? HLG_TRUST_TOO_FEW : VERIFIED;
	static uint64_t weight[WORDS];
	struct hlg_run run;

	write_lines("a.elf", weight);
	kit_start(&run, "a.elf@0x100000");
	hlg_profile_event(&run.profile, "a", 0);
	for (uint64_t i = 0; i < WORDS - 1; i++)
		kit_add(&run, 0, 0x100000 + 4 * i + (_i && i > WORDS / 2 ? 4 : 0), 1,
			(unsigned)weight[i]);
	ck_assert_str_eq(hlg_verdict_word(verdict_of_file(&run)),
			 hlg_verdict_word(verdict));
	hlg_run_finish(&run);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trust_images");
	TCase *tc = tap_case(suite, "trust_images");

	tcase_add_checked_fixture(tc, kit_enter, kit_leave);
	tcase_add_loop_test(tc, bases_that_overlap_are_told, 0, 5);
	tcase_add_loop_test(tc, no_base_of_its_own_is_told, 0, 2);
	tcase_add_test(tc, few_samples_are_told_once);
	tcase_add_loop_test(tc, a_tail_explains, 0, 2);
	tcase_add_loop_test(tc, what_is_not_tested_fits, 0, 2);
	tcase_add_loop_test(tc, a_tail_moves, 0, 3);
	tcase_add_test(tc, a_tail_moves_callers);
	tcase_add_loop_test(tc, nobodys_threads, 0, 2);
	tcase_add_loop_test(tc, newer, 0, 2);
	tcase_add_loop_test(tc, an_id_that_was_cut, 0, 2);
	tcase_add_loop_test(tc, what_ran_is_named, 0, 2);
	tcase_add_loop_test(tc, a_sandbox_in_two_lanes, 0, 2);
	tcase_add_test(tc, stretches_are_told_of);
	tcase_add_test(tc, a_stretch_of_another_elf);
	tcase_add_test(tc, a_base_of_several_lanes);
	tcase_add_test(tc, a_stretch_without_samples);
	tcase_add_test(tc, a_sandbox_at_a_base);
	tcase_add_test(tc, a_sandbox_of_several_elfs);
	tcase_add_loop_test(tc, aarch64_bears_out_each_base, 0, 4);
	tcase_add_loop_test(tc, aarch64_bears_out_a_file, 0, 2);
	/* On AArch64 a base hardly stands out. */
	if (HLG_HAVE_ZYDIS) {
		tcase_add_loop_test(tc, a_thread_that_takes_turns, 0, 7);
		tcase_add_loop_test(tc, a_file_is_judged_as_the_whole, 0, 4 * 96);
		tcase_add_test(tc, images_are_judged_apart);
		tcase_add_loop_test(tc, another_build_without_samples, 0, 2);
		tcase_add_loop_test(tc, a_build_that_is_absent, 0, 5);
		tcase_add_test(tc, what_is_absent_may_be_elsewhere);
		tcase_add_loop_test(tc, a_mismatch_is_not_outvoted, 0, 2);
		tcase_add_loop_test(tc, a_mismatch_is_not_outvoted, 12, 13);
		tcase_add_test(tc, claimed_samples_fit_nothing_else);
	}
	return tap_main(suite);
}
