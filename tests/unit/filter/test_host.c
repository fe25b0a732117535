// SPDX-License-Identifier: GPL-2.0-only
/*
 * Host samples are counted by series, mapping and process, each in one row, and none is
 * lost: not while the table grows, not for want of a name, not for want of memory. The
 * sorted order is that of weight and names, however the samples came.
 */
#include "filter/profile/host.h"

#include <string.h>

#include "tests/kit/filter.h"
#include "tests/kit/oom.h"
#include "tests/kit/tap.h"

static struct hlg_options options;
static struct hlg_profile profile;

/* Two series: 0 is tid 9, 1 is tid 3. */
static void enter(void)
{
	char *argv[] = {(char[]){"by=tid"}};
	struct hlg_err err;
	struct hlg_sample s = kit_sample(0, 0);

	ck_assert_int_eq(hlg_options_parse(&options, 1, argv, &err), 0);
	ck_assert(hlg_profile_init(&profile, &options));
	hlg_profile_event(&profile, "a", 0);
	s.tid = 9;
	ck_assert_uint_eq(hlg_profile_series(&profile, &s), 0);
	s.tid = 3;
	ck_assert_uint_eq(hlg_profile_series(&profile, &s), 1);
}

static void leave(void)
{
	hlg_profile_finish(&profile);
	hlg_options_finish(&options);
}

static void check_row(const struct hlg_host_row *row, uint32_t series, const char *dso,
		      const char *comm, uint64_t samples, uint64_t period)
{
	ck_assert_uint_eq(row->series, series);
	ck_assert_str_eq(row->dso, dso);
	ck_assert_str_eq(row->comm, comm);
	ck_assert_uint_eq(row->count.samples, samples);
	ck_assert_uint_eq(row->count.period, period);
}

/* Borders between the two texts count: ("ab", "c") is not ("a", "bc"). */
START_TEST(rows)
{
	struct hlg_host host = {0};

	hlg_host_add(&host, 0, "ab", "c", 5);
	hlg_host_add(&host, 0, "a", "bc", 7);
	hlg_host_add(&host, 1, "ab", "c", 1);
	hlg_host_add(&host, 0, "ab", "c", 6);
	hlg_host_add(&host, 0, NULL, NULL, 2);
	hlg_host_add(&host, 0, "[unknown]", NULL, 2);
	hlg_host_add(&host, 0, NULL, "c", 1);
	hlg_host_add(&host, 0, "", "", 1);
	ck_assert_uint_eq(host.n_rows, 6);
	check_row(&host.rows[0], 0, "ab", "c", 2, 11);
	check_row(&host.rows[1], 0, "a", "bc", 1, 7);
	check_row(&host.rows[2], 1, "ab", "c", 1, 1);
	check_row(&host.rows[3], 0, "[unknown]", "[unknown]", 2, 4);
	check_row(&host.rows[4], 0, "[unknown]", "c", 1, 1);
	check_row(&host.rows[5], 0, "", "", 1, 1);
	hlg_host_finish(&host);
}
END_TEST

START_TEST(names_are_copied)
{
	struct hlg_host host = {0};
	char dso[] = "kvm.ko", comm[] = "vmx_vcpu_run";

	hlg_host_add(&host, 0, dso, comm, 1);
	memset(dso, 'x', sizeof(dso) - 1);
	memset(comm, 'x', sizeof(comm) - 1);
	check_row(&host.rows[0], 0, "kvm.ko", "vmx_vcpu_run", 1, 1);
	hlg_host_finish(&host);
}
END_TEST

START_TEST(many)
{
	struct hlg_host host = {0};
	uint64_t random = 1;
	static unsigned naive[5000];

	for (int i = 0; i < 100000; i++) {
		unsigned n = (unsigned)kit_random(&random, 5000);
		char comm[16];

		snprintf(comm, sizeof(comm), "f%u", n / 2);
		hlg_host_add(&host, n % 2, "vmlinux", comm, 3);
		naive[n]++;
	}
	ck_assert_uint_eq(host.n_rows, 5000);
	for (size_t i = 0; i < host.n_rows; i++) {
		const struct hlg_host_row *row = &host.rows[i];
		unsigned n = (unsigned)atoi(row->comm + 1) * 2 + row->series;

		ck_assert_uint_eq(row->count.samples, naive[n]);
		ck_assert_uint_eq(row->count.period, 3 * naive[n]);
	}
	hlg_host_finish(&host);
}
END_TEST

/* Rows that share one or two of the three, by the thousand. */
START_TEST(alike)
{
	struct hlg_host host = {0};

	for (int i = 0; i < 3 * 20000; i++) {
		char dso[16];

		snprintf(dso, sizeof(dso), "%d", i % 100);
		hlg_host_add(&host, (uint32_t)(i / 100 % 100), dso,
			     i / 10000 % 2 ? "f" : "g", 1);
	}
	ck_assert_uint_eq(host.n_rows, 20000);
	for (int i = 0; i < 20000; i++) {
		const struct hlg_host_row *row = &host.rows[i];

		ck_assert_uint_eq(row->series, (uint32_t)(i / 100 % 100));
		ck_assert_int_eq(atoi(row->dso), i % 100);
		ck_assert_uint_eq(row->count.samples, 3);
	}
	hlg_host_finish(&host);
}
END_TEST

