// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text report and the folded stacks under hostile names: nothing reaches the terminal
 * that could move its cursor, every line is one the writer began, and the numbers still
 * add up. The printed sums are read back from the text and must reconcile.
 */
#include "filter/write/table.h"

#include <inttypes.h>
#include <string.h>

#include "filter/output/memstream.h"
#include "filter/stats/interval.h"
#include "filter/write/folded.h"
#include "filter/write/format.h"
#include "filter/write/text-head.h"
#include "symtab/escape.h"
#include "tests/kit/hostile.h"
#include "tests/kit/tap.h"

enum {
	GUEST = HOSTILE_NAMED + HOSTILE_GAP + HOSTILE_OUTSIDE
};

static char *report(const char *words)
{
	struct hlg_run run;
	char *text;

	hostile_start(&run, words);
	text = kit_report(&run);
	hlg_run_finish(&run);
	hostile_check_safe(text);
	return text;
}

/* "  word   samples   period   percent %": the samples; fails without such a line */
static uint64_t sum_of(const char *text, const char *word, uint64_t *period)
{
	char line[64];
	const char *at;
	uint64_t samples;

	snprintf(line, sizeof(line), "\n%s ", word);
	at = strstr(text, line);
	ck_assert_msg(at, "no sum of %s", word);
	ck_assert_int_eq(
		sscanf(at + strlen(line), "%" SCNu64 " %" SCNu64, &samples, period), 2);
	return samples;
}

START_TEST(text_is_safe)
{
	static const char *const words[] = {"", "mode=all aliases=yes by=event",
					    "mode=host", "by=event,tid aliases=yes",
					    "demangle=no gaps=stretch"};
	char with[64], *text;

	snprintf(with, sizeof(with), "verbose=yes wide=yes %s", words[_i]);
	text = report(with);
	for (size_t i = 0; _i != 2 && i < hostile_n_symbols; i++)
		ck_assert_msg(strstr(text, hostile_symbols[i].safe), "not shown: %s",
			      hostile_symbols[i].safe);
	ck_assert_ptr_nonnull(
		strstr(text, "\nimage     ./a;\"g\\x1b]0;\\x07e\\x0ast,\\xff.elf, "));
	ck_assert_ptr_nonnull(
		strstr(text, "guest     a;\"g\\x1b]0;\\x07e\\x0ast,\\xff."));
	ck_assert_ptr_nonnull(strstr(text, "\nevent     e=\\x1bv;\"\\x0a,\\xff, "));
	ck_assert_ptr_nonnull(
		strstr(text, "\nnote:     a note\\x0awith \\x1b in it, \"quoted\"\n"));
	if (_i == 1 || _i == 2)
		ck_assert_ptr_nonnull(
			strstr(text, "  =h;os\\x0at\\xff\" (@ds\\x1bo;\\x0a\\xff\")"));
	if (_i == 1)
		ck_assert_ptr_nonnull(strstr(text, " = +al\\x1bias,\"\n"));
	if (_i == 0)
		ck_assert_ptr_nonnull(strstr(text, "\\x09tab 12  (+1 alias)\n"));
	free(text);
}
END_TEST

START_TEST(text_sums)
{
	static const char *const gaps[] = {"verbose=yes gaps=retag",
					   "verbose=yes gaps=drop",
					   "verbose=yes gaps=stretch"};
	char *text = report(gaps[_i]);
	uint64_t period, sum = 0;

	ck_assert_uint_eq(sum_of(text, "all", &period), GUEST + HOSTILE_HOST);
	ck_assert_uint_eq(period, 10 * (GUEST + HOSTILE_HOST));
	ck_assert_uint_eq(sum_of(text, "  filtered out", &period), 0);
	ck_assert_uint_eq(sum_of(text, "  host", &period), HOSTILE_HOST);
	ck_assert_uint_eq(sum_of(text, "  guest", &period), GUEST);
	ck_assert_uint_eq(period, 10 * GUEST);
	sum += sum_of(text, "    function", &period);
	sum += sum_of(text, "    label", &period);
	sum += sum_of(text, "    gap", &period);
	sum += sum_of(text, "    VM exits", &period);
	sum += sum_of(text, "    data", &period);
	ck_assert_uint_eq(sum + sum_of(text, "    outside", &period), GUEST);
	if (_i == HLG_GAPS_DROP)
		ck_assert_uint_eq(sum_of(text, "  dropped gaps", &period), HOSTILE_GAP);
	else
		ck_assert_uint_eq(sum_of(text, "      unlabelled", &period), HOSTILE_GAP);
	free(text);
}
END_TEST

/* What top= leaves out is counted, so that the table is never taken for the whole. */
START_TEST(text_tells_the_rest)
{
	char *text = report("top=2");

	ck_assert_ptr_nonnull(strstr(text, " (7 more rows, 60.65 %: --top=0)\n"));
	free(text);
}
END_TEST

