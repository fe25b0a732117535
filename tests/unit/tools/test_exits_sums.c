// SPDX-License-Identifier: GPL-2.0-only
/* Latencies are counted as values that are off by 1/128 at most, or not at all. */
#include "tools/exits/columns.h"
#include "tools/exits/sums.h"

#include "tests/kit/tap.h"

START_TEST(values_are_near)
{
	for (uint64_t i = 0; i < 64; i++) {
		const uint64_t near[] = {((uint64_t)1 << i) - 1, (uint64_t)1 << i,
					 ((uint64_t)1 << i) + 1,
					 (uint64_t)3 << (i ? i - 1 : 0),
					 i > 7 ? ((uint64_t)127 << (i - 7)) + 1 : i};

		for (size_t k = 0; k < sizeof(near) / sizeof(near[0]); k++) {
			uint64_t v = near[k], q = hlg_histogram_quantize(v);
			uint64_t off = q > v ? q - v : v - q;

			ck_assert_msg(off <= v / 128, "%ju as %ju", (uintmax_t)v,
				      (uintmax_t)q);
			ck_assert_int_eq(v ? __builtin_clzll(v) : 64,
					 q ? __builtin_clzll(q) : 64);
			ck_assert_uint_eq(hlg_histogram_quantize(q), q);
		}
	}
}
END_TEST

/* Parts follow each other without holes, and stand for what a latency is counted as. */
START_TEST(parts_are_in_order)
{
	uint32_t last = 0;

	for (uint64_t ns = 0; ns < 1 << 16; ns++) {
		uint32_t bucket = hlg_histogram_bucket(ns);

		ck_assert_uint_le(bucket - last, 1);
		ck_assert_uint_eq(hlg_histogram_value(bucket),
				  hlg_histogram_quantize(ns));
		last = bucket;
	}
	for (uint64_t ns = 1 << 16; ns; ns <<= 1) {
		uint32_t bucket = hlg_histogram_bucket(ns - 1);

		ck_assert_uint_eq(bucket + 1, hlg_histogram_bucket(ns));
		ck_assert_uint_eq(hlg_histogram_value(bucket),
				  hlg_histogram_quantize(ns - 1));
		ck_assert_uint_eq(hlg_histogram_value(bucket + 1),
				  hlg_histogram_quantize(ns));
	}
	ck_assert_uint_eq(hlg_histogram_value(hlg_histogram_bucket(UINT64_MAX)),
			  hlg_histogram_quantize(UINT64_MAX));
}
END_TEST

/* Whatever octave comes when, none is lost; a counter that is full refuses. */
START_TEST(parts_grow_both_ways)
{
	static const uint64_t met[] = {5000, 3, UINT64_MAX, 70, 5000, 0};
	struct hlg_histogram histogram = {0};
	uint64_t n = 0;

	for (size_t i = 0; i < sizeof(met) / sizeof(met[0]); i++) {
		if (hlg_histogram_count(&histogram, met[i]))
			continue;
		ck_assert(hlg_histogram_grow(&histogram, hlg_histogram_bucket(met[i])));
		ck_assert(hlg_histogram_count(&histogram, met[i]));
	}
	for (uint32_t i = 0; i < histogram.room; i++)
		n += histogram.n[i];
	ck_assert_uint_eq(n, sizeof(met) / sizeof(met[0]));
	ck_assert_uint_eq(histogram.n[hlg_histogram_bucket(5000) - histogram.first], 2);
	histogram.n[hlg_histogram_bucket(70) - histogram.first] = UINT32_MAX;
	ck_assert(!hlg_histogram_count(&histogram, 70));
	hlg_histogram_finish(&histogram);
}
END_TEST

/* A full counter's next ones are counted elsewhere, and all come together again. */
START_TEST(full_counters_lose_nothing)
{
	struct hlg_exits_sums sums = {0};
	const struct hlg_exits_key key = {.rip = 1, .has_rip = 1};
	uint64_t n = 0, added = HLG_EXITS_MANY + 10;

	for (uint64_t i = 0; i < added; i++)
		hlg_exits_add(&sums, &key, 100);
	ck_assert_uint_eq(sums.cells[0].histogram.room, HLG_HISTOGRAM_OCTAVE);
	sums.cells[0].histogram.n[hlg_histogram_bucket(100) % HLG_HISTOGRAM_OCTAVE] =
		UINT32_MAX;
	hlg_exits_add(&sums, &key, 100);
	hlg_exits_add(&sums, &key, 100);
	hlg_exits_settle(&sums);
	for (size_t i = 0; i < sums.n_values; i++)
		n += sums.values[i].n;
	ck_assert_uint_eq(n, HLG_EXITS_MANY + (uint64_t)UINT32_MAX + 2);
	ck_assert_uint_eq(sums.n_values, 1);
	hlg_exits_sums_finish(&sums);
}
END_TEST

