// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples by slice of time: what is counted is there, whatever the order and however many
 * parts were merged; slices become longer until there are few enough; without memory it
 * is said that something is missing.
 */
#include "filter/profile/slices.h"

#include <stdlib.h>

#include "tests/kit/filter.h"
#include "tests/kit/oom.h"
#include "tests/kit/tap.h"

static struct hlg_slices_entry entry(uint64_t ip, uint32_t series, int32_t tid)
{
	return (struct hlg_slices_entry){
		.ip = ip, .series = series, .tid = tid, .count = {1, 10}};
}

static void add(struct hlg_slices *s, uint64_t time, uint64_t ip)
{
	struct hlg_slices_entry e = entry(ip, 0, 7);

	hlg_slices_add(s, time, e.ip, e.series, e.tid, e.count);
}

START_TEST(counts)
{
	struct hlg_slices s = {0};

	for (int i = 0; i < 3; i++)
		add(&s, UINT64_C(1000) * HLG_SLICES_NS + 5, 0x10);
	add(&s, UINT64_C(1001) * HLG_SLICES_NS - 1, 0x10);
	add(&s, UINT64_C(1001) * HLG_SLICES_NS, 0x10);
	add(&s, UINT64_C(1000) * HLG_SLICES_NS, 0x8);
	add(&s, HLG_NO_TIME, 0x10);
	hlg_slices_add(&s, HLG_NO_TIME, 0x10, 0, 0, (struct hlg_count){6, 60});
	hlg_slices_sort(&s);
	ck_assert_uint_eq(s.n, 3);
	ck_assert_uint_eq(s.untimed, 7);
	ck_assert_uint_eq(s.spans[0].first, 1000);
	ck_assert_uint_eq(s.spans[0].last, 1001);
	ck_assert_uint_eq(s.entries[0].ip, 0x8);
	ck_assert_uint_eq(s.entries[1].ip, 0x10);
	ck_assert_uint_eq(s.entries[1].count.samples, 4);
	ck_assert_uint_eq(s.entries[1].count.period, 40);
	ck_assert_uint_eq(s.entries[2].slice, 1001);
	hlg_slices_finish(&s);
}
END_TEST

START_TEST(apart)
{
	struct hlg_slices s = {0};
	struct hlg_slices_entry e[] = {entry(1, 0, 7), entry(1, 1, 7), entry(1, 0, 8),
				       entry(0, HLG_SLICES_STATE, 7)};

	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < 4; i++)
			hlg_slices_add(&s, 0, e[i].ip, e[i].series, e[i].tid, e[i].count);
	ck_assert_uint_eq(s.n, 4);
	for (size_t i = 0; i < 4; i++)
		ck_assert_uint_eq(s.entries[i].count.samples, 2);
	hlg_slices_finish(&s);
}
END_TEST

/* An hour is 180,000 slices of 20 ms: 2,813 of 1.28 s. */
START_TEST(doubles)
{
	struct hlg_slices s = {0};
	uint64_t samples = 0;

	for (uint64_t ms = 0; ms < 3600000; ms += 10)
		add(&s, (3600000 - ms) * 1000000, 1);
	ck_assert_uint_eq(hlg_slices_length(&s), UINT64_C(1280000000));
	ck_assert_uint_eq(s.spans[0].first, 0);
	ck_assert_uint_eq(s.spans[0].last, 2812);
	ck_assert_uint_eq(s.n, 2813);
	for (uint32_t i = 0; i < s.n; i++)
		samples += s.entries[i].count.samples;
	ck_assert_uint_eq(samples, 360000);
	hlg_slices_finish(&s);
}
END_TEST

/* More entries than there is room for: longer slices, but four at least. */
START_TEST(many)
{
	struct hlg_slices s = {0};

	for (uint64_t i = 0; i < 3 * HLG_SLICES_ENTRIES; i++)
		add(&s, i % 4000 * HLG_SLICES_NS, i);
	hlg_slices_sort(&s);
	ck_assert_uint_eq(s.spans[0].last - s.spans[0].first + 1, 4);
	ck_assert(!s.lost);
	hlg_slices_finish(&s);
}
END_TEST

