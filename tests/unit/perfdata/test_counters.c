// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a counter has moved by, where threads, CPUs and the order of the file make it
 * hard: an inherited counter counts anew in each thread, that of a whole CPU does not,
 * and one that seems to go back only stands in the wrong place.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "tests/kit/perfdata.h"
#include "tests/kit/tap.h"

#define TYPE                                                                             \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_READ)

struct told {
	uint32_t tid;
	uint64_t time, value;
};

/* The periods of samples of one counter, in the order of the file. */
static void check(uint64_t also, bool inherit, bool on_exec, const struct told *told,
		  size_t n, const char *want)
{
	const struct kit_event event = {{.sample_type = TYPE | also,
					 .read_format = PERF_FORMAT_ID,
					 .inherit = inherit,
					 .enable_on_exec = on_exec},
					{5},
					"one"};
	struct kit records = {0}, k = {0};
	struct kit_seen seen;
	char got[1024] = "";

	for (size_t i = 0; i < n; i++) {
		size_t start = kit_begin(&records, PERF_RECORD_SAMPLE, 2);

		kit_u64(&records, 5);
		kit_u32(&records, 1);
		kit_u32(&records, told[i].tid);
		kit_u64(&records, told[i].time);
		if (also & PERF_SAMPLE_CPU)
			kit_u64(&records, 0);
		kit_u64(&records, told[i].value);
		kit_u64(&records, 5);
		kit_end(&records, start);
	}
	kit_file(&k, &event, 1, &records, 0);
	kit_read_bytes(&seen, k.at, k.n);
	ck_assert_int_eq(seen.rc, 0);
	for (size_t i = 0; i < seen.n; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%jd ",
			 (intmax_t)seen.samples[i].period);
	ck_assert_str_eq(got, want);
	kit_finish(&seen);
	kit_free(&k);
	kit_free(&records);
}

START_TEST(by_thread_or_by_cpu)
{
	static const struct told threads[] = {
		{1, 10, 100}, {2, 20, 130}, {1, 30, 170}, {2, 40, 190}};

	check(0, true, false, threads, 4, "100 130 70 60 ");
	check(0, false, false, threads, 4, "100 30 40 20 ");
	check(PERF_SAMPLE_CPU, true, true, threads, 4, "100 130 70 60 ");
	check(PERF_SAMPLE_CPU, true, false, threads, 4, "100 30 40 20 ");
}
END_TEST

/* So many that they meet in whatever table they are kept. */
START_TEST(many_threads)
{
	struct told told[60];
	char want[512] = "";

	for (uint32_t i = 0; i < 60; i++) {
		told[i] = (struct told){i % 30 + 1, i, 100 * (i / 30 + 1) + i};
		sprintf(want + strlen(want), "%u ", i < 30 ? 100 + i : 130);
	}
	check(0, true, false, told, 60, want);
}
END_TEST

START_TEST(out_of_order)
{
	static const struct told late[] = {
		{1, 10, 100}, {1, 30, 170}, {1, 20, 130}, {1, 40, 190}};
	/* A counter that was set back is not late: it begins anew, as does that of
	 * another thread of this number. */
	static const struct told reset[] = {{1, 10, 100}, {1, 20, 40}, {1, 30, 90}};
	/* Nor is one that moved on though its time did not. */
	static const struct told moved[] = {{1, 10, 100}, {1, 9, 140}, {1, 30, 190}};

	check(0, false, false, late, 4, "100 70 0 20 ");
	check(0, false, false, reset, 3, "100 40 50 ");
	check(0, false, false, moved, 3, "100 40 50 ");
}
END_TEST

