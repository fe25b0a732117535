// SPDX-License-Identifier: GPL-2.0-only
/*
 * Builds that ran: none is forgotten in silence, and what recordings tell of an image is
 * the same in whatever order and groups they are added up.
 */
#include <stdio.h>
#include <string.h>

#include "filter/profile/builds.h"
#include "filter/profile/rans.h"
#include "tests/kit/oom.h"
#include "tests/kit/tap.h"

static struct hlg_build build_of(char file[static 16], unsigned number)
{
	struct hlg_build build = {.file = file, .noted = true};

	snprintf(file, 16, "/x/%u.elf", number);
	snprintf(build.print.build_id, sizeof(build.print.build_id), "%08x", number);
	return build;
}

/* Each allocation fails in turn: all are there, or it is said that they are not. */
START_TEST(merged_without_memory)
{
	struct hlg_builds from = {0};
	struct hlg_rans told = {0};
	bool struck = true;
	char file[16];

	for (unsigned i = 0; i < 5; i++) {
		struct hlg_build build = build_of(file, i);

		ck_assert(hlg_builds_add(&from, &build));
		hlg_rans_add(&told, i, HLG_IDENTITY_OTHER, build.file,
			     build.print.build_id);
	}
	for (unsigned n = 1; struck; n++) {
		struct hlg_builds to = {0};
		struct hlg_rans sum = {0};

		oom_arm(n, false);
		hlg_builds_merge(&to, &from);
		hlg_rans_merge(&sum, &told);
		struck = oom_disarm();
		ck_assert_int_eq(to.lost || sum.lost, struck);
		ck_assert(to.lost || to.n == 5);
		ck_assert(sum.lost || (sum.n == 5 && sum.at[4].file));
		hlg_builds_finish(&to);
		hlg_rans_finish(&sum);
	}
	hlg_builds_finish(&from);
	hlg_rans_finish(&told);
}
END_TEST

START_TEST(more_than_are_kept)
{
	struct hlg_builds builds = {0};
	char file[16];

	for (unsigned i = 0; i <= HLG_BUILDS_MAX; i++) {
		struct hlg_build build = build_of(file, i);

		ck_assert_int_eq(builds.more, false);
		ck_assert(hlg_builds_add(&builds, &build));
	}
	ck_assert(builds.more && !builds.lost);
	ck_assert_uint_eq(builds.n, HLG_BUILDS_MAX);
	hlg_builds_finish(&builds);
}
END_TEST

/* A note of before the CRC of code was noted does not hide one that has it. */
START_TEST(code_is_kept)
{
	static const uint32_t codes[][3] = {{0, 7, 0}, {7, 0, 0}, {0, 0, 7}};
	char file[16];

	for (size_t i = 0; i < 3; i++) {
		struct hlg_build build = build_of(file, 1);
		struct hlg_builds builds = {0}, all = {0};

		for (size_t k = 0; k < 3; k++) {
			build.print.code = codes[i][k];
			ck_assert(hlg_builds_add(k < 2 ? &builds : &all, &build));
		}
		hlg_builds_merge(&all, &builds);
		ck_assert_uint_eq(all.n, 1);
		ck_assert_uint_eq(all.at[0].print.code, 7);
		hlg_builds_finish(&builds);
		hlg_builds_finish(&all);
	}
}
END_TEST

static void tell(struct hlg_rans *rans, unsigned which)
{
	switch (which) {
	case 0:
		hlg_rans_add(rans, 0, HLG_IDENTITY_SAME, NULL, NULL);
		hlg_rans_written(rans, 70);
		break;
	case 1:
		hlg_rans_add(rans, 0, HLG_IDENTITY_OTHER, "b.elf", "11");
		hlg_rans_name(rans, 0, "one.data");
		hlg_rans_add(rans, 2, HLG_IDENTITY_SAME, NULL, NULL);
		break;
	default:
		hlg_rans_add(rans, 0, HLG_IDENTITY_OTHER, "a.elf", "22");
		hlg_rans_name(rans, 0, which == 2 ? "two.data" : "three.data");
		hlg_rans_written(rans, 60);
	}
}

START_TEST(any_order_and_groups)
{
	static const unsigned orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
					     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

	for (size_t i = 0; i < 6; i++) {
		struct hlg_rans pair = {0}, all = {0};

		for (size_t k = 0; k < 4; k++) {
			struct hlg_rans one = {0};

			tell(&one, k < 3 ? orders[i][k] : 3);
			if (one.n && one.at[0].in) /* told twice is told once */
				hlg_rans_name(&one, 0, one.at[0].in);
			ck_assert(!one.n || !one.at[0].more_in);
			hlg_rans_merge(k < 2 ? &pair : &all, &one);
			hlg_rans_finish(&one);
		}
		hlg_rans_merge(&all, &pair);
		ck_assert_uint_eq(all.n, 3);
		ck_assert_uint_eq(all.at[0].identities,
				  1u << HLG_IDENTITY_SAME | 1u << HLG_IDENTITY_OTHER);
		ck_assert_str_eq(all.at[0].file, "a.elf");
		ck_assert_str_eq(all.at[0].id, "22");
		ck_assert_str_eq(all.at[0].in, "three.data");
		ck_assert_uint_eq(all.at[0].more_in, 1);
		ck_assert_int_eq(hlg_rans_worst(&all.at[0]), HLG_IDENTITY_OTHER);
		ck_assert_int_eq(hlg_rans_worst(&all.at[1]), HLG_IDENTITY_UNKNOWN);
		ck_assert_int_eq(hlg_rans_worst(&all.at[2]), HLG_IDENTITY_SAME);
		ck_assert_int_eq(all.written, 60);
		hlg_rans_finish(&pair);
		hlg_rans_finish(&all);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("builds");
	TCase *tc = tcase_create("builds");

	suite_add_tcase(suite, tc);
	tcase_add_test(tc, merged_without_memory);
	tcase_add_test(tc, more_than_are_kept);
	tcase_add_test(tc, code_is_kept);
	tcase_add_test(tc, any_order_and_groups);
	return tap_main(suite);
}