/* Reads a number off the end of a line, which it cuts there. */
static uint64_t cut_number(char *line)
{
	char *blank = strrchr(line, ' '), *end;
	uint64_t n;

	ck_assert_ptr_nonnull(blank);
	n = strtoull(blank + 1, &end, 10);
	ck_assert(end > blank + 1 && *end == '\0');
	*blank = '\0';
	return n;
}

static size_t count(const char *s, char c)
{
	size_t n = 0;

	for (; *s; s++)
		n += *s == c;
	return n;
}

static void check_folded(const char *words, uint64_t weight, size_t frames)
{
	char *text = report(words), *save;
	uint64_t sum = 0;

	for (char *line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		bool outside, host = strncmp(line, "[host];", 7) == 0;

		sum += cut_number(line);
		outside = strstr(line, "[outside]") != NULL;
		ck_assert_msg(count(line, ';') + 1 == frames - outside + host,
			      "frames: %s", line);
	}
	ck_assert_uint_eq(sum, weight);
	free(text);
}

/* On a screen those with most samples; of as many, those that came first. */
START_TEST(sandboxes)
{
	static const uint64_t samples[] = {2, 5, 2, 2, 5, 2};
	static const char *const lines[] = {"sandboxes sandbox 2, ", "sandbox 5, ",
					    "sandbox 1, ", "and 3 more ("};
	struct hlg_report report;
	struct hlg_memstream m;
	struct hlg_run run;
	const char *at;
	char *text;
	FILE *f;

	kit_guest("guest.elf");
	kit_start(&run, "guest.elf");
	hlg_profile_event(&run.profile, "a", 0);
	for (uint32_t i = 0; i < 6; i++)
		ck_assert(hlg_sandboxes_add(&run.profile.sandboxes, 1, -1));
	for (uint32_t i = 0; i < 6; i++) {
		struct hlg_sample s = kit_sample(0, KIT_BASE + 0x1060);

		s.sandbox = i + 1;
		for (uint64_t k = 0; k < samples[i]; k++)
			hlg_profile_add(&run.profile, &s);
	}
	kit_build(&run, &report);
	report.screen = (struct hlg_screen){.lines = 24, .columns = 80};
	f = hlg_memstream_open(&m);
	hlg_text_head_write(f, &report);
	at = text = hlg_memstream_close(&m);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		at = strstr(at, lines[i]);
		ck_assert_msg(at, "no %s in %s", lines[i], text);
	}
	free(text);
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

/* The head of a report on such a screen. */
static char *head_of(struct hlg_report *report, unsigned columns)
{
	struct hlg_memstream m;
	FILE *f;

	report->screen = (struct hlg_screen){.lines = 24, .columns = columns};
	f = hlg_memstream_open(&m);
	hlg_text_head_write(f, report);
	return hlg_memstream_close(&m);
}

/* What is of no sandbox has the time that is left. */
START_TEST(no_sandbox)
{
	static const uint32_t of[] = {1, 2, 2, 0};
	static const char *const told[] = {"sandbox 1, 1 sample, 1.000 ms",
					   "sandbox 2, 2 samples, 5.000 ms",
					   "of no known sandbox, 1 sample, 4.000 ms"};
	struct hlg_report report;
	struct hlg_run run;
	char *text;

	kit_guest("guest.elf");
	kit_start(&run, "guest.elf");
	hlg_profile_event(&run.profile, "cpu-clock", 0);
	run.profile.events[0].kind = HLG_EVENT_TIMER;
	for (int i = 0; i < 2; i++)
		ck_assert(hlg_sandboxes_add(&run.profile.sandboxes, 1, -1));
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct hlg_sample s = kit_sample(0, KIT_BASE + 0x1060);

		s.sandbox = of[i];
		s.period = (i + 1) * 1000000;
		hlg_profile_add(&run.profile, &s);
	}
	kit_build(&run, &report);
	text = head_of(&report, 80);
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		ck_assert_msg(strstr(text, told[i]), "no %s in %s", told[i], text);
	free(text);
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

