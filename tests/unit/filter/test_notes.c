// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a reader must know is said exactly when it is so. Each case lists all the notes of
 * a report by their beginnings, in order, so that a note too many fails like a missing
 * one.
 */
#include "filter/report/notes.h"

#include <stdlib.h>
#include <string.h>

#include "filter/report/banner.h"
#include "filter/report/rates.h"
#include "tests/kit/filter.h"
#include "tests/kit/tap.h"

static const char *const no_note[] = {NULL};

static void check_notes(struct hlg_run *run, const char *const *begins)
{
	struct hlg_report report;
	size_t n = 0;

	kit_build(run, &report);
	for (size_t i = 0; i < report.notes.n; i++) {
		const char *note = report.notes.line[i];

		if (strncmp(note, "names are shown as they are", 27) == 0)
			continue; /* of the build, not of the report */
		ck_assert_msg(begins[n], "too many: %s", note);
		ck_assert_msg(strncmp(note, begins[n], strlen(begins[n])) == 0,
			      "'%s' in place of '%s'", note, begins[n]);
		n++;
	}
	ck_assert_msg(!begins[n], "missing: %s", begins[n]);
	hlg_report_finish(&report);
	hlg_run_finish(run);
}

static void start(struct hlg_run *run, const char *words)
{
	kit_guest("guest.elf");
	kit_start(run, words);
	hlg_profile_event(&run->profile, "a", 0);
}

START_TEST(nothing_to_say)
{
	struct hlg_run run;

	start(&run, "guest.elf");
	kit_add(&run, 0, KIT_BASE + 0x1054, 1, 1);
	check_notes(&run, no_note);
}
END_TEST

START_TEST(no_sample)
{
	static const char *const notes[] = {"no samples: the recording is empty", NULL};
	struct hlg_run run;

	start(&run, "guest.elf");
	check_notes(&run, notes);
}
END_TEST

START_TEST(no_guest_sample)
{
	static const char *const notes[] = {
		"no guest samples: all 1 of a are of the host", NULL};
	struct hlg_run run;
	struct hlg_sample s = kit_sample(0, 0);

	start(&run, "guest.elf");
	s.cpumode = 2;
	hlg_profile_add(&run.profile, &s);
	check_notes(&run, notes);
}
END_TEST

/* Guest samples there may be, but the user's own options leave none. */
START_TEST(none_left)
{
	static const char *const notes[] = {"event=b: no guest samples: all 1 of b",
					    NULL};
	struct hlg_run run;
	struct hlg_sample s = kit_sample(0, 0);

	start(&run, "guest.elf event=b");
	kit_add(&run, 0, KIT_BASE + 0x1060, 1, 3);
	s.cpumode = 2;
	s.event = hlg_profile_event(&run.profile, "b", 0);
	hlg_profile_add(&run.profile, &s);
	check_notes(&run, notes);
}
END_TEST

/* What there is instead: of some samples it is known, or of none. */
static const struct {
	int32_t cpu[8]; /* + 1, up to 0 */
	const char *notes[3];
} left_out[] = {
	{{2}, {"cpu=0: selects none of 1 sample (guest samples are of cpu 1)"}},
	{{3, 2}, {"cpu=0: selects none of 2 samples (guest samples are of cpu 1, 2)"}},
	{{9, 8, 7, 6, 5, 4, 3},
	 {"cpu=0: selects none of 7 samples (guest samples are of cpu 2, 3, 4, 5, 6, "
	  "...)"}},
	{{3, 4, 5, 6, 7, 3, 9},
	 {"cpu=0: selects none of 7 samples (guest samples are of cpu 2, 3, 4, 5, 6, "
	  "...)"}},
	{{7, 6, 5, 4, 3, 7},
	 {"cpu=0: selects none of 6 samples (guest samples are of cpu 2, 3, 4, 5, 6)"}},
	{{-1, -1},
	 {"cpu=0: selects none of 2 samples: the recording does not say",
	  "2 samples filtered out because"}},
	{{-1, 2},
	 {"cpu=0: selects none of 2 samples (guest samples are of cpu 1)",
	  "1 sample filtered out because"}},
};