START_TEST(order)
{
	static const struct {
		uint32_t series;
		const char *dso, *comm;
		uint64_t period;
	} sorted[] = {{0, "z", "z", 9}, {0, "a", "f", 5}, {0, "b", "f", 5},
		      {1, "a", "g", 5}, {0, "a", "g", 5}, {0, "a", "a", 1}};
	struct hlg_host host = {0};

	for (int i = 0; i < 6; i++) {
		int k = (i * 5 + _i) % 6;

		hlg_host_add(&host, sorted[k].series, sorted[k].dso, sorted[k].comm,
			     sorted[k].period);
	}
	hlg_host_sort(&host, &profile, HLG_WEIGHT_PERIOD);
	for (int i = 0; i < 6; i++)
		check_row(&host.rows[i], sorted[i].series, sorted[i].dso, sorted[i].comm,
			  1, sorted[i].period);
	hlg_host_sort(&host, &profile, HLG_WEIGHT_SAMPLES);
	check_row(&host.rows[0], 0, "a", "a", 1, 1); /* all alike: names */
	hlg_host_finish(&host);
}
END_TEST

/* Whatever they weigh. */
START_TEST(tracepoints_are_last)
{
	struct hlg_host host = {0};

	profile.series[1].event = hlg_profile_event(&profile, "kvm:kvm_pio", 0);
	profile.events[profile.series[1].event].kind = HLG_EVENT_TRACEPOINT;
	hlg_host_add(&host, 1, "kvm", "vmm", 1000);
	hlg_host_add(&host, 0, "a", "vmm", 1);
	hlg_host_add(&host, 1, "b", "vmm", 2000);
	hlg_host_add(&host, 0, "c", "vmm", 2);
	ck_assert_uint_eq(hlg_host_sort(&host, &profile, HLG_WEIGHT_PERIOD), 2);
	check_row(&host.rows[0], 0, "c", "vmm", 1, 2);
	check_row(&host.rows[1], 0, "a", "vmm", 1, 1);
	check_row(&host.rows[2], 1, "b", "vmm", 1, 2000);
	hlg_host_finish(&host);
}
END_TEST

START_TEST(sorts_nothing)
{
	struct hlg_host host = {0};

	hlg_host_sort(&host, &profile, HLG_WEIGHT_PERIOD);
	ck_assert_uint_eq(host.n_rows, 0);
	hlg_host_finish(&host);
}
END_TEST

START_TEST(without_a_series)
{
	struct hlg_host host = {0}, sum = {0};

	hlg_host_add(&host, HLG_NO_SERIES, "a", "b", 7);
	ck_assert_uint_eq(host.n_rows, 0);
	ck_assert_uint_eq(host.unnamed.samples, 1);
	ck_assert_uint_eq(host.unnamed.period, 7);
	for (int i = 0; i < 2; i++)
		hlg_host_merge(&sum, &profile, &host, &profile);
	ck_assert_uint_eq(sum.unnamed.samples, 2);
	ck_assert_uint_eq(sum.unnamed.period, 14);
	hlg_host_finish(&host);
	hlg_host_finish(&sum);
}
END_TEST

/* The rows and what could not be named are all samples, wherever memory ends. */
START_TEST(without_memory)
{
	bool struck = true;

	for (unsigned n = 1; struck; n += n < 40 ? 1 : 37) {
		struct hlg_host host = {0};
		uint64_t sum = 0;
		char comm[16];

		oom_arm(n, _i);
		for (unsigned i = 0; i < 1200; i++) {
			snprintf(comm, sizeof(comm), "f%u", i % 600);
			hlg_host_add(&host, 0, "vmlinux", comm, 2);
		}
		struck = oom_disarm();
		for (size_t i = 0; i < host.n_rows; i++)
			sum += host.rows[i].count.samples;
		ck_assert_uint_eq(sum + host.unnamed.samples, 1200);
		ck_assert_int_eq(host.unnamed.samples > 0, struck);
		ck_assert_uint_eq(host.unnamed.period, 2 * host.unnamed.samples);
		hlg_host_finish(&host);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("host");
	TCase *tc = tap_case(suite, "host");

	tcase_add_checked_fixture(tc, enter, leave);
	tcase_add_test(tc, rows);
	tcase_add_test(tc, names_are_copied);
	tcase_add_test(tc, many);
	tcase_add_test(tc, alike);
	tcase_add_loop_test(tc, order, 0, 6);
	tcase_add_test(tc, tracepoints_are_last);
	tcase_add_test(tc, sorts_nothing);
	tcase_add_test(tc, without_a_series);
	tcase_add_loop_test(tc, without_memory, 0, 2);
	return tap_main(suite);
}