/* Groups as the sink gets them: "counter/thread time:delta,...;" and what is marked. */
static int on_group(void *ctx, const struct hlg_perfdata_group *g, struct hlg_err *err)
{
	struct hlg_sample sample = hlg_perfdata_sample(g->raw);
	char *text = ctx, *at = text + strlen(text);

	(void)err;
	at += sprintf(at, "%u/%d %ju%s%s", g->counter, g->thread, (uintmax_t)sample.time,
		      g->first ? "!" : "", g->late ? "?" : "");
	for (uint32_t i = 0; i < g->n; i++)
		at += sprintf(at, "%s%u=%ju", i ? "," : " ", g->members[i].event,
			      (uintmax_t)g->members[i].delta);
	strcpy(at, "; ");
	return 0;
}

static inline __attribute__((always_inline)) void on_plain(void *ctx,
							   struct hlg_perfdata_raw *raw)
{
	char *text = ctx;

	sprintf(text + strlen(text), "plain %u; ", raw->event);
}

static void add_group(struct kit *k, uint64_t id, uint64_t time, const uint64_t (*v)[2],
		      size_t n)
{
	size_t start = kit_begin(k, PERF_RECORD_SAMPLE, 2);

	kit_u64(k, id);
	kit_u32(k, 1);
	kit_u32(k, 2);
	kit_u64(k, time);
	kit_u64(k, n);
	for (size_t i = 0; i < n; i++) {
		kit_u64(k, v[i][0]);
		kit_u64(k, v[i][1]);
	}
	kit_end(k, start);
}

START_TEST(whole_groups)
{
	const struct perf_event_attr counted = {
		.sample_type = TYPE, .read_format = PERF_FORMAT_ID | PERF_FORMAT_GROUP};
	const struct perf_event_attr plain = {.sample_type = PERF_SAMPLE_IDENTIFIER |
							     PERF_SAMPLE_TID |
							     PERF_SAMPLE_TIME};
	const struct kit_event events[] = {{counted, {5, 15}, "lead"},
					   {counted, {6, 16}, "second"},
					   {plain, {7}, "plain"}};
	static const uint64_t a[][2] = {{100, 5}, {7, 6}}, b[][2] = {{210, 5}, {7, 6}},
			      c[][2] = {{90, 15}, {1, 99}, {4, 16}},
			      d[][2] = {{150, 5}, {7, 6}}, none[][2] = {{1, 99}};
	const struct hlg_perfdata_sink sink = {.group = on_group};
	struct kit records = {0}, k = {0};
	struct hlg_perfdata *pd;
	struct hlg_err err;
	char got[512] = "";
	const char *path;
	size_t start;

	add_group(&records, 5, 10, a, 2);
	add_group(&records, 5, 30, b, 2); /* the second has not moved */
	add_group(&records, 15, 40, c, 3);
	start = kit_begin(&records, PERF_RECORD_SAMPLE, 2);
	kit_u64(&records, 7);
	kit_u64(&records, 1);
	kit_u64(&records, 50);
	kit_end(&records, start);
	add_group(&records, 5, 20, d, 2);
	add_group(&records, 5, 60, none, 1);
	kit_file(&k, events, 3, &records, 0);
	path = kit_name(k.at, k.n);
	ck_assert_int_eq(hlg_perfdata_open(&pd, path, &err), 0);
	ck_assert_int_eq(hlg_perfdata_read(pd, on_plain, &sink, got, &err), 0);
	ck_assert_str_eq(got, "0/-1 10! 0=100,1=7; 0/-1 30 0=110,1=0; "
			      "1/-1 40! 0=90,1=4; plain 2; 0/-1 20? 0=0,1=0; ");
	ck_assert_uint_eq(hlg_perfdata_counts(pd)->samples, 5);
	ck_assert_uint_eq(hlg_perfdata_counts(pd)->unknown_id, 2);
	hlg_perfdata_close(pd);
	kit_unname(path);
	kit_free(&k);
	kit_free(&records);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perfdata counters");
	TCase *tc = tap_case(suite, "counters");

	tcase_add_test(tc, by_thread_or_by_cpu);
	tcase_add_test(tc, many_threads);
	tcase_add_test(tc, out_of_order);
	tcase_add_test(tc, whole_groups);
	return tap_main(suite);
}
