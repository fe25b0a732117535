// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a counter has moved by, where threads, CPUs and the order of the file make it
 * hard: an inherited counter counts anew in each thread, that of a whole CPU does not,
 * and one that seems to go back only stands in the wrong place.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "../tap.h"
#include "kit.h"

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
	char got[256] = "";

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

START_TEST(out_of_order)
{
	static const struct told late[] = {
		{1, 10, 100}, {1, 30, 170}, {1, 20, 130}, {1, 40, 190}};
	/* A counter that was set back is not late. */
	static const struct told reset[] = {{1, 10, 100}, {1, 20, 40}, {1, 30, 90}};
	/* Nor is one that moved on though its time did not. */
	static const struct told moved[] = {{1, 10, 100}, {1, 9, 140}, {1, 30, 190}};

	check(0, false, false, late, 4, "100 70 0 20 ");
	check(0, false, false, reset, 3, "100 -60 50 ");
	check(0, false, false, moved, 3, "100 40 50 ");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perfdata counters");
	TCase *tc = tap_case(suite, "counters");

	tcase_add_test(tc, by_thread_or_by_cpu);
	tcase_add_test(tc, out_of_order);
	return tap_main(suite);
}
