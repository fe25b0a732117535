// SPDX-License-Identifier: GPL-2.0-only
/* Each series has its stacks of guests, in their order, and no others'; also none. */
#include "filter/stacks/by-series.h"

#include <stdlib.h>

#include "tests/kit/oom.h"
#include "tests/kit/tap.h"

enum {
	N = 500,
	SERIES = 40 /* of which each third has none */
};

static void make(struct hlg_stack stacks[static N], unsigned seed)
{
	srand(seed);
	for (uint32_t i = 0; i < N; i++)
		stacks[i] = (struct hlg_stack){
			.guest = rand() % 4 != 0,
			.series = (uint32_t)(rand() % SERIES) / 3 * 3 + rand() % 2};
}

START_TEST(partition)
{
	static struct hlg_stack all[N];
	struct hlg_node node = {.frame = HLG_FRAME_NOTE};
	const struct hlg_stacks stacks = {
		.stacks = all, .n_stacks = N, .tree = {.nodes = &node}};
	struct hlg_by_series by;
	size_t found = 0, guests = 0;

	make(all, (unsigned)_i);
	ck_assert(hlg_by_series_make(&by, &stacks));
	for (uint32_t i = 0; i < N; i++)
		guests += all[i].guest;
	for (uint32_t series = 0; series < SERIES + 3; series++) {
		size_t n, k = 0;
		const struct hlg_by_series_stack *of = hlg_by_series_of(&by, series, &n);

		for (uint32_t i = 0; i < N; i++)
			if (all[i].guest && all[i].series == series) {
				ck_assert_uint_lt(k, n);
				ck_assert_uint_eq(of[k++].number, i);
			}
		ck_assert_uint_eq(k, n);
		found += n;
	}
	ck_assert_uint_eq(found, guests);
	hlg_by_series_finish(&by);
	ck_assert_uint_eq(by.n, 0);
}
END_TEST

START_TEST(nothing)
{
	const struct hlg_stacks stacks = {.n_stacks = 0};
	struct hlg_by_series by;
	size_t n;
	bool made;

	oom_arm(1, true);
	made = hlg_by_series_make(&by, &stacks);
	oom_disarm();
	ck_assert(!made);
	ck_assert(hlg_by_series_make(&by, &stacks));
	hlg_by_series_of(&by, 0, &n);
	ck_assert_uint_eq(n, 0);
	hlg_by_series_finish(&by);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("by-series");
	TCase *tc = tap_case(suite, "by-series");

	tcase_add_loop_test(tc, partition, 0, 20);
	tcase_add_test(tc, nothing);
	return tap_main(suite);
}
