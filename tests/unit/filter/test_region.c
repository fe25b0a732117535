// SPDX-License-Identifier: GPL-2.0-only
/*
 * The regions are the same samples once more, by aligned windows of an image's own
 * addresses. Proved for random samples against an array indexed by window, for every
 * window size; and that a base moves no sample into another region, that images do not
 * share windows, and that what is outside keeps its guest address.
 */
#include "filter/view/region.h"

#include <string.h>

#include "tests/kit/filter.h"
#include "tests/kit/tap.h"

static const struct hlg_region *find(const struct hlg_view *v, const char *path,
				     uint64_t addr)
{
	for (size_t i = 0; i < v->n_regions; i++) {
		const struct hlg_region *r = &v->regions[i];

		if (r->addr == addr &&
		    (path ? r->image && strcmp(r->image->path, path) == 0 : !r->image))
			return r;
	}
	return NULL;
}

enum {
	TEXT = 0x240
};

/* region=1 << _i over random samples of .text */
START_TEST(windows)
{
	uint64_t random = 7, size = UINT64_C(1) << _i, filled = 0;
	uint64_t naive[TEXT] = {0};
	struct hlg_report report;
	struct hlg_run run;
	char words[64];

	kit_guest("guest.elf");
	snprintf(words, sizeof(words), "guest.elf region=%ju", (uintmax_t)size);
	kit_start(&run, words);
	hlg_profile_event(&run.profile, "a", 0);
	for (int i = 0; i < 700; i++) {
		uint64_t off = kit_random(&random, TEXT);

		kit_add(&run, 0, KIT_BASE + 0x1000 + off, 3, 1);
		naive[((0x1000 + off) / size * size - (size > 0x1000 ? 0 : 0x1000)) %
		      TEXT] += 3;
	}
	kit_build(&run, &report);
	kit_check_view(&report.all, size);
	for (uint64_t off = 0; off < TEXT; off++) {
		const struct hlg_region *r = find(&report.all, "guest.elf",
						  off + (size > 0x1000 ? 0 : 0x1000));

		ck_assert_uint_eq(r ? r->count.period : 0, naive[off]);
		filled += naive[off] != 0;
	}
	ck_assert_uint_eq(report.all.n_regions, filled);
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

/* The same samples at two bases: the same regions, to the last count. */
START_TEST(base_does_not_matter)
{
	static const uint64_t bases[] = {0x4000, 0x123456789100};
	struct hlg_report report[2];
	struct hlg_run run[2];

	kit_guest("guest.elf");
	for (int i = 0; i < 2; i++) {
		uint64_t random = 3;
		char words[64];

		snprintf(words, sizeof(words), "guest.elf@0x%jx region=64",
			 (uintmax_t)bases[i]);
		kit_start(&run[i], words);
		hlg_profile_event(&run[i].profile, "a", 0);
		for (int k = 0; k < 1000; k++)
			kit_add(&run[i], 0, bases[i] + 0x1000 + kit_random(&random, TEXT),
				5, 1);
		kit_build(&run[i], &report[i]);
	}
	ck_assert_uint_gt(report[0].all.n_regions, 5);
	ck_assert_uint_eq(report[0].all.n_regions, report[1].all.n_regions);
	for (size_t i = 0; i < report[0].all.n_regions; i++) {
		const struct hlg_region *a = &report[0].all.regions[i],
					*b = &report[1].all.regions[i];

		ck_assert_uint_eq(a->addr, b->addr);
		ck_assert_uint_eq(a->count.samples, b->count.samples);
		ck_assert_uint_eq(a->n_parts, b->n_parts);
	}
	for (int i = 0; i < 2; i++) {
		hlg_report_finish(&report[i]);
		hlg_run_finish(&run[i]);
	}
}
END_TEST

START_TEST(images_apart)
{
	struct hlg_report report;
	struct hlg_run run;

	kit_guest("a.elf");
	kit_guest("b.elf");
	kit_start(&run, "b.elf@0x100000 a.elf@0x200100");
	hlg_profile_event(&run.profile, "a", 0);
	kit_add(&run, 0, 0x101000, 1, 2);
	kit_add(&run, 0, 0x201100, 1, 2);
	kit_add(&run, 0, 0x1400, 1, 2);     /* outside */
	kit_add(&run, 0, 0xfffff000, 1, 5); /* outside */
	kit_build(&run, &report);
	kit_check_view(&report.all, 1024);
	ck_assert_uint_eq(report.all.n_regions, 4);
	ck_assert_ptr_eq(&report.all.regions[0], find(&report.all, NULL, 0xfffff000));
	/* Alike in weight: by image's name, what is in none last. */
	ck_assert_ptr_eq(&report.all.regions[1], find(&report.all, "a.elf", 0x1000));
	ck_assert_ptr_eq(&report.all.regions[2], find(&report.all, "b.elf", 0x1000));
	ck_assert_ptr_eq(&report.all.regions[3], find(&report.all, NULL, 0x1400));
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

/* What is in a window: the rows, heaviest first, a stretched gap where its bytes are. */
START_TEST(parts)
{
	struct hlg_report report;
	struct hlg_run run;
	const struct hlg_region *r;
	const struct hlg_region_part *part;

	kit_guest("guest.elf");
	kit_start(&run, "guest.elf region=64 gaps=stretch");
	hlg_profile_event(&run.profile, "a", 0);
	kit_add(&run, 0, KIT_BASE + 0x1000, 1, 2); /* entrypoint */
	kit_add(&run, 0, KIT_BASE + 0x1024, 1, 6); /* dispatch */
	kit_add(&run, 0, KIT_BASE + 0x1058, 1, 3); /* the gap behind it: 0x1040 */
	kit_add(&run, 0, KIT_BASE + 0x1060, 1, 4); /* compute: 0x1040 too */
	kit_build(&run, &report);
	kit_check_view(&report.all, 64);
	ck_assert_uint_eq(report.all.n_regions, 2);
	r = find(&report.all, "guest.elf", 0x1000);
	ck_assert_uint_eq(r->n_parts, 2);
	part = &report.all.parts[r->first_part];
	ck_assert_str_eq(report.all.rows[part[0].row].name, "dispatch");
	ck_assert_uint_eq(part[0].count.samples, 6);
	ck_assert_str_eq(report.all.rows[part[1].row].name, "entrypoint");
	r = find(&report.all, "guest.elf", 0x1040);
	ck_assert_uint_eq(r->n_parts, 2);
	part = &report.all.parts[r->first_part];
	ck_assert_str_eq(report.all.rows[part[0].row].name, "compute");
	ck_assert_str_eq(report.all.rows[part[1].row].name, "dispatch");
	ck_assert_uint_eq(part[1].count.samples, 3);
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

/* As wide as the view's samples are worth. */
START_TEST(intervals)
{
	struct hlg_report report;
	struct hlg_view *view = &report.all;
	struct hlg_run run;
	struct hlg_err err;

	kit_guest("guest.elf");
	kit_start(&run, "guest.elf region=0");
	hlg_profile_event(&run.profile, "a", 0);
	for (uint64_t i = 0; i < 500; i++)
		kit_add(&run, 0, KIT_BASE + 0x1000 + i, 1, 2);
	kit_build(&run, &report);
	view->design = 4;
	ck_assert_int_eq(hlg_region_build(view, 64, &err), 0);
	ck_assert_uint_gt(view->n_regions, 4);
	for (size_t i = 0; i < view->n_regions; i++) {
		const struct hlg_share *share = &view->regions[i].share;
		struct hlg_share right = hlg_interval_wilson(share->share, 1000 / 4.);

		ck_assert_double_eq(share->low, right.low);
		ck_assert_double_eq(share->high, right.high);
	}
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("region");
	TCase *tc = tap_case(suite, "region");

	tcase_add_checked_fixture(tc, kit_enter, kit_leave);
	tcase_add_loop_test(tc, windows, 0, 16);
	tcase_add_test(tc, base_does_not_matter);
	tcase_add_test(tc, images_apart);
	tcase_add_test(tc, parts);
	tcase_add_test(tc, intervals);
	return tap_main(suite);
}
