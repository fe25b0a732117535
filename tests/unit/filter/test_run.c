// SPDX-License-Identifier: GPL-2.0-only
/*
 * What makes a run impossible is told at its start, in one line, before samples are
 * counted for hours; and a run that failed, wherever, is finished like any other.
 */
#include "filter/run.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "tests/kit/filter.h"
#include "tests/kit/tap.h"

static const struct {
	const char *words, *message;
} refused[] = {
	{"", "no guest ELF is given (name it: --dlarg guest.elf; --dlarg help lists the "
	     "options)"},
	{"top=3", "no guest ELF is given (name it: --dlarg guest.elf; --dlarg help lists "
		  "the options)"},
	{"guest.elf top=x", "top=x: not a number"},
	{"guest.elf out=none/report",
	 "none/report: its folder cannot be written: No such file or directory (name "
	 "another)"},
	{"guest.elf out=.", ".: is a directory (name a file)"},
	{"guest.elf@0xffffffffffffcef1",
	 "guest.elf: its 12560 bytes at base 0xffffffffffffcef1 pass the end of memory "
	 "(give a lower base)"},
	{"guest.elf ./guest.elf",
	 "./guest.elf@0x4000: overlaps guest.elf@0x4000 at 0x4000 "
	 "(name one, or, if they lie elsewhere, state it as "
	 "FILE@ADDR; hlguest report, annotate, diff, exits, flame, "
	 "lookup and windows take both; inject takes one at a time)"},
	{"guest.elf ./guest.elf@0x5000",
	 "./guest.elf@0x5000: overlaps guest.elf@0x4000 at 0x5000 "
	 "(name one, or, if they lie elsewhere, state it as "
	 "FILE@ADDR; hlguest report, annotate, diff, exits, flame, "
	 "lookup and windows take both; inject takes one at a time)"},
};

START_TEST(refuses)
{
	struct kit_words words;
	struct hlg_err err = {0};
	struct hlg_run run;

	kit_guest("guest.elf");
	kit_words(&words, refused[_i].words);
	ck_assert_int_eq(hlg_run_start(&run, words.n, words.word, &err),
			 strstr(refused[_i].message, "cannot be written") ? HLG_ESYSTEM
									  : HLG_EINPUT);
	ck_assert_str_eq(err.msg, refused[_i].message);
	ck_assert_uint_eq(kit_count_files(), 1);
	hlg_run_finish(&run);
	kit_words_finish(&words);
}
END_TEST

START_TEST(json_in_this_build)
{
	char *argv[] = {(char[]){"guest.elf"}, (char[]){"format=json"}};
	struct hlg_err err = {0};
	struct hlg_run run;
	int rc;

	kit_guest("guest.elf");
	rc = hlg_run_start(&run, 2, argv, &err);
	ck_assert_int_eq(rc, HLG_HAVE_JANSSON ? 0 : HLG_EINPUT);
	if (!HLG_HAVE_JANSSON)
		ck_assert_str_eq(err.msg, "format=json: not in this build (install "
					  "libjansson-dev and build again)");
	hlg_run_finish(&run);
}
END_TEST

/* The report goes to its file, and nothing of it to the stream. */
START_TEST(writes_the_file)
{
	struct hlg_run run;
	char *report, *file;

	kit_guest("guest.elf");
	kit_start(&run, "guest.elf out=report.txt");
	kit_add(&run, hlg_profile_event(&run.profile, "a", 0), KIT_BASE + 0x1060, 1, 1);
	ck_assert_uint_eq(kit_count_files(), 1); /* checking leaves nothing behind */
	report = kit_report(&run);
	file = kit_read("report.txt");
	ck_assert_str_eq(report, "");
	ck_assert_ptr_nonnull(strstr(file, "guest     guest.elf, x86-64, "));
	ck_assert_uint_eq(kit_count_files(), 2);
	free(report);
	free(file);
	hlg_run_finish(&run);
}
END_TEST

/* The folder goes away between start and report: an error, not a crash. */
START_TEST(folder_vanishes)
{
	struct hlg_err err = {0};
	struct hlg_run run;

	kit_guest("guest.elf");
	ck_assert_int_eq(mkdir("sub", 0777), 0);
	kit_start(&run, "guest.elf out=sub/report");
	kit_add(&run, hlg_profile_event(&run.profile, "a", 0), KIT_BASE + 0x1060, 1, 1);
	ck_assert_int_eq(rmdir("sub"), 0);
	ck_assert_int_eq(hlg_run_report(&run, stdout, &err), HLG_ESYSTEM);
	ck_assert_str_eq(err.msg, "sub/report: cannot be created: No such file or "
				  "directory (write elsewhere)");
	hlg_run_finish(&run);
}
END_TEST