/* Those of nothing are as long as they are made, and are never made shorter. */
START_TEST(none_is_as_long)
{
	struct hlg_slices none = {0};

	hlg_slices_lengthen(&none, 3);
	ck_assert_uint_eq(hlg_slices_length(&none), HLG_SLICES_NS << 3);
	hlg_slices_lengthen(&none, 2);
	ck_assert_uint_eq(hlg_slices_length(&none), HLG_SLICES_NS << 3);
	hlg_slices_finish(&none);
}
END_TEST

/* Of any number of parts, in any order, the same. */
START_TEST(parts)
{
	struct hlg_slices whole = {0}, part[5] = {{0}}, sum = {0};
	static const uint32_t series[] = {1, 0};
	static const uint64_t moves[] = {0x1000, 0x2000};

	srand(_i + 1);
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t time = (uint64_t)rand() * (_i ? 1000 : 1);
		struct hlg_slices_entry e =
			entry((unsigned)rand() % 50, (unsigned)rand() % 2, rand() % 3);

		hlg_slices_add(&part[rand() % 5], time, e.ip, e.series, e.tid, e.count);
		e.ip += moves[e.series];
		e.series = series[e.series];
		hlg_slices_add(&whole, time, e.ip, e.series, e.tid, e.count);
	}
	for (int i = 0; i < 5; i++)
		hlg_slices_merge(&sum, &part[(i * 3 + _i) % 5], series, moves);
	hlg_slices_sort(&whole);
	hlg_slices_sort(&sum);
	ck_assert_uint_eq(sum.doubled, whole.doubled);
	ck_assert_uint_eq(sum.n, whole.n);
	ck_assert_uint_eq(sum.total, whole.total);
	ck_assert_uint_eq(sum.spans[0].first, whole.spans[0].first);
	ck_assert_uint_eq(sum.spans[0].last, whole.spans[0].last);
	for (uint32_t i = 0; i < sum.n; i++)
		ck_assert_mem_eq(&sum.entries[i], &whole.entries[i],
				 sizeof(sum.entries[i]));
	hlg_slices_finish(&whole);
	hlg_slices_finish(&sum);
	for (int i = 0; i < 5; i++)
		hlg_slices_finish(&part[i]);
}
END_TEST

/* Recordings of any clock keep a span each, and slices as long as all need. */
START_TEST(recordings)
{
	enum {
		N = 5
	};
	struct hlg_slices part[N] = {{0}}, all = {0}, sum = {0};
	static const uint32_t series[] = {0};

	for (uint64_t i = 0; i < N; i++) {
		for (uint64_t k = 0; k < 1000; k++)
			add(&part[i], (i * 1000003 + k) * HLG_SLICES_NS, i);
		hlg_slices_number(&part[i], 10 + (uint32_t)i, 100 + i);
		part[i].halved = (unsigned)i;
	}
	for (unsigned i = 0; i < N; i++)
		hlg_slices_merge(&all, &part[i * 3 % N], series, NULL);
	/* As that of a thread, which had several. */
	hlg_slices_merge(&sum, &all, series, NULL);
	hlg_slices_sort(&sum);
	ck_assert(!sum.lost);
	ck_assert_uint_eq(sum.doubled, 1);
	ck_assert_uint_eq(sum.halved, N - 1);
	ck_assert_uint_eq(sum.n_spans, N);
	for (uint64_t i = 0, at = 0; i < N; i++) {
		uint64_t first = i * 1000003 / 2, last = (i * 1000003 + 999) / 2;

		ck_assert_uint_eq(sum.spans[i].recording, 10 + i);
		ck_assert_uint_eq(sum.spans[i].began, 100 + i);
		ck_assert_uint_eq(sum.spans[i].first, first);
		ck_assert_uint_eq(sum.spans[i].last, last);
		for (uint64_t k = first; k <= last; k++, at++) {
			ck_assert_uint_eq(sum.entries[at].recording, 10 + i);
			ck_assert_uint_eq(sum.entries[at].slice, k);
		}
	}
	hlg_slices_finish(&all);
	hlg_slices_finish(&sum);
	for (int i = 0; i < N; i++)
		hlg_slices_finish(&part[i]);
}
END_TEST