START_TEST(none_selected)
{
	struct hlg_run run;

	start(&run, "guest.elf cpu=0");
	for (size_t i = 0; i < 8 && left_out[_i].cpu[i]; i++) {
		struct hlg_sample s = kit_sample(0, KIT_BASE + 0x1060);

		s.cpu = left_out[_i].cpu[i] < 0 ? -1 : left_out[_i].cpu[i] - 1;
		hlg_profile_add(&run.profile, &s);
	}
	check_notes(&run, left_out[_i].notes);
}
END_TEST

/* Shares are of host and guest: hits of tracepoints are no part of it. */
START_TEST(shares_of_sums)
{
	static const char *const lines[] = {"\nall  ", "\n  host  ",
					    "\n  tracepoint hits  ", "\n  guest  "};
	static const char *const shares[] = {" -", " 50.00 %", " -", " 50.00 %"};
	struct hlg_sample s = kit_sample(0, 0);
	struct hlg_run run;
	char *text;

	start(&run, "guest.elf verbose=yes");
	kit_add(&run, 0, KIT_BASE + 0x1060, 1, 6);
	s.cpumode = 1;
	for (int i = 0; i < 8; i++) {
		s.event = hlg_profile_event(&run.profile, i < 6 ? "a" : "t", 0);
		if (i >= 6)
			hlg_profile_describe(&run.profile, s.event, HLG_EVENT_TRACEPOINT,
					     false);
		hlg_profile_add(&run.profile, &s);
	}
	text = kit_report(&run);
	for (size_t i = 0; i < 4; i++) {
		const char *line = strstr(text, lines[i]);
		const char *end = line ? strchr(line + 1, '\n') : NULL;

		ck_assert_msg(end, "no%s:\n%s", lines[i], text);
		ck_assert_msg(strncmp(end - strlen(shares[i]), shares[i],
				      strlen(shares[i])) == 0,
			      "not %s: %.*s", shares[i], (int)(end - line), line);
	}
	free(text);
	hlg_run_finish(&run);
}
END_TEST

START_TEST(protected_guest)
{
	static const char *const notes[] = {"4 guest samples have address 0", NULL};
	struct hlg_run run;

	start(&run, "guest.elf");
	kit_add(&run, 0, 0, 1, 4);
	check_notes(&run, notes);
}
END_TEST

START_TEST(stretched)
{
	static const char *const notes[] = {"gaps=stretch: 3 gap samples", NULL};
	struct hlg_run run;

	start(&run, "guest.elf gaps=stretch");
	kit_add(&run, 0, KIT_BASE + 0x1054, 1, 3);
	kit_add(&run, 0, KIT_BASE + 0x1060, 1, 3);
	check_notes(&run, notes);
}
END_TEST

START_TEST(overflow)
{
	static const char *const notes[] = {"the sum of the periods passed 2^64", NULL};
	struct hlg_run run;

	start(&run, "guest.elf");
	kit_add(&run, 0, KIT_BASE + 0x1060, UINT64_MAX, 3);
	check_notes(&run, notes);
}
END_TEST

START_TEST(memory)
{
	static const char *const notes[] = {
		"7 samples could not be counted: out of memory",
		"2 host samples have no row: out of memory", NULL};
	struct hlg_run run;

	start(&run, "guest.elf mode=all");
	kit_add(&run, 0, KIT_BASE + 0x1060, 1, 1);
	run.profile.unrecorded = 7;
	run.profile.seen.samples += 2;
	run.profile.host.samples += 2;
	hlg_host_add(&run.host, HLG_NO_SERIES, NULL, NULL, 0);
	hlg_host_add(&run.host, HLG_NO_SERIES, NULL, NULL, 0);
	check_notes(&run, notes);
}
END_TEST

START_TEST(not_recorded)
{
	static const char *const notes[] = {"2 samples filtered out because", NULL};
	struct hlg_run run;
	struct hlg_sample s = kit_sample(0, KIT_BASE + 0x1000);

	start(&run, "guest.elf cpu=0");
	kit_add(&run, 0, KIT_BASE + 0x1060, 1, 2);
	s.cpu = 0;
	hlg_profile_add(&run.profile, &s);
	check_notes(&run, notes);
}
END_TEST

