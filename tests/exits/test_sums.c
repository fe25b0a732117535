// SPDX-License-Identifier: GPL-2.0-only
/* Latencies are counted as values that are off by 1/128 at most, or not at all. */
#include "../../tools/exits/sums.h"

#include "tap.h"

START_TEST(values_are_near)
{
	for (uint64_t i = 0; i < 64; i++) {
		const uint64_t near[] = {((uint64_t)1 << i) - 1, (uint64_t)1 << i,
					 ((uint64_t)1 << i) + 1,
					 (uint64_t)3 << (i ? i - 1 : 0),
					 i > 7 ? ((uint64_t)127 << (i - 7)) + 1 : i};

		for (size_t k = 0; k < sizeof(near) / sizeof(near[0]); k++) {
			uint64_t v = near[k], q = hlg_exits_quantize(v);
			uint64_t off = q > v ? q - v : v - q;

			ck_assert_msg(off <= v / 128, "%ju as %ju", (uintmax_t)v,
				      (uintmax_t)q);
			ck_assert_int_eq(v ? __builtin_clzll(v) : 64,
					 q ? __builtin_clzll(q) : 64);
			ck_assert_uint_eq(hlg_exits_quantize(q), q);
		}
	}
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
	for (size_t i = 0; i < sums.room_values; i++) {
		n -= sums.values[i].n;
		ck_assert_uint_eq(hlg_exits_quantize(sums.values[i].value),
				  sums.values[i].value);
	}
	ck_assert_uint_eq(n, 0);
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
	for (size_t i = 0; i < sums.room_values; i++) {
		ck_assert(sums.values[i].n <= 2);
		n += sums.values[i].n;
	}
	ck_assert_uint_eq(n, 10000);
	ck_assert_uint_eq(sums.n_values, 5001);
	hlg_exits_sums_finish(&sums);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("exits sums");
	TCase *tc = tap_case(suite, "values");

	tcase_add_test(tc, values_are_near);
	tcase_add_test(tc, values_are_few);
	tcase_add_test(tc, exact_values_are_kept);
	return tap_main(suite);
}
