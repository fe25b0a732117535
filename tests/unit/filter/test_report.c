// SPDX-License-Identifier: GPL-2.0-only
/*
 * The report splits one profile without losing or doubling a sample: groups add up to
 * the whole, percentages are of their own group, several events are never added up by
 * period. Proved on random profiles for every by=, and by hand for what the report
 * decides itself: names of series, top=, min=, which events count as several.
 */
#include "filter/report/report.h"
#include "filter/report/rows.h"
#include "filter/stats/phases.h"

#include <string.h>

#include "tests/kit/filter.h"
#include "tests/kit/tap.h"

static void feed(struct hlg_run *run, uint64_t seed, int n, uint32_t n_events)
{
	for (int i = 0; i < n; i++) {
		struct hlg_sample s =
			kit_sample((uint32_t)kit_random(&seed, n_events),
				   KIT_BASE + 0xf80 + kit_random(&seed, 0x300));

		s.period = kit_random(&seed, 100000);
		s.pid = 1 + (int32_t)kit_random(&seed, 2);
		s.tid = 10 + (int32_t)kit_random(&seed, 3);
		s.cpu = (int32_t)kit_random(&seed, 4) - 1;
		hlg_profile_add(&run->profile, &s);
	}
}

static void add(struct hlg_count *sum, const struct hlg_count *counts, int n)
{
	for (int i = 0; i < n; i++)
		hlg_count_add(&sum[i], counts[i]);
}

static void check_groups(const struct hlg_report *r)
{
	struct hlg_count kinds[HLG_N_KINDS] = {{0, 0}}, kept = {0, 0}, padding = {0, 0};

	for (uint32_t i = 0; i < r->n_groups; i++) {
		const struct hlg_view *v = &r->groups[i].view;

		kit_check_view(v, r->options->region);
		ck_assert_uint_gt(v->guest.samples, 0);
		ck_assert_int_eq(v->weight, r->options->weight);
		if (i)
			ck_assert_int_lt(hlg_profile_compare_series(
						 r->profile, r->groups[i - 1].series,
						 r->groups[i].series),
					 0);
		add(kinds, v->kinds, HLG_N_KINDS);
		add(&kept, &v->kept, 1);
		add(&padding, &v->padding, 1);
	}
	if (!r->n_groups)
		return;
	ck_assert_mem_eq(kinds, r->all.kinds, sizeof(kinds));
	ck_assert_mem_eq(&kept, &r->all.kept, sizeof(kept));
	ck_assert_mem_eq(&padding, &r->all.padding, sizeof(padding));
}

static void check_events(const struct hlg_report *r)
{
	struct hlg_count sum = {0, 0};

	ck_assert_uint_eq(r->n_events, r->profile->n_events);
	for (uint32_t i = 0; i < r->n_events; i++)
		hlg_count_add(&sum, r->events[i].count);
	ck_assert_mem_eq(&sum, &r->all.guest, sizeof(sum));
}

