// SPDX-License-Identifier: GPL-2.0-only
/*
 * What recordings lack: from what a reader met to notes; of parts of one, of several, and
 * where only a build without libzstd, or the file's header, knows that something is not
 * there. Too much is told as very much, not as little.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kit/tap.h"
#include "tools/feed/lacks.h"

static const char no_end[] = "no end: perf record was killed, or the file was cut off "
			     "(what came last, and what perf notes behind it, may be "
			     "missing)";

/* The only note of these; "" if there is none. It is for the caller to free. */
static char *only(const struct hlg_recording_sums *sums, const char *of, const char *loss)
{
	struct hlg_note_list notes = {0};
	char *line;

	hlg_lacks_note(sums, of, loss, &notes);
	ck_assert(!notes.lost);
	ck_assert_uint_le(notes.n, 1);
	ck_assert(notes.n == 0 || notes.level[0] == HLG_NOTE_WARNING);
	line = strdup(notes.n ? notes.line[0] : "");
	ck_assert_ptr_nonnull(line);
	hlg_note_list_finish(&notes);
	return line;
}

static void check_note(const struct hlg_recording_sums *sums, const char *expected)
{
	char *line = only(sums, "", NULL);

	ck_assert_str_eq(line, expected);
	free(line);
}

static void check_counts(struct hlg_perfdata_counts counts, const char *expected)
{
	struct hlg_recording_sums sums = {.recordings = 1};

	hlg_lacks_set(&sums, &counts);
	check_note(&sums, expected);
}

START_TEST(one_thing_each)
{
	char *line = only(&(struct hlg_recording_sums){.lost = 3}, "before: ", "!");

	ck_assert_str_eq(line, "before: 3 events were lost while recording!");
	free(line);
	check_counts((struct hlg_perfdata_counts){.samples = 7}, "");
	check_counts((struct hlg_perfdata_counts){.lost = 3, .lost_samples = 2},
		     "3 events were lost while recording (a larger -m, or a lower -F, "
		     "loses less)");
	check_counts((struct hlg_perfdata_counts){.types[PERF_RECORD_THROTTLE] = 4},
		     "the kernel throttled sampling 4 times: busy periods have too few "
		     "samples");
	check_counts((struct hlg_perfdata_counts){.unknown_id = 1,
						  .bad_sample = 4,
						  .bad_record = 2},
		     "7 records, or parts of records, make no sense and were skipped");
	check_counts((struct hlg_perfdata_counts){.bad_sample = 1},
		     "1 record makes no sense and was skipped");
	check_counts((struct hlg_perfdata_counts){.unknown_types = 3},
		     "3 records are of types that this hlguest does not know, and were "
		     "skipped (is it older than perf?)");
	check_note(&(struct hlg_recording_sums){.recordings = 1, .late = 1},
		   "the recording is not in the order of time: processes of the host may "
		   "be named wrongly, or not at all (of record --threads, select a part: "
		   "--time=)");
	check_note(
		&(struct hlg_recording_sums){.recordings = 3, .late = 2},
		"2 of 3 recordings are not in the order of time: processes of the host "
		"may be named wrongly, or not at all (of record --threads, select a "
		"part: --time=)");
	check_counts((struct hlg_perfdata_counts){.no_zstd = 6},
		     "6 compressed records were skipped, with all samples inside (use a "
		     "hlguest that is built with libzstd)");
	check_counts((struct hlg_perfdata_counts){.left = 5, .missing = UINT64_MAX},
		     "the recording was cut off: 18446744073709551615 bytes at its end "
		     "are missing or hold no whole record");
}
END_TEST

/* Nothing is said twice: who knows how many bytes are missing knows that the end is. */
START_TEST(ends)
{
	static const struct hlg_perfdata_counts cut[] = {{.unfinished = true},
							 {.facts_cut = true},
							 {.unfinished = true, .left = 8}};
	struct hlg_recording_sums one, all = {0};
	char expected[256];

	snprintf(expected, sizeof(expected), "the recording has %s", no_end);
	check_counts(cut[0], expected);
	check_counts(cut[1], expected);
	check_counts(cut[2],
		     "the recording was cut off: 8 bytes at its end are missing or "
		     "hold no whole record");
	check_note(&(struct hlg_recording_sums){.recordings = 1,
						.left = 8,
						.took = 1149999999},
		   "the recording was cut off: 8 bytes at its end are missing or hold no "
		   "whole record, and it ends after 1.1 s: what came later is not there");
	check_note(&(struct hlg_recording_sums){.recordings = 1,
						.left = 8,
						.damaged = 1,
						.took = 93250999},
		   "the recording is damaged: no record begins where one should, and 8 "
		   "bytes from there on were not read, and it ends after 93.250 ms: what "
		   "came later is not there");
	for (size_t i = 0; i < 3; i++) {
		one = (struct hlg_recording_sums){.recordings = 1};
		hlg_lacks_set(&one, &cut[i]);
		hlg_lacks_add(&all, &one);
	}
	ck_assert_uint_eq(all.left, 8);
	all.left = 0;
	snprintf(expected, sizeof(expected), "2 of 3 recordings have %s", no_end);
	check_note(&all, expected);
	check_note(&(struct hlg_recording_sums){.recordings = 2, .left = 9},
		   "recordings were cut off: 9 bytes at their ends are missing or "
		   "hold no whole record");
}
END_TEST