/* Said once, and not where the user asked for the split. */
START_TEST(several_events)
{
	static const char *const notes[] = {"several events: ", NULL};
	struct hlg_run run;

	start(&run, _i ? "guest.elf by=event" : "guest.elf by=tid");
	hlg_profile_event(&run.profile, "b", 0);
	kit_add(&run, 0, KIT_BASE + 0x1060, 1, 2);
	kit_add(&run, 1, KIT_BASE + 0x1060, 1, 2);
	check_notes(&run, _i ? no_note : notes);
}
END_TEST

/* A sample the rows do not hold: the promise is checked, not assumed. */
START_TEST(broken_sums)
{
	static const char *const notes[] = {
		"THE SUMS DO NOT AGREE: 3 samples, 2 accounted for", NULL};
	struct hlg_run run;

	start(&run, "guest.elf");
	kit_add(&run, 0, KIT_BASE + 0x1060, 1, 2);
	run.profile.seen.samples++;
	check_notes(&run, notes);
}
END_TEST

START_TEST(images)
{
	static const char *const notes[] = {
		"guest.elf: base 0x1000 is assumed, nothing in the file states it (use "
		"guest.elf@BASE)",
		"guest.elf: has no .symtab; names are .dynsym's",
		"jit.map: 1 line is no perf map's and was skipped", NULL};
	struct mkelf_guest g;
	struct hlg_run run;
	FILE *f = fopen("jit.map", "w");

	fputs("100000 20 jit\nnonsense\n", f);
	fclose(f);
	mkelf_guest_init(&g, 0);
	g.elf.version = NULL;
	g.elf.tables = MKELF_DYNSYM;
	kit_write(&g, "guest.elf");
	kit_start(&run, "guest.elf map:jit.map");
	hlg_profile_event(&run.profile, "a", 0);
	kit_add(&run, 0, 0x100000, 1, 2);
	check_notes(&run, notes);
}
END_TEST

