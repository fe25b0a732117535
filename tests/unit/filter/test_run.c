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
	 "./guest.elf@0x4000: overlaps guest.elf@0x4000 at 0x4000 (state the bases as "
	 "FILE@ADDR)"},
	{"guest.elf ./guest.elf@0x5000",
	 "./guest.elf@0x5000: overlaps guest.elf@0x4000 at 0x5000 (state the bases as "
	 "FILE@ADDR)"},
};

START_TEST(refuses)
{
	struct kit_words words;
	struct hlg_err err = {""};
	struct hlg_run run;

	kit_guest("guest.elf");
	kit_words(&words, refused[_i].words);
	ck_assert_int_eq(hlg_run_start(&run, words.n, words.word, &err), HLG_EINPUT);
	ck_assert_str_eq(err.msg, refused[_i].message);
	ck_assert_uint_eq(kit_count_files(), 1);
	hlg_run_finish(&run);
	kit_words_finish(&words);
}
END_TEST

START_TEST(json_in_this_build)
{
	char *argv[] = {(char[]){"guest.elf"}, (char[]){"format=json"}};
	struct hlg_err err = {""};
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
	struct hlg_err err = {""};
	struct hlg_run run;

	kit_guest("guest.elf");
	ck_assert_int_eq(mkdir("sub", 0777), 0);
	kit_start(&run, "guest.elf out=sub/report");
	ck_assert_int_eq(rmdir("sub"), 0);
	ck_assert_int_eq(hlg_run_report(&run, stdout, &err), HLG_ESYSTEM);
	ck_assert_str_eq(err.msg, "sub/report: cannot be created: No such file or "
				  "directory (write elsewhere)");
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
	tcase_add_test(tc, guest_vanishes);
	return tap_main(suite);
}