/* Where no record begins, nothing was cut off. */
START_TEST(damage)
{
	const struct hlg_perfdata_counts counts = {.corrupt = true, .left = 8};
	struct hlg_recording_sums one = {.recordings = 1}, all = {.recordings = 2};
	struct hlg_note_list notes = {0};

	check_counts(counts,
		     "the recording is damaged: no record begins where one should, and "
		     "8 bytes from there on were not read");
	hlg_lacks_set(&one, &counts);
	hlg_lacks_add(&all, &one);
	hlg_lacks_note(&all, "", NULL, &notes);
	ck_assert_uint_eq(notes.n, 2);
	ck_assert_str_eq(notes.line[0],
			 "1 of 3 recordings is damaged: what follows where no record "
			 "begins was not read");
	ck_assert_str_eq(notes.line[1], "recordings were cut off or are damaged: 8 bytes "
					"could not be read");
	hlg_note_list_finish(&notes);
}
END_TEST

/* KVM's tracepoints without formats, as the feed counts them. */
START_TEST(undecoded)
{
	static const char why[] =
		"no whole formats of KVM's tracepoints, which perf writes at the end: "
		"exits, and where guests are entered, are not decoded (record again)";
	const struct hlg_recording_sums one = {.recordings = 1, .undecoded = 1};
	struct hlg_recording_sums all = {.recordings = 1};
	char expected[256];

	snprintf(expected, sizeof(expected), "the recording has %s", why);
	check_note(&one, expected);
	hlg_lacks_add(&all, &one);
	hlg_lacks_add(&all, &one);
	snprintf(expected, sizeof(expected), "2 of 3 recordings have %s", why);
	check_note(&all, expected);
}
END_TEST

START_TEST(parts)
{
	const struct hlg_perfdata_counts part = {.samples = 1,
						 .unknown_id = 2,
						 .bad_sample = 3,
						 .bad_record = 4,
						 .lost = UINT64_MAX,
						 .lost_samples = 5,
						 .no_zstd = 7,
						 .unknown_types = 11,
						 .corrupt = true,
						 .types[PERF_RECORD_THROTTLE] = 8,
						 .left = 9,
						 .missing = 10};
	struct hlg_perfdata_counts both = {0};
	struct hlg_recording_sums sums = {.unjoined = 6, .late = 12},
				  all = {.recordings = 1};

	hlg_lacks_join(&both, &part);
	hlg_lacks_join(&both, &part);
	hlg_lacks_set(&sums, &both);
	ck_assert_uint_eq(both.samples, 2);
	ck_assert(sums.lost == UINT64_MAX && sums.throttled == 16 && sums.left == 38);
	ck_assert(sums.skipped == 32 && sums.packed == 14 && sums.unjoined == 6);
	ck_assert(sums.recordings == 0 && sums.no_end == 0);
	ck_assert(sums.unknown == 22 && sums.damaged == 1 && sums.late == 12);
	hlg_lacks_add(&all, &sums);
	hlg_lacks_add(&all, &sums);
	ck_assert(all.lost == UINT64_MAX && all.throttled == 32 && all.left == 76);
	ck_assert(all.skipped == 64 && all.packed == 28 && all.unjoined == 12);
	ck_assert(all.unknown == 44 && all.damaged == 2 && all.late == 24);
	ck_assert_uint_eq(all.recordings, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lacks");
	TCase *tc = tap_case(suite, "lacks");

	tcase_add_test(tc, one_thing_each);
	tcase_add_test(tc, ends);
	tcase_add_test(tc, damage);
	tcase_add_test(tc, undecoded);
	tcase_add_test(tc, parts);
	return tap_main(suite);
}