/* What is counted does not grow with what comes, and sums stay exact. */
START_TEST(values_are_few)
{
	struct hlg_exits_sums sums = {0};
	const struct hlg_exits_key key = {.rip = 1, .has_rip = 1};
	uint64_t total = 0, n = 1000000;

	for (uint64_t i = 1; i <= n; i++) {
		hlg_exits_add(&sums, &key, 1000 * i);
		total += 1000 * i;
	}
	hlg_exits_settle(&sums);
	ck_assert(!sums.no_memory);
	ck_assert_uint_eq(sums.n_cells, 1);
	ck_assert_uint_eq(sums.cells[0].n, n);
	ck_assert_uint_eq(sums.cells[0].total, total);
	ck_assert_uint_eq(sums.cells[0].min, 1000);
	ck_assert_uint_eq(sums.cells[0].max, 1000 * n);
	ck_assert_uint_le(sums.n_values, 64 * 21);
	for (size_t i = 0; i < sums.n_values; i++) {
		n -= sums.values[i].n;
		ck_assert_uint_eq(hlg_histogram_quantize(sums.values[i].value),
				  sums.values[i].value);
	}
	ck_assert_uint_eq(n, 0);
	hlg_exits_sums_finish(&sums);
}
END_TEST

/* Two recordings added up are what one would be that has both, with vCPUs of its own. */
START_TEST(sums_add_up)
{
	struct hlg_exits_sums sums = {0};
	const uint64_t *const lone[] = {
		&sums.lone.exits, &sums.lone.entries, &sums.lone.user, &sums.lone.runs,
		&sums.lone.lost,  &sums.lone.late,    &sums.lone.bad};

	for (int file = 0; file < 2; file++) {
		struct hlg_exits_sums own = {0};
		struct hlg_exits_key key = {.rip = 7, .has_rip = 1};

		for (int i = 0; i < 2; i++) {
			key.vcpu = hlg_exits_add_vcpu(&own, 10 + file, 20 + i, i);
			own.vcpus[key.vcpu].guest = 1000;
			for (uint64_t n = 0; n < 2000; n++)
				hlg_exits_add(&own, &key, 100 + (uint64_t)file);
		}
		own.lone = (struct hlg_exits_lone){3, 4, 5, 6, 7, 8, 9};
		hlg_exits_settle(&own);
		hlg_exits_merge(&sums, &own);
		hlg_exits_sums_finish(&own);
	}
	ck_assert(!sums.no_memory);
	ck_assert_uint_eq(sums.n_vcpus, 4);
	ck_assert_uint_eq(sums.n_cells, 4);
	ck_assert_uint_eq(sums.n_values, 4);
	for (uint32_t i = 0; i < 4; i++) {
		const struct hlg_exits_cell *cell = &sums.cells[i];

		ck_assert_uint_eq(cell->key.vcpu, i);
		ck_assert_int_eq(sums.vcpus[i].pid, 10 + (int)i / 2);
		ck_assert_int_eq(sums.vcpus[i].tid, 20 + (int)i % 2);
		ck_assert_uint_eq(sums.vcpus[i].guest, 1000);
		ck_assert_uint_eq(cell->n, 2000);
		ck_assert_uint_eq(cell->total, 2000 * (100 + i / 2));
		ck_assert_uint_eq(cell->min, 100 + i / 2);
		ck_assert_uint_eq(cell->max, 100 + i / 2);
	}
	ck_assert_uint_eq(sums.pairs[HLG_EXITS_GUEST], 8000);
	ck_assert_uint_eq(sums.total[HLG_EXITS_GUEST], 4000 * (100 + 101));
	for (size_t i = 0; i < sizeof(lone) / sizeof(*lone); i++)
		ck_assert_uint_eq(*lone[i], 2 * (3 + i));
	hlg_exits_sums_finish(&sums);
}
END_TEST

START_TEST(exact_values_are_kept)
{
	struct hlg_exits_sums sums = {.exact = true};
	struct hlg_exits_key key = {.port = 7};
	uint64_t n = 0;

	for (uint64_t i = 0; i < 10000; i++) {
		key.reason = (uint32_t)(i % 3);
		hlg_exits_add(&sums, &key, 1000000 + i / 6);
	}
	ck_assert_uint_eq(sums.n_cells, 3);
	for (size_t i = 0; i < sums.n_values; i++) {
		ck_assert(sums.values[i].n <= 2);
		n += sums.values[i].n;
	}
	ck_assert_uint_eq(n, 10000);
	ck_assert_uint_eq(sums.n_values, 5001);
	hlg_exits_sums_finish(&sums);
}
END_TEST

static uint64_t fold_to_seven(void *ctx, uint64_t ip)
{
	(void)ctx;
	(void)ip;
	return 7;
}

/* Exits are counted by what their addresses stand for, if they have one; a call keeps
 * where it was entered, by which a guest's start is told from it. */
