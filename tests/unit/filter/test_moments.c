// SPDX-License-Identifier: GPL-2.0-only
/*
 * Moments of samples: which of many are kept depends on the samples alone, not on their
 * order or on how they were parted; there are never more than there is room for; where
 * some samples have no time, or all have one, nothing is said; without memory it is told.
 */
#include "filter/profile/moments.h"

#include <stdlib.h>
#include <string.h>

#include "tests/kit/filter.h"
#include "tests/kit/oom.h"
#include "tests/kit/tap.h"

enum {
	MANY = 300000
};

static uint64_t time_of(size_t i)
{
	return UINT64_C(5000000000) + i * 1003007 + i % 17;
}

static void same(const struct hlg_moments *a, const struct hlg_moments *b, size_t samples)
{
	size_t n, m;
	struct hlg_moment *x = hlg_moments_sorted(a, samples, &n);
	struct hlg_moment *y = hlg_moments_sorted(b, samples, &m);

	ck_assert_uint_gt(n, 0);
	ck_assert_uint_eq(n, m);
	ck_assert_uint_eq(a->halved, b->halved);
	for (size_t i = 0; i < n; i++) {
		ck_assert_uint_eq(x[i].time, y[i].time);
		ck_assert_uint_eq(x[i].ip, y[i].ip);
		ck_assert(i == 0 || x[i - 1].time <= x[i].time);
	}
	free(x);
	free(y);
}

/* Few, that are all kept, and many; in parts of which one may be small. */
START_TEST(any_order)
{
	static const size_t numbers[] = {1, 1000, HLG_MOMENTS_MOST, MANY};
	static const uint32_t series[] = {0};
	struct hlg_moments once = {0}, back = {0}, parts[3] = {0};
	size_t n = numbers[_i % 4], each = _i < 4 ? 7 : 10000;

	for (size_t i = 0; i < n; i++)
		hlg_moments_add(&once, time_of(i), i, 0);
	for (size_t i = n; i-- > 0;)
		hlg_moments_add(&back, time_of(i), i, 0);
	for (size_t i = 0; i < n; i++)
		hlg_moments_add(&parts[i % each == 0 ? 1 : 2], time_of(i), i, 0);
	hlg_moments_merge(&parts[0], &parts[1], series, NULL);
	hlg_moments_merge(&parts[0], &parts[2], series, NULL);
	ck_assert_uint_le(once.n, HLG_MOMENTS_MOST);
	ck_assert_uint_ge(once.n, n < HLG_MOMENTS_MOST ? n : HLG_MOMENTS_MOST / 3);
	same(&once, &back, n);
	same(&once, &parts[0], n);
	hlg_moments_finish(&once);
	hlg_moments_finish(&back);
	for (int i = 0; i < 3; i++)
		hlg_moments_finish(&parts[i]);
}
END_TEST

START_TEST(moved)
{
	static const uint32_t series[] = {3, 1};
	static const uint64_t moves[] = {0x1000, 0};
	struct hlg_moments from = {0}, to = {0};

	hlg_moments_add(&from, 5, 0x10, 0);
	hlg_moments_add(&from, 6, 0x20, 1);
	hlg_moments_merge(&to, &from, series, moves);
	ck_assert_uint_eq(to.n, 2);
	ck_assert_uint_eq(to.at[0].ip, 0x1010);
	ck_assert_uint_eq(to.at[0].series, 3);
	ck_assert_uint_eq(to.at[1].ip, 0x20);
	ck_assert_uint_eq(to.at[1].series, 1);
	hlg_moments_finish(&from);
	hlg_moments_finish(&to);
}
END_TEST

static void says_nothing(const struct hlg_moments *m, uint64_t samples)
{
	struct hlg_moment *none;
	size_t n = 1;

	none = hlg_moments_sorted(m, samples, &n);
	ck_assert_ptr_nonnull(none);
	ck_assert_uint_eq(n, 0);
	free(none);
}

START_TEST(untimed)
{
	struct hlg_moments few = {0}, many = {0};

	hlg_moments_add(&few, 5, 0x10, 0);
	hlg_moments_add(&few, HLG_NO_TIME, 0x10, 0);
	ck_assert_uint_eq(few.n, 1);
	says_nothing(&few, 2);
	for (size_t i = 0; i < MANY; i++)
		hlg_moments_add(&many, i % 10 ? time_of(i) : HLG_NO_TIME, 0x10, 0);
	says_nothing(&many, MANY);
	hlg_moments_finish(&few);
	hlg_moments_finish(&many);
}
END_TEST

/* Times that were made up, all with the least hash there is. */
START_TEST(crowded)
{
	struct hlg_moments m = {0};

	for (size_t i = 0; i < 2 * HLG_MOMENTS_MOST; i++)
		hlg_moments_add(&m, 0, i, 0);
	ck_assert_uint_eq(m.n, 0);
	says_nothing(&m, UINT64_C(2) * HLG_MOMENTS_MOST);
	hlg_moments_finish(&m);
}
END_TEST

START_TEST(no_memory)
{
	struct hlg_moments m = {0};

	oom_arm(1, true);
	hlg_moments_add(&m, 5, 0x10, 0);
	ck_assert(oom_disarm());
	ck_assert(m.lost);
	hlg_moments_add(&m, 6, 0x10, 0);
	ck_assert_uint_eq(m.n, 0);
	hlg_moments_finish(&m);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("moments");
	TCase *tc = tap_case(suite, "moments");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, any_order, 0, 8);
	tcase_add_test(tc, moved);
	tcase_add_test(tc, untimed);
	tcase_add_test(tc, crowded);
	tcase_add_test(tc, no_memory);
	return tap_main(suite);
}
