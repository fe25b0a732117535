// SPDX-License-Identifier: GPL-2.0-only
/*
 * No failed allocation is silent. Each one a run makes is let fail in turn, alone and
 * with all behind it: the sample path never fails and keeps its books, and the run ends
 * either with an error that says "out of memory" and no file, or with the whole report. A
 * report that merely lost a name, a row or a note fails here.
 */
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "tests/kit/filter.h"
#include "tests/kit/oom.h"
#include "tests/kit/tap.h"

enum {
	ADDED = 9000 /* samples; enough to let the cells and the series grow twice */
};

/* Only the calls that a feed makes. Returns how many samples were handed over. */
static unsigned feed(struct hlg_profile *p)
{
	unsigned added = 0;

	for (uint32_t i = 0; i < ADDED; i++) {
		uint32_t event = hlg_profile_event(p, i % 2 ? "a" : "b", i % 3);
		struct hlg_sample s = kit_sample(event, i * 16);

		s.tid = (int32_t)(i % 150);
		s.cpumode = i % 5 ? 5 : 2;
		if (event == HLG_NO_SERIES)
			continue; /* the feed counts it as unrecorded */
		hlg_profile_add(p, &s);
		added++;
	}
	return added;
}

static void check_books(const struct hlg_profile *p, unsigned added)
{
	uint64_t guest = 0;

	for (size_t i = 0; i < hlg_profile_room(p); i++)
		guest += p->cells[i].count.samples;
	ck_assert_uint_eq(p->seen.samples + p->unrecorded, added);
	ck_assert_uint_eq(p->seen.samples, p->host.samples + guest);
	ck_assert_uint_le(2 * p->n_cells, hlg_profile_room(p));
}

START_TEST(profile_keeps_its_books)
{
	char *argv[] = {(char[]){"by=tid"}};
	bool struck = true;
	unsigned n;

	for (n = 1; struck; n++) {
		struct hlg_options o;
		struct hlg_profile p;
		struct hlg_err err;
		unsigned added = 0;
		bool ok;

		ck_assert_int_eq(hlg_options_parse(&o, 1, argv, &err), 0);
		oom_arm(n, _i);
		ok = hlg_profile_init(&p, &o);
		if (ok)
			added = feed(&p);
		struck = oom_disarm();
		ck_assert(ok || struck);
		if (ok)
			check_books(&p, added);
		if (!struck) {
			ck_assert_uint_eq(p.unrecorded, 0);
			ck_assert_uint_eq(added, ADDED);
		}
		hlg_profile_finish(&p);
		hlg_options_finish(&o);
	}
	ck_assert_uint_gt(n, 10);
}
END_TEST

/* One run from words to file, at few addresses: what does not fit is tried at every
 * distance. Its own error, or 0. *lost: samples without memory. */
static int run_once(char **argv, int argc, uint64_t *lost, struct hlg_err *err)
{
	struct hlg_run run;
	int rc = hlg_run_start(&run, argc, argv, err);

	for (unsigned i = 0; rc == 0 && i < 64; i++) {
		uint32_t event = hlg_profile_event(&run.profile, i % 2 ? "a" : "b", 0);
		struct hlg_sample s = kit_sample(event, KIT_BASE + 0x1000 + i % 32 * 16);

		s.tid = (int32_t)(i % 3);
		if (event == HLG_NO_SERIES)
			run.profile.unrecorded++; /* as the filter does */
		else
			hlg_profile_add(&run.profile, &s);
	}
	for (unsigned i = 0; rc == 0 && i < 3; i++) {
		struct hlg_sample s = kit_sample(0, 0);

		s.cpumode = 2;
		if (run.profile.n_events && hlg_profile_add(&run.profile, &s) == HLG_HOST)
			hlg_host_add(&run.host, hlg_profile_series(&run.profile, &s),
				     "vmlinux", i ? "schedule" : NULL, 1);
	}
	if (rc == 0)
		rc = hlg_run_report(&run, NULL, err);
	*lost = run.profile.unrecorded + run.host.unnamed.samples;
	hlg_run_finish(&run);
	return rc;
}

static const char *const formats[] = {"format=text", "format=text", "format=folded",
				      "format=csv", "format=json"};

static void check_same(const char *report, const char *whole, unsigned n)
{
	size_t i = 0;

	while (report[i] && report[i] == whole[i])
		i++;
	ck_assert_msg(report[i] == whole[i], "allocation %u: '%.80s' for '%.80s'", n,
		      report + i, whole + i);
}

/* A report with less in it says so in a note; folded stacks have no room for one. */
static void check_report(char *report, uint64_t lost, const char *whole, unsigned n,
			 bool noted)
{
	ck_assert_ptr_nonnull(report);
	if (lost == 0) {
		check_same(report, whole, n);
	} else if (noted) {
		ck_assert_msg(strstr(report, "out of memory"),
			      "allocation %u: %ju samples are gone", n, (uintmax_t)lost);
	}
	unlink("report");
}

static void check_error(const struct hlg_err *err, const char *report, unsigned n)
{
	ck_assert_msg(!report, "allocation %u: a report after an error", n);
	ck_assert_msg(strstr(err->msg, "out of memory") ||
			      strstr(err->msg, "Cannot allocate memory"),
		      "allocation %u: %s", n, err->msg);
}

/* Formats x one or all; the samples do not fit. Every other format has its rows all the
 * same, text once so and once without. */
START_TEST(whole_run)
{
	int format = _i / 2;
	char *force = strdup(format % 2 ? "force=yes" : "force=no");
	char *argv[] = {(char[]){"guest.elf"},   strdup(formats[format]),
			(char[]){"out=report"},  (char[]){"by=tid"},
			(char[]){"aliases=yes"}, (char[]){"mode=all"},
			(char[]){"top=0"},       (char[]){"demangle=no"},
			(char[]){"skid=2"},      force};
	struct hlg_err err = {0};
	uint64_t lost;
	bool struck = true;
	char *whole;
	unsigned n;

	kit_guest("guest.elf");
	ck_assert_int_eq(run_once(argv, 10, &lost, &err), 0);
	whole = kit_read("report");
	unlink("report");
	for (n = 1; struck; n++) {
		char *report;
		int rc;

		oom_arm(n, _i % 2);
		rc = run_once(argv, 10, &lost, &err);
		struck = oom_disarm();
		report = kit_read("report");
		if (rc < 0)
			check_error(&err, report, n);
		else
			check_report(report, lost, whole, n, format != 2);
		ck_assert_msg(kit_count_files() == 1, "allocation %u: a file is left", n);
		free(report);
	}
	ck_assert_uint_gt(n, 50);
	free(whole);
	free(force);
	free(argv[1]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memory");
	TCase *tc = tap_case(suite, "memory");

	tcase_add_checked_fixture(tc, kit_enter, kit_leave);
	tcase_add_loop_test(tc, profile_keeps_its_books, 0, 2);
	tcase_add_loop_test(tc, whole_run, 0, HLG_HAVE_JANSSON ? 10 : 8);
	return tap_main(suite);
}