START_TEST(calls_are_not_folded)
{
	struct hlg_exits_sums sums = {.fold = fold_to_seven};
	const struct hlg_exits_key keys[] = {
		{.rip = 1, .has_rip = 1},
		{.rip = 2, .has_rip = 1},
		{.rip = 0},
		{.rip = 1, .has_rip = 1, .kind = HLG_EXITS_CALL},
	};
	static const uint64_t rips[] = {7, 0, 1};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		hlg_exits_add(&sums, &keys[i], 100);
	ck_assert_uint_eq(sums.n_cells, 3);
	for (size_t i = 0; i < 3; i++)
		ck_assert_uint_eq(sums.cells[i].key.rip, rips[i]);
	hlg_exits_sums_finish(&sums);
}
END_TEST

/* A sum that passed 2^64 is told, whether of pairs or of what several files have. */
START_TEST(overflow_is_told)
{
	const struct hlg_exits_key key = {.rip = 1, .has_rip = 1};
	struct hlg_exits_sums a = {0}, b = {0};

	hlg_exits_add(&a, &key, UINT64_MAX - 1);
	hlg_exits_add(&a, &key, 1);
	hlg_exits_settle(&a);
	ck_assert(!a.overflow);
	hlg_exits_add(&a, &key, 1);
	hlg_exits_settle(&a);
	ck_assert(a.overflow);
	hlg_exits_sums_finish(&a);
	hlg_exits_add_vcpu(&a, 1, 1, 0);
	a.vcpus[0].guest = UINT64_MAX - 1;
	a.vcpus[0].run = 1;
	hlg_exits_merge(&b, &a);
	ck_assert(!b.overflow);
	a.vcpus[0] = (struct hlg_exits_vcpu){.vmm = 1};
	hlg_exits_merge(&b, &a);
	ck_assert(b.overflow && b.vcpus[1].vmm == 1);
	hlg_exits_sums_finish(&a);
	hlg_exits_sums_finish(&b);
}
END_TEST

/* Also of time that no vCPU has: between two calls of the guest. */
START_TEST(overflow_of_several_is_told)
{
	const struct hlg_exits_key key = {.kind = HLG_EXITS_BETWEEN};
	struct hlg_exits_sums a = {0}, b = {0};

	hlg_exits_add(&a, &key, (uint64_t)1 << 63);
	hlg_exits_settle(&a);
	hlg_exits_merge(&b, &a);
	ck_assert(!b.overflow);
	hlg_exits_merge(&b, &a);
	ck_assert(b.overflow);
	hlg_exits_sums_finish(&a);
	hlg_exits_sums_finish(&b);
}
END_TEST

/* Where text is fitted, a row is shown rather than a line that says that there is one
 * more. */
START_TEST(one_more_row)
{
	struct hlg_exits_report r = {.top = 2};
	struct hlg_exits_table t = {.n = 3};

	ck_assert_uint_eq(hlg_exits_shown(&r, &t), 2);
	r.fitted = true;
	ck_assert_uint_eq(hlg_exits_shown(&r, &t), 3);
	t.n = 4;
	ck_assert_uint_eq(hlg_exits_shown(&r, &t), 2);
}
END_TEST

/* A port and a page of memory are numbers without the bit that tells them apart. */
START_TEST(numbers_of_ports)
{
	const struct hlg_exits_sums none = {0};
	const struct hlg_exits_report r = {.sums = &none};
	const struct hlg_exits_table t = {.by = HLG_EXITS_BY_PORT};
	struct hlg_exits_row row = {.n = 1, .number = HLG_PORT_MMIO | 0xfed01000};
	struct hlg_value v[HLG_EXITS_COLUMNS];

	hlg_exits_set_values(v, &r, &t, &row);
	ck_assert_uint_eq(v[HLG_EXITS_NUMBER].n, 0xfed01000);
	row.number = 108;
	hlg_exits_set_values(v, &r, &t, &row);
	ck_assert_uint_eq(v[HLG_EXITS_NUMBER].n, 108);
	row.number = HLG_NO_PORT;
	hlg_exits_set_values(v, &r, &t, &row);
	ck_assert(!v[HLG_EXITS_NUMBER].is);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("exits sums");
	TCase *tc = tap_case(suite, "values");

	tcase_add_test(tc, values_are_near);
	tcase_add_test(tc, parts_are_in_order);
	tcase_add_test(tc, parts_grow_both_ways);
	tcase_add_test(tc, full_counters_lose_nothing);
	tcase_add_test(tc, values_are_few);
	tcase_add_test(tc, sums_add_up);
	tcase_add_test(tc, exact_values_are_kept);
	tcase_add_test(tc, calls_are_not_folded);
	tcase_add_test(tc, overflow_is_told);
	tcase_add_test(tc, overflow_of_several_is_told);
	tcase_add_test(tc, one_more_row);
	tcase_add_test(tc, numbers_of_ports);
	return tap_main(suite);
}