/* by= (16) x gaps (3) x one or several events */
START_TEST(splits)
{
	static const char *const gaps[] = {"retag", "drop", "stretch"};
	static const char *const by[] = {"event", "pid", "tid", "cpu"};
	unsigned bits = (unsigned)_i % 16, n_events = _i / 48 ? 3 : 1;
	unsigned want = n_events > 1 ? bits | HLG_BY_EVENT : bits;
	struct hlg_report report;
	struct hlg_run run;
	char words[128];
	int len = snprintf(words, sizeof(words), "guest.elf gaps=%s", gaps[_i / 16 % 3]);

	for (unsigned i = 0, some = 0; i < 4; i++)
		if (bits >> i & 1)
			len += snprintf(words + len, sizeof(words) - (size_t)len, "%s%s",
					some++ ? "," : " by=", by[i]);
	kit_guest("guest.elf");
	kit_start(&run, words);
	for (unsigned i = 0; i < n_events; i++)
		hlg_profile_event(&run.profile, (const char *const[]){"c", "a", "b"}[i],
				  0);
	feed(&run, (uint64_t)_i, 2000, n_events);
	kit_build(&run, &report);
	ck_assert_uint_eq(report.by, want);
	ck_assert_int_eq(report.n_groups > 0, want != 0);
	kit_check_view(&report.all, run.options.region);
	ck_assert_int_eq(report.all.weight,
			 n_events > 1 ? HLG_WEIGHT_SAMPLES : HLG_WEIGHT_PERIOD);
	check_groups(&report);
	check_events(&report);
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

/* Two threads, one function each: 100 % of each group, shares of the whole. */
START_TEST(percent_of_the_group)
{
	struct hlg_report report;
	struct hlg_run run;
	struct hlg_sample s;

	kit_guest("guest.elf");
	kit_start(&run, "guest.elf by=tid");
	s = kit_sample(hlg_profile_event(&run.profile, "a", 0), KIT_BASE + 0x1000);
	s.tid = 2;
	s.period = 30;
	hlg_profile_add(&run.profile, &s);
	s.tid = 1;
	s.ip += 0x60;
	s.period = 10;
	hlg_profile_add(&run.profile, &s);
	kit_build(&run, &report);
	ck_assert_uint_eq(report.n_groups, 2);
	ck_assert_str_eq(report.groups[0].view.rows[0].name, "compute");
	ck_assert_double_eq(report.groups[0].view.rows[0].share.share, 1);
	ck_assert_double_eq(report.groups[1].view.rows[0].share.share, 1);
	ck_assert_double_eq(report.groups[0].view.observations, 1);
	ck_assert_double_eq(report.all.rows[0].share.share, 0.75);
	ck_assert_double_eq(report.all.rows[1].share.share, 0.25);
	/* Kish: 40^2 / (900 + 100) */
	ck_assert_double_eq_tol(report.all.observations, 1.6, 1e-12);
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

/* Two threads, of which one does first one thing, then another: what its samples are
 * worth is not what the other's are. */
START_TEST(phases_of_the_group)
{
	struct hlg_report report;
	struct hlg_run run;
	const int n = 2000;

	kit_guest("guest.elf");
	kit_start(&run, "guest.elf by=tid");
	for (int i = 0; i < 2 * n; i++) {
		struct hlg_sample s = kit_sample(hlg_profile_event(&run.profile, "a", 0),
						 KIT_BASE + 0x1000);

		s.time = 1000 * (uint64_t)i;
		s.tid = i % 2 == _i ? 1 : 2;
		if (s.tid == 1 ? i < n : i / 2 % 2)
			s.ip += 0x60;
		hlg_profile_add(&run.profile, &s);
	}
	kit_build(&run, &report);
	ck_assert_uint_eq(report.n_groups, 2);
	ck_assert_double_gt(report.groups[0].view.design, 50);
	ck_assert_double_eq(report.groups[1].view.design, 1);
	ck_assert_double_gt(report.all.design, 20);
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

/* Where one sample of two was looked at, the others are worth as much. */
START_TEST(phases_of_a_half)
{
	struct hlg_phases phases;
	struct hlg_report report;
	struct hlg_run run;
	uint32_t rows[1000];

	kit_guest("guest.elf");
	kit_start(&run, "guest.elf");
	for (int i = 0; i < 2000; i++) {
		struct hlg_sample s = kit_sample(hlg_profile_event(&run.profile, "a", 0),
						 KIT_BASE + 0x1000);

		s.time = 1000 * (uint64_t)i;
		s.ip += i < 900 || i % 5 == 0 ? 0x60 : 0;
		hlg_profile_add(&run.profile, &s);
	}
	run.profile.moments.halved = 1;
	run.profile.moments.n = 1000;
	for (size_t i = 0; i < 1000; i++) {
		run.profile.moments.at[i] = run.profile.moments.at[2 * i];
		rows[i] = run.profile.moments.at[i].ip != KIT_BASE + 0x1060;
	}
	kit_build(&run, &report);
	ck_assert(hlg_phases_find(&phases, rows, 1000, 2, 1));
	ck_assert_double_gt(phases.all, 2);
	ck_assert_double_eq_tol(report.all.design, phases.all, 1e-9);
	hlg_phases_finish(&phases);
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

/* What is left out is no row's, and was there all the same. */
START_TEST(phases_of_what_is_left_out)
{
	struct hlg_phases phases;
	struct hlg_report report;
	struct hlg_run run;
	uint32_t rows[2000];

	kit_guest("guest.elf");
	kit_start(&run, "guest.elf gaps=drop");
	for (int i = 0; i < 2000; i++) {
		static const uint64_t ips[] = {0x1000, 0x1060, 0x10e0};
		struct hlg_sample s =
			kit_sample(hlg_profile_event(&run.profile, "a", 0), KIT_BASE);

		rows[i] = i < 1000 && i % 2 ? 2 : i % 3 == 0;
		s.time = 1000 * (uint64_t)i;
		s.ip += ips[rows[i]];
		hlg_profile_add(&run.profile, &s);
	}
	kit_build(&run, &report);
	ck_assert_uint_eq(report.all.n_rows, 2);
	ck_assert_uint_eq(report.all.dropped.samples, 500);
	ck_assert(hlg_phases_find(&phases, rows, 2000, 2, 0));
	ck_assert_double_gt(phases.all, 2);
	ck_assert_double_eq_tol(report.all.design, phases.all, 1e-9);
	hlg_phases_finish(&phases);
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

/* Events by name and precision; one without guest samples is told, but splits nothing. */
START_TEST(one_event_of_three)
{
	struct hlg_report report;
	struct hlg_run run;

	kit_guest("guest.elf");
	kit_start(&run, "guest.elf");
	hlg_profile_event(&run.profile, "b", 0);
	hlg_profile_event(&run.profile, "a", 3);
	hlg_profile_event(&run.profile, "a", 1);
	kit_add(&run, 1, KIT_BASE + 0x1000, 5, 5);
	kit_build(&run, &report);
	ck_assert_uint_eq(report.by, 0);
	ck_assert_uint_eq(report.n_groups, 0);
	ck_assert_int_eq(report.all.weight, HLG_WEIGHT_PERIOD);
	ck_assert_uint_eq(report.events[0].event, 2);
	ck_assert_uint_eq(report.events[1].event, 1);
	ck_assert_uint_eq(report.events[2].event, 0);
	ck_assert_uint_eq(report.events[1].count.samples, 5);
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

/* An event that only the host's rows have makes them several, too. */
START_TEST(event_of_the_host)
{
	struct hlg_report report;
	struct hlg_run run;
	struct hlg_sample s;

	kit_guest("guest.elf");
	kit_start(&run, "guest.elf mode=all");
	hlg_profile_event(&run.profile, "a", 0);
	kit_add(&run, 0, KIT_BASE + 0x1000, 5, 5);
	s = kit_sample(hlg_profile_event(&run.profile, "b", 0), 0);
	s.cpumode = 1;
	ck_assert_int_eq(hlg_profile_add(&run.profile, &s), HLG_HOST);
	hlg_host_add(&run.host, hlg_profile_series(&run.profile, &s), "kvm.ko", "f", 1);
	kit_build(&run, &report);
	ck_assert_uint_eq(report.by, HLG_BY_EVENT);
	ck_assert_uint_eq(report.n_groups, 1);
	ck_assert_int_eq(report.all.weight, HLG_WEIGHT_SAMPLES);
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

static void check_series_name(const struct hlg_report *r, uint32_t series,
			      const char *expected)
{
	char *name = hlg_report_series_name(r, series);

	ck_assert_str_eq(name, expected);
	free(name);
}

START_TEST(series_names)
{
	static const char *const by[] = {"by=pid", "by=tid,cpu", "by=event,pid,tid,cpu",
					 "by=cpu,event"};
	static const char *const name[] = {"pid=7", "tid=8,cpu=-1",
					   "event=cpu-clock,pid=7,tid=8,cpu=-1",
					   "event=cpu-clock,cpu=-1"};
	struct hlg_report report;
	struct hlg_run run;
	struct hlg_sample s;
	char words[64];

	kit_guest("guest.elf");
	snprintf(words, sizeof(words), "guest.elf %s", by[_i]);
	kit_start(&run, words);
	s = kit_sample(hlg_profile_event(&run.profile, "cpu-clock", 0), KIT_BASE);
	s.pid = 7;
	s.tid = 8;
	hlg_profile_add(&run.profile, &s);
	kit_build(&run, &report);
	check_series_name(&report, report.groups[0].series, name[_i]);
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

/* Two events of one name: nothing else but the precision tells their series apart. */
START_TEST(series_names_are_unique)
{
	struct hlg_report report;
	struct hlg_run run;

	kit_guest("guest.elf");
	kit_start(&run, "guest.elf");
	hlg_profile_event(&run.profile, "cycles", 2);
	hlg_profile_event(&run.profile, "cycles", 0);
	hlg_profile_event(&run.profile, "clock", 0);
	for (uint32_t i = 0; i < 3; i++)
		kit_add(&run, i, KIT_BASE + 0x1000, 5, 5);
	kit_build(&run, &report);
	ck_assert_uint_eq(report.n_groups, 3);
	check_series_name(&report, report.groups[0].series, "event=clock");
	check_series_name(&report, report.groups[1].series, "event=cycles,precise_ip=0");
	check_series_name(&report, report.groups[2].series, "event=cycles,precise_ip=2");
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

/* Which rows are shown goes by overhead, their order by sort=. */
START_TEST(sorted)
{
	static const struct {
		const char *words;
		uint64_t addr[3];
	} c[] = {
		{"", {0x1060, 0x1020, 0x1180}},
		{"sort=overhead", {0x1060, 0x1020, 0x1180}},
		{"sort=address", {0x1020, 0x1060, 0x1180}},
		{"sort=size", {0x1060, 0x1180, 0x1020}},
		{"sort=name", {0x1180, 0x1060, 0x1020}},
	};
	static const uint64_t addr[] = {0x1000, 0x1180, 0x1020, 0x1060};
	struct hlg_report report;
	struct hlg_run run;
	char words[64];
	size_t at = 0;

	kit_guest("guest.elf");
	snprintf(words, sizeof(words), "guest.elf demangle=no top=3 %s", c[_i].words);
	kit_start(&run, words);
	hlg_profile_event(&run.profile, "a", 0);
	for (unsigned i = 0; i < 4; i++)
		kit_add(&run, 0, KIT_BASE + addr[i], 1, 10 * (i + 1));
	kit_build(&run, &report);
	for (size_t k = 0; k < report.all.n_rows; k++) {
		size_t i = hlg_rows_at(&report.all, k);

		if (i < 3)
			ck_assert_uint_eq(report.all.rows[i].place.start,
					  c[_i].addr[at++]);
	}
	ck_assert_uint_eq(at, 3);
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

/* Shares of 40, 30, 20, 10 %: what top= and min= leave. */
START_TEST(shown)
{
	static const struct {
		const char *words;
		size_t n;
	} c[] = {
		{"", 4},
		{"top=0", 4},
		{"top=1", 1},
		{"top=3", 3},
		{"top=99", 4},
		{"min=10", 4},
		{"min=10.000000001", 3},
		{"min=20", 3},
		{"min=100", 0},
		{"top=3 min=30", 2},
		{"top=1 min=30", 1},
		{"format=csv", 4},
		{"format=csv top=2", 2},
		{"format=folded min=5", 4},
	};
	static const uint64_t addr[] = {0x1000, 0x1020, 0x1060, 0x1180};
	struct hlg_report report;
	struct hlg_run run;
	char words[64];

	kit_guest("guest.elf");
	snprintf(words, sizeof(words), "guest.elf demangle=no region=32 %s", c[_i].words);
	kit_start(&run, words);
	hlg_profile_event(&run.profile, "a", 0);
	for (unsigned i = 0; i < 4; i++)
		kit_add(&run, 0, KIT_BASE + addr[i], 1, 10 * (i + 1));
	kit_build(&run, &report);
	ck_assert_uint_eq(
		hlg_rows_shown(&report, report.all.n_rows, hlg_rows_share, &report.all),
		c[_i].n);
	ck_assert_uint_eq(hlg_rows_regions_shown(&report, &report.all), c[_i].n);
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

START_TEST(top_when_unset)
{
	struct hlg_options o = {.top = HLG_UNSET, .most = 40};
	struct hlg_report r = {.options = &o};

	ck_assert_uint_eq(hlg_rows_top(&r), 40);
	o.most = 0;
	ck_assert_uint_eq(hlg_rows_top(&r), 0);
	o.top = 0;
	o.most = 40;
	ck_assert_uint_eq(hlg_rows_top(&r), 0);
}
END_TEST

/* Of regions a format shows its few, whatever top= says of rows, unless it says fewer. */
START_TEST(regions_when_unset)
{
	struct hlg_region regions[5] = {0};
	struct hlg_options o = {
		.regions = HLG_UNSET, .min = HLG_UNSET, .most_regions = 3};
	struct hlg_view v = {.regions = regions, .n_regions = 5};
	struct hlg_report r = {.options = &o};

	ck_assert_uint_eq(hlg_rows_regions_shown(&r, &v), 3);
	o.top = 2;
	ck_assert_uint_eq(hlg_rows_regions_shown(&r, &v), 2);
	o.top = 4;
	ck_assert_uint_eq(hlg_rows_regions_shown(&r, &v), 3);
	o.most_regions = 0;
	ck_assert_uint_eq(hlg_rows_regions_shown(&r, &v), 4);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report");
	TCase *tc = tap_case(suite, "report");

	tcase_add_checked_fixture(tc, kit_enter, kit_leave);
	tcase_add_loop_test(tc, splits, 0, 96);
	tcase_add_test(tc, percent_of_the_group);
	tcase_add_loop_test(tc, phases_of_the_group, 0, 2);
	tcase_add_test(tc, phases_of_a_half);
	tcase_add_test(tc, phases_of_what_is_left_out);
	tcase_add_test(tc, one_event_of_three);
	tcase_add_test(tc, event_of_the_host);
	tcase_add_loop_test(tc, series_names, 0, 4);
	tcase_add_test(tc, series_names_are_unique);
	tcase_add_loop_test(tc, sorted, 0, 5);
	tcase_add_loop_test(tc, shown, 0, 14);
	tcase_add_test(tc, top_when_unset);
	tcase_add_test(tc, regions_when_unset);
	return tap_main(suite);
}