/* More recordings than there may be slices: one slice each. */
START_TEST(many_recordings)
{
	struct hlg_slices sum = {0};
	static const uint32_t series[] = {0};

	for (uint32_t i = 0; i < HLG_SLICES_MOST + 10; i++) {
		struct hlg_slices one = {0};

		add(&one, 7 * HLG_SLICES_NS, 1);
		add(&one, 8 * HLG_SLICES_NS, 1);
		hlg_slices_number(&one, i, 0);
		hlg_slices_merge(&sum, &one, series, NULL);
		hlg_slices_finish(&one);
	}
	ck_assert(!sum.lost);
	ck_assert_uint_eq(sum.n, sum.n_spans);
	ck_assert_uint_eq(sum.n_spans, HLG_SLICES_MOST + 10);
	ck_assert_uint_eq(sum.entries[0].count.samples, 2);
	hlg_slices_finish(&sum);
}
END_TEST

START_TEST(no_memory)
{
	for (unsigned fail = 1;; fail++) {
		struct hlg_slices s = {0}, to = {0};
		static const uint32_t series[] = {0};
		bool failed;

		oom_arm(fail, true);
		for (uint64_t i = 0; i < 200; i++)
			add(&s, i * HLG_SLICES_NS * (i == 199 ? 1000 : 1), i);
		hlg_slices_number(&s, 1, 5);
		hlg_slices_merge(&to, &s, series, NULL);
		failed = oom_disarm();
		ck_assert(to.lost == failed);
		hlg_slices_finish(&s);
		hlg_slices_finish(&to);
		if (!failed)
			break;
	}
}
END_TEST

/* What the profile counts and what its slices have is the same; and nothing unasked. */
START_TEST(of_a_profile)
{
	struct hlg_options options;
	struct hlg_profile p;
	struct hlg_err err;
	uint64_t guest = 0, host = 0;

	ck_assert_int_eq(hlg_options_parse(&options, 0, NULL, &err), 0);
	options.slices = _i;
	ck_assert(hlg_profile_init(&p, &options));
	for (uint64_t i = 0; i < 1000; i++) {
		struct hlg_sample sample = {.ip = i % 10,
					    .period = 3,
					    .time = i * 1000000,
					    .tid = 5,
					    .cpumode = i % 4 ? HLG_MODE_GUEST_KERNEL : 1,
					    .event = hlg_profile_event(&p, "cycles", 0)};

		hlg_profile_add(&p, &sample);
	}
	for (uint32_t i = 0; i < p.by_thread.n; i++)
		*(p.by_thread.entries[i].series < HLG_SLICES_STATE + HLG_HOST_KERNEL
			  ? &guest
			  : &host) += p.by_thread.entries[i].count.period;
	for (uint32_t i = 0; i < p.by_address.n; i++)
		guest -= p.by_address.entries[i].count.period;
	ck_assert_uint_eq(guest, 0);
	for (uint32_t i = 0; i < p.by_address.n; i++)
		guest += p.by_address.entries[i].count.period;
	ck_assert_uint_eq(guest, _i ? 750 * 3 : 0);
	ck_assert_uint_eq(host, _i ? 250 * 3 : 0);
	hlg_profile_finish(&p);
	hlg_options_finish(&options);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("slices");
	TCase *tc = tap_case(suite, "slices");

	tcase_add_test(tc, counts);
	tcase_add_test(tc, apart);
	tcase_add_test(tc, doubles);
	tcase_add_test(tc, many);
	tcase_add_test(tc, none_is_as_long);
	tcase_add_loop_test(tc, parts, 0, 3);
	tcase_add_test(tc, recordings);
	tcase_add_test(tc, many_recordings);
	tcase_add_test(tc, no_memory);
	tcase_add_loop_test(tc, of_a_profile, 0, 2);
	return tap_main(suite);
}
