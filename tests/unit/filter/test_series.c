// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events and series are told apart by exactly what they are made of, found again among
 * hundreds of thousands, and ordered by their names and numbers, never by which came
 * first. Each is proved by keys written out by hand; so is which of the deselected
 * samples count as not recorded.
 */
#include "filter/profile/profile.h"

#include "tests/kit/filter.h"
#include "tests/kit/tap.h"

START_TEST(many_series)
{
	struct hlg_profile p;
	struct hlg_options o;

	kit_options(&o, "by=pid,tid,cpu");
	ck_assert(hlg_profile_init(&p, &o));
	hlg_profile_event(&p, "a", 0);
	for (int32_t i = 0; i < 200000; i++) {
		struct hlg_sample s = kit_sample(0, 0x1000);

		s.pid = i % 70;
		s.tid = i % 100000;
		s.cpu = i % 2;
		hlg_profile_add(&p, &s);
	}
	/* 200000 steps of lcm(70, 100000, 2) = 700000 different keys */
	ck_assert_uint_eq(p.n_series, 200000);
	ck_assert_uint_eq(p.n_cells, 200000);
	for (int32_t i = 0; i < 200000; i += 997) {
		struct hlg_sample s = kit_sample(0, 0x1000);
		uint32_t series;

		s.pid = i % 70;
		s.tid = i % 100000;
		s.cpu = i % 2;
		series = hlg_profile_series(&p, &s);
		ck_assert_uint_eq(series, (uint32_t)i);
		ck_assert_int_eq(p.series[series].tid, i % 100000);
	}
	hlg_profile_finish(&p);
	hlg_options_finish(&o);
}
END_TEST

/* One after the other, so that nothing but the field in question differs. */
START_TEST(each_field_counts)
{
	struct hlg_sample s[5];
	struct hlg_profile p;
	struct hlg_options o;

	kit_options(&o, "by=event,pid,tid,cpu");
	ck_assert(hlg_profile_init(&p, &o));
	hlg_profile_event(&p, "a", 0);
	hlg_profile_event(&p, "b", 0);
	for (int i = 0; i < 5; i++)
		s[i] = kit_sample(i == 1, 0);
	s[2].pid = 7;
	s[3].tid = 7;
	s[4].cpu = 7;
	for (uint32_t i = 0; i < 5; i++) {
		ck_assert_uint_eq(hlg_profile_series(&p, &s[0]), 0);
		ck_assert_uint_eq(hlg_profile_series(&p, &s[i]), i);
	}
	ck_assert_uint_eq(p.n_series, 5);
	hlg_profile_finish(&p);
	hlg_options_finish(&o);
}
END_TEST

/* "for want of a recorded cpu": only samples nothing else deselects. */
START_TEST(untold)
{
	struct hlg_profile p, sum;
	struct hlg_options o;
	struct hlg_sample s = kit_sample(0, 1);

	kit_options(&o, "event=a cpu=0");
	ck_assert(hlg_profile_init(&p, &o));
	hlg_profile_event(&p, "a", 0);
	hlg_profile_event(&p, "b", 0);
	ck_assert_int_eq(hlg_profile_add(&p, &s), HLG_DESELECTED);
	ck_assert_uint_eq(p.untold, 1);
	s.event = 1;
	ck_assert_int_eq(hlg_profile_add(&p, &s), HLG_DESELECTED);
	ck_assert_uint_eq(p.untold, 1);
	s = kit_sample(0, 1);
	s.cpu = 1;
	ck_assert_int_eq(hlg_profile_add(&p, &s), HLG_DESELECTED);
	s.cpu = 0;
	ck_assert_int_eq(hlg_profile_add(&p, &s), HLG_GUEST);
	ck_assert_uint_eq(p.untold, 1);
	ck_assert_uint_eq(p.deselected.samples, 3);
	ck_assert(hlg_profile_init(&sum, &o));
	for (uint64_t i = 1; i <= 2; i++) {
		hlg_profile_merge(&sum, &p);
		ck_assert_uint_eq(sum.untold, i);
		ck_assert_uint_eq(sum.deselected.samples, 3 * i);
	}
	hlg_profile_finish(&sum);
	hlg_profile_finish(&p);
	hlg_options_finish(&o);
}
END_TEST