/* Where room is scarce the share of the host stays if it is most, else it goes first. */
START_TEST(host_samples)
{
	struct hlg_report report;
	struct hlg_run run;
	bool met[2] = {false, false};

	kit_guest("guest.elf");
	kit_start(&run, "guest.elf");
	hlg_profile_event(&run.profile, "cpu-clock", 0);
	run.profile.events[0].kind = HLG_EVENT_TIMER;
	kit_add(&run, 0, KIT_BASE + 0x1060, 1, 10);
	kit_build(&run, &report);
	for (unsigned columns = 24; columns < 80; columns++)
		for (uint64_t host = 10; host <= 11; host++) {
			char *text;

			run.profile.events[0].host.samples = host;
			text = head_of(&report, columns);
			met[host - 10] |= strstr(text, "host ") && !strstr(text, "(10 ");
			free(text);
		}
	ck_assert(!met[0]);
	ck_assert(met[1]);
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

START_TEST(folded)
{
	check_folded("format=folded", 10 * GUEST, 2);
	check_folded("format=folded weight=samples", GUEST, 2);
	check_folded("format=folded gaps=drop", 10 * (GUEST - HOSTILE_GAP), 2);
	check_folded("format=folded gaps=stretch", 10 * GUEST, 2);
	check_folded("format=folded by=event", 10 * GUEST, 3);
	check_folded("format=folded mode=all", 10 * (GUEST + HOSTILE_HOST), 2);
	check_folded("format=folded mode=host by=event", 10 * HOSTILE_HOST, 3);
	check_folded("format=folded top=1", 900, 2);
}
END_TEST

START_TEST(folded_frames)
{
	char *text = report("format=folded");

	ck_assert_ptr_nonnull(strstr(text, "./a:\"g\\x1b]0:\\x07e\\x0ast,\\xff.elf;"
					   "a:b:c\\x2099 600\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n[outside] 50\n"));
	free(text);
}
END_TEST

START_TEST(percent)
{
	static const struct {
		double share;
		const char *text;
	} c[] = {{0, "0.00"},         {1, "100.00"},         {0.5, "50.00"},
		 {0.123449, "12.34"}, {0.12345001, "12.35"}, {0.00004, "0.00"},
		 {0.00006, "0.01"},   {0.99999, "100.00"}};
	char buf[16];

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++)
		ck_assert_str_eq(hlg_interval_percent(buf, c[i].share), c[i].text);
	hlg_interval_percent(buf, 1e300); /* after an overflow anything may come */
	hlg_interval_percent(buf, -1);
}
END_TEST

/* What a function writes of a name. */
static void written(void (*write)(FILE *f, const char *text), const char *name,
		    const char *expected)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(f);
	write(f, name);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_str_eq(text, expected);
	free(text);
}

static void put_cell(FILE *f, const char *text)
{
	static const struct hlg_column column = {.key = "key", .type = HLG_VALUE_TEXT};
	static const struct hlg_table table = {&column, .n = 1};
	const struct hlg_value value = hlg_table_text_value(text);

	hlg_format_find(hlg_format_filter, "csv")->record(f, &table, &value);
}

START_TEST(cells)
{
	static const char *const texts[][2] = {
		{"", "\"\""},
		{"a \"b\", c", "\"a \"\"b\"\", c\""},
		{"=1+2", "\"'=1+2\""},
		{"+1", "\"'+1\""},
		{"-1", "\"'-1\""},
		{"@A", "\"'@A\""},
		{"\xef\xbc\x9d"
		 "1",
		 "\"'\xef\xbc\x9d"
		 "1\""}, /* full width: = + - @ */
		{"\xef\xbc\x8b"
		 "1",
		 "\"'\xef\xbc\x8b"
		 "1\""},
		{"\xef\xbc\x8d"
		 "1",
		 "\"'\xef\xbc\x8d"
		 "1\""},
		{"\xef\xbc\xa0"
		 "1",
		 "\"'\xef\xbc\xa0"
		 "1\""},
		{"\xef\xbc\x8c"
		 "1",
		 "\"\xef\xbc\x8c"
		 "1\""}, /* a comma */
		{"\t=1", "\"\\x09=1\""},
		{"\r=1", "\"\\x0d=1\""},
		{"1=2", "\"1=2\""},
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char line[80];

		snprintf(line, sizeof(line), "%s\n", texts[i][1]);
		written(put_cell, texts[i][0], line);
	}
}
END_TEST

START_TEST(frames)
{
	static const char *const texts[][2] = {
		{"", ""},
		{"a;b", "a:b"},
		{"two words", "two words"},
		{"pass 2", "pass\\x202"},
		{"a;b  1 22.5", "a:b  1\\x2022.5"},
		{"pass 2.", "pass\\x202."},
		{"pass 2.x", "pass 2.x"},
		{"pass 2b", "pass 2b"},
		{"pass ", "pass "},
		{"12", "12"},
		{" 12", "\\x2012"},
		{"\033 7", "\\x1b\\x207"},
		{"\xc3\xa9; 7", "\xc3\xa9:\\x207"},
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		written(hlg_folded_frame, texts[i][0], texts[i][1]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("write");
	TCase *tc = tap_case(suite, "write");

	tcase_add_checked_fixture(tc, kit_enter, kit_leave);
	tcase_add_loop_test(tc, text_is_safe, 0, 5);
	tcase_add_loop_test(tc, text_sums, 0, 3);
	tcase_add_test(tc, text_tells_the_rest);
	tcase_add_test(tc, sandboxes);
	tcase_add_test(tc, no_sandbox);
	tcase_add_test(tc, host_samples);
	tcase_add_test(tc, folded);
	tcase_add_test(tc, folded_frames);
	tcase_add_test(tc, percent);
	tcase_add_test(tc, cells);
	tcase_add_test(tc, frames);
	return tap_main(suite);
}