/* A debug file of another build is a warning; one that may not be read is none. */
START_TEST(debug_files)
{
	static char why[] = "guest.debug: is not here";
	struct hlg_report report;
	struct hlg_run run;
	size_t n;

	start(&run, "guest.elf");
	kit_add(&run, 0, KIT_BASE + 0x1060, 1, 1);
	kit_build(&run, &report);
	n = report.notes.n;
	run.space.images[0]->debug_refused = why;
	run.space.images[0]->debug_denied = _i;
	hlg_notes_add(&report);
	run.space.images[0]->debug_refused = NULL;
	ck_assert_uint_ge(report.notes.n, n + 1);
	ck_assert_str_eq(report.notes.line[n], why);
	ck_assert_int_eq(report.notes.level[n], _i ? HLG_NOTE_PLAIN : HLG_NOTE_WARNING);
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

/* One clock at a round rate may keep step with the guest; of two nothing is said. */
START_TEST(clocks)
{
	char step[80];
	struct hlg_report report;
	struct hlg_run run;

	start(&run, "guest.elf");
	for (uint32_t i = 0; i <= (uint32_t)_i; i++) {
		hlg_profile_describe(&run.profile,
				     hlg_profile_event(&run.profile, i ? "b" : "a", 0),
				     HLG_EVENT_TIMER, false);
		kit_add(&run, i, KIT_BASE + 0x1060, 1000000, 3);
	}
	kit_build(&run, &report);
	hlg_rates_put_step(step, sizeof(step), &report);
	ck_assert_str_eq(step, _i ? ""
				  : "; or it keeps step with 1000 samples a second: "
				    "record -F 997");
	report.all.in_step = 2; /* a warning has told of it */
	hlg_rates_put_step(step, sizeof(step), &report);
	ck_assert_str_eq(step, "");
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

/* What is outside of the ELF is much if it is more than one sample in twenty. */
START_TEST(much_outside)
{
	struct hlg_space space = {.n_images = 1};
	struct hlg_profile profile = {0};
	struct hlg_report r = {.space = &space, .profile = &profile};
	char said[80];

	r.trust.all.verdict = HLG_TRUST_VERIFIED;
	r.all.guest.samples = 1000;
	r.all.kinds[HLG_OUTSIDE].samples = 50;
	ck_assert(hlg_banner_is_ok(&r));
	ck_assert_str_eq(hlg_banner_said(said, &r), "OK");
	r.all.kinds[HLG_OUTSIDE].samples = 51;
	ck_assert(!hlg_banner_is_ok(&r));
	ck_assert_str_eq(hlg_banner_said(said, &r), "OK in the ELF");
}
END_TEST

static char *name_another(const void *of, const struct hlg_trust *trust)
{
	ck_assert_uint_eq(trust->n_images, 1);
	ck_assert_ptr_null(hlg_trust_elsewhere(&trust->images[0]));
	return strdup(of);
}

/* Of ELFs that are not named it is told where samples lie outside of those that are: of
 * more than one in twenty; and instead of the question what they are. */
START_TEST(unnamed)
{
	static const struct {
		unsigned in, out;
		bool asked; /* what the others are, where nobody knows of an ELF */
	} all[] = {{19, 1, false}, {19, 2, false}, {1, 19, true}};
	const unsigned in = all[_i].in, out = all[_i].out;
	const bool named = in + out > 20 || out > in;
	struct hlg_run run;
	char *report, said[64];

	for (int knows = 0; knows < 2; knows++) {
		start(&run, "guest.elf");
		run.options.unnamed = knows ? name_another : NULL;
		run.options.unnamed_of = "b.elf is not named";
		kit_add(&run, 0, KIT_BASE + 0x1060, 1, in);
		kit_add(&run, 0, KIT_BASE + 0x900000, 1, out);
		report = kit_report(&run);
		snprintf(said, sizeof(said),
			 "warning:  %u of %u samples lie outside: b.elf is not named\n",
			 out, in + out);
		ck_assert_msg(!strstr(report, "b.elf") == !(knows && named), "%s",
			      report);
		ck_assert_msg(!strstr(report, said) == !(knows && named), "%s", report);
		ck_assert_msg(!strstr(report, "lie outside of every image") ==
				      !(!knows && all[_i].asked),
			      "%s", report);
		free(report);
		hlg_run_finish(&run);
	}
}
END_TEST

/* The feed's own notes come after, in their order. */
START_TEST(feed)
{
	struct hlg_run run;
	char *report, *one, *two;

	start(&run, "guest.elf");
	kit_add(&run, 0, KIT_BASE + 0x1060, 1, 1);
	hlg_run_note(&run, "one %d", 1);
	hlg_run_note(&run, "two");
	report = kit_report(&run);
	one = strstr(report, "note:     one 1\n");
	two = strstr(report, "note:     two\n");
	ck_assert(one && two && one < two);
	free(report);
	hlg_run_finish(&run);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("notes");
	TCase *tc = tap_case(suite, "notes");

	tcase_add_checked_fixture(tc, kit_enter, kit_leave);
	tcase_add_test(tc, nothing_to_say);
	tcase_add_test(tc, no_sample);
	tcase_add_test(tc, no_guest_sample);
	tcase_add_test(tc, none_left);
	tcase_add_loop_test(tc, none_selected, 0, sizeof(left_out) / sizeof(left_out[0]));
	tcase_add_test(tc, shares_of_sums);
	tcase_add_test(tc, protected_guest);
	tcase_add_test(tc, stretched);
	tcase_add_test(tc, overflow);
	tcase_add_test(tc, memory);
	tcase_add_test(tc, not_recorded);
	tcase_add_loop_test(tc, several_events, 0, 2);
	tcase_add_test(tc, broken_sums);
	tcase_add_test(tc, images);
	tcase_add_loop_test(tc, debug_files, 0, 2);
	tcase_add_loop_test(tc, clocks, 0, 2);
	tcase_add_test(tc, much_outside);
	tcase_add_loop_test(tc, unnamed, 0, 3);
	tcase_add_test(tc, feed);
	return tap_main(suite);
}