START_TEST(events)
{
	struct hlg_profile p;
	struct hlg_options o;

	kit_options(&o, "event=cy*");
	ck_assert(hlg_profile_init(&p, &o));
	ck_assert_uint_eq(hlg_profile_event(&p, "cycles", 0), 0);
	ck_assert_uint_eq(hlg_profile_event(&p, "cycles", 2), 1);
	ck_assert_uint_eq(hlg_profile_event(&p, "clock", 0), 2);
	ck_assert_uint_eq(hlg_profile_event(&p, "cycles", 2), 1);
	ck_assert_uint_eq(hlg_profile_event(&p, "cycles", 0), 0);
	ck_assert_uint_eq(p.n_events, 3);
	ck_assert_int_eq(p.events[1].precise_ip, 2);
	ck_assert(p.events[0].selected && p.events[1].selected && !p.events[2].selected);
	hlg_profile_finish(&p);
	hlg_options_finish(&o);
}
END_TEST

/* By name, precision, pid, tid, cpu, and not by the order of first sight. */
START_TEST(series_order)
{
	static const struct {
		uint32_t event;
		int32_t pid, tid, cpu;
	} sorted[] = {{1, -1, -1, -1}, {1, 2, 1, 1}, {2, -1, 5, 0}, {2, 1, 1, 0},
		      {0, 1, 1, -1},   {0, 1, 1, 2}, {0, 1, 2, 0},  {0, 2, 0, 0}};
	struct hlg_profile p;
	struct hlg_options o;
	uint32_t series[8];

	kit_options(&o, "by=event,pid,tid,cpu");
	ck_assert(hlg_profile_init(&p, &o));
	hlg_profile_event(&p, "b", 0);
	hlg_profile_event(&p, "a", 0);
	hlg_profile_event(&p, "a", 1);
	for (int i = 0; i < 8; i++) {
		int k = i * 5 % 8;
		struct hlg_sample s = kit_sample(sorted[k].event, 0);

		s.pid = sorted[k].pid;
		s.tid = sorted[k].tid;
		s.cpu = sorted[k].cpu;
		series[k] = hlg_profile_series(&p, &s);
	}
	for (int i = 0; i < 8; i++)
		for (int k = 0; k < 8; k++) {
			int order = hlg_profile_compare_series(&p, series[i], series[k]);

			ck_assert_int_eq((order > 0) - (order < 0), (i > k) - (i < k));
		}
	hlg_profile_finish(&p);
	hlg_options_finish(&o);
}
END_TEST

/* What was kept apart for who runs which guest is, of a report, split as that asks. */
START_TEST(kept_apart)
{
	static const struct {
		const char *by;
		uint32_t n; /* series */
	} asked[] = {{"event", 1}, {"sandbox", 3}, {"tid", 2}};
	struct hlg_profile p, to;
	struct hlg_options o;

	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		char by[32];

		snprintf(by, sizeof(by), "by=%s", asked[i].by);
		kit_options(&o, by);
		ck_assert(hlg_profile_init(&p, &o));
		ck_assert(hlg_profile_init(&to, &o));
		hlg_profile_keep_apart(&p);
		hlg_profile_event(&p, "a", 0);
		for (uint32_t k = 0; k < 12; k++) {
			struct hlg_sample s = kit_sample(0, 0x1000);

			s.sandbox = k % 3;
			s.stretch = s.sandbox ? k / 6 : 0;
			s.tid = s.sandbox == 2 ? 9 : 8;
			ck_assert_int_eq(hlg_profile_add(&p, &s), HLG_GUEST);
		}
		ck_assert_uint_eq(p.n_series, 5);
		hlg_profile_merge(&to, &p);
		ck_assert_uint_eq(to.n_series, asked[i].n);
		ck_assert_uint_eq(to.n_cells, asked[i].n);
		ck_assert_uint_eq(to.seen.samples, 12);
		hlg_profile_finish(&p);
		hlg_profile_finish(&to);
		hlg_options_finish(&o);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("series");
	TCase *tc = tap_case(suite, "series");

	tcase_add_test(tc, many_series);
	tcase_add_test(tc, each_field_counts);
	tcase_add_test(tc, untold);
	tcase_add_test(tc, events);
	tcase_add_test(tc, series_order);
	tcase_add_test(tc, kept_apart);
	return tap_main(suite);
}