/* What is asked for decides whether there is nothing of it. */
static const struct {
	const char *words;
	unsigned host, guest;
	const char *nothing; /* NULL: there is something */
} found[] = {
	{"guest.elf", 0, 1, NULL},
	{"guest.elf", 1, 1, NULL},
	{"guest.elf", 0, 0, "no samples: the recording is empty"},
	{"guest.elf mode=all", 0, 0, "no samples: the recording is empty"},
	{"guest.elf", 2, 0, "no guest samples: all 2 of a are of the host"},
	{"guest.elf mode=guest", 2, 0, "no guest samples: all 2 of a are of the host"},
	{"guest.elf mode=host", 2, 0, NULL},
	{"guest.elf mode=host", 2, 1, NULL},
	{"guest.elf mode=host", 0, 1,
	 "no host samples: all 1 of a are of guests (--mode=guest shows them)"},
	{"guest.elf mode=host event=a", 0, 3, "event=a: no host samples: all 3 of a are"},
	{"guest.elf mode=all", 0, 1, NULL},
	{"guest.elf mode=all", 2, 0, NULL},
	{"guest.elf stacks=counters", 2, 0, NULL},
	{"guest.elf tid=5", 0, 3, "tid=5: selects none of 3 samples: the recording does"},
	{"guest.elf tid=5 mode=all", 2, 1,
	 "tid=5: selects none of 3 samples: the recording does"},
	{"guest.elf cpu=0 stacks=counters", 0, 1,
	 "cpu=0: selects none of 1 sample: the recording does not say"},
	{"guest.elf pid=1-9 event=b", 0, 3,
	 "pid=1-9 event=b: selects none of 3 samples (the recording has a)"},
};

START_TEST(nothing)
{
	struct hlg_sample host = kit_sample(0, 0xffffffff81000000);
	const struct hlg_err *why;
	struct hlg_run run;

	kit_guest("guest.elf");
	kit_start(&run, found[_i].words);
	host.event = hlg_profile_event(&run.profile, "a", 0);
	host.cpumode = 1;
	for (unsigned i = 0; i < found[_i].host; i++)
		hlg_profile_add(&run.profile, &host);
	if (found[_i].guest)
		kit_add(&run, host.event, KIT_BASE + 0x1060, 1, found[_i].guest);
	why = hlg_run_nothing(&run);
	ck_assert_int_eq(!why, !found[_i].nothing);
	if (why)
		ck_assert_msg(strncmp(why->msg, found[_i].nothing,
				      strlen(found[_i].nothing)) == 0,
			      "%s", why->msg);
	hlg_run_finish(&run);
}
END_TEST

/* Nor does an event that is not selected count. */
START_TEST(no_host)
{
	const struct hlg_err *why;
	struct hlg_run run;

	kit_guest("guest.elf");
	kit_start(&run, "guest.elf mode=host event=b");
	kit_add(&run, hlg_profile_event(&run.profile, "a", 0), KIT_BASE + 0x1060, 1, 2);
	kit_add(&run, hlg_profile_event(&run.profile, "b", 0), KIT_BASE + 0x1060, 1, 3);
	why = hlg_run_nothing(&run);
	ck_assert_ptr_nonnull(why);
	ck_assert_str_eq(why->msg, "event=b: no host samples: all 3 of b are of guests "
				   "(--mode=guest shows them)");
	hlg_run_finish(&run);
}
END_TEST

/* Of an event that is not selected nothing is said: only tracepoints are left here. */
START_TEST(traces)
{
	struct hlg_sample s = kit_sample(0, 0xffffffff81000000);
	const struct hlg_err *why;
	struct hlg_run run;

	kit_guest("guest.elf");
	kit_start(&run, "guest.elf event=t");
	kit_add(&run, hlg_profile_event(&run.profile, "a", 0), KIT_BASE + 0x1060, 1, 2);
	s.event = hlg_profile_event(&run.profile, "t", 0);
	hlg_profile_describe(&run.profile, s.event, HLG_EVENT_TRACEPOINT, false);
	s.cpumode = 1;
	hlg_profile_add(&run.profile, &s);
	why = hlg_run_nothing(&run);
	ck_assert_ptr_nonnull(why);
	ck_assert_str_eq(why->msg, "event=t: no guest samples, only tracepoints: t (use "
				   "hlguest exits, or select another event)");
	hlg_run_finish(&run);
}
END_TEST

START_TEST(guest_vanishes)
{
	struct hlg_run run;
	char *report;

	kit_guest("guest.elf");
	kit_start(&run, "guest.elf format=folded");
	hlg_profile_event(&run.profile, "a", 0);
	kit_add(&run, 0, KIT_BASE + 0x1054, 1, 2);
	kit_add(&run, 0, KIT_BASE + 0x1060, 1, 1);
	ck_assert_int_eq(unlink("guest.elf"), 0);
	report = kit_report(&run);
	ck_assert_str_eq(report, "guest.elf;__gap__ after dispatch 2\n"
				 "guest.elf;compute 1\n");
	free(report);
	hlg_run_finish(&run);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("run");
	TCase *tc = tap_case(suite, "run");

	tcase_add_checked_fixture(tc, kit_enter, kit_leave);
	tcase_add_loop_test(tc, refuses, 0, sizeof(refused) / sizeof(refused[0]));
	tcase_add_test(tc, json_in_this_build);
	tcase_add_test(tc, writes_the_file);
	tcase_add_test(tc, folder_vanishes);
	tcase_add_loop_test(tc, nothing, 0, sizeof(found) / sizeof(found[0]));
	tcase_add_test(tc, no_host);
	tcase_add_test(tc, traces);
	tcase_add_test(tc, guest_vanishes);
	return tap_main(suite);
}
