// SPDX-License-Identifier: GPL-2.0-only
/* Where vCPUs began, and the bases that follow: filter/profile/starts.h,
 * trust/base-kvm.h. */
#include <stdlib.h>
#include <string.h>

#include "filter/trust/base-kvm.h"
#include "filter/trust/base-search.h"
#include "tests/kit/filter.h"
#include "tests/kit/tap.h"

static struct hlg_starts s;

static void add(uint64_t ip, int32_t tid, bool halt)
{
	hlg_starts_add(&s, (struct hlg_start){.ip = ip, .tid = tid, .halt = halt});
}

START_TEST(the_first_counts)
{
	struct hlg_starts other = {0};

	s = other;
	add(0x5000, 1, false);
	add(0x6000, 1, false); /* that thread has entered */
	add(0x6000, 2, false);
	add(0x5000, 1, true); /* halted, not entered */
	add(0x5000, 2, true); /* another thread's */
	add(0x5000, 2, true); /* the same again */
	add(0xfff, 2, true);
	add(0x7fffffff, 1, true);
	add(UINT64_C(0xffffff10), 1, true);
	ck_assert_uint_eq(s.n, 4);
	ck_assert_uint_eq(s.at[0].times, 1);
	ck_assert_uint_eq(s.at[2].times, 1);
	ck_assert_uint_eq(s.at[3].times, 2);
	hlg_starts_add(&other, (struct hlg_start){.ip = 0x5000, .tid = 2, .halt = true});
	hlg_starts_add(&other, (struct hlg_start){.ip = 0x7000, .tid = 2});
	hlg_starts_add(&other, (struct hlg_start){.ip = 0x7000, .tid = 3});
	hlg_starts_merge(&s, &other);
	ck_assert_uint_eq(s.n, 5);
	ck_assert_uint_eq(s.at[3].times, 3); /* another part of the recording */
	ck_assert_uint_eq(s.at[4].ip, 0x7000);
	hlg_starts_end(&other);
	hlg_starts_end(&s);
	ck_assert_uint_eq(s.n, 5);
	hlg_starts_merge(&s, &other);
	ck_assert_uint_eq(s.n, 5);
	ck_assert_uint_eq(s.at[3].times, 3); /* another recording: not the same thread */
	/* The next recording's threads are others, though they begin where one did. */
	add(0x5000, 1, false);
	add(0x8000, 1, false);
	add(0x5000, 2, true);
	ck_assert_uint_eq(s.n, 7);
	ck_assert_uint_eq(s.at[3].times, 3);
	hlg_starts_end(&s);
	ck_assert_uint_eq(s.n, 5);
	ck_assert(!s.full);
	for (int32_t tid = 10; tid < 10 + HLG_STARTS; tid++)
		add(0x1000, tid, false);
	ck_assert(s.full);
	ck_assert_uint_eq(s.n, HLG_STARTS);
	hlg_starts_finish(&other);
	hlg_starts_merge(&other, &s);
	ck_assert(other.full);
	hlg_starts_finish(&other);
	hlg_starts_finish(&s);
}
END_TEST

static void enter(uint64_t ip, int32_t tid, uint32_t sandbox, uint64_t time)
{
	hlg_starts_add(&s,
		       (struct hlg_start){
			       .ip = ip, .tid = tid, .sandbox = sandbox, .time = time});
}

START_TEST(the_first_of_each_sandbox_counts)
{
	struct hlg_starts other = {0};

	s = other;
	enter(0x5000, 1, 1, 100);
	enter(0x6000, 1, 1, 200);
	enter(0x7000, 1, 2, 300); /* on the same thread */
	enter(0x8000, 2, 2, 250); /* was before, on another CPU */
	ck_assert_uint_eq(s.n, 2);
	ck_assert_uint_eq(s.at[0].ip, 0x5000);
	ck_assert_uint_eq(s.at[1].ip, 0x8000);
	/* Another part of the recording. */
	hlg_starts_add(&other,
		       (struct hlg_start){.ip = 0x9000, .sandbox = 1, .time = 400});
	hlg_starts_merge(&s, &other);
	ck_assert_uint_eq(s.n, 2);
	/* Another recording, and its sandbox 1. */
	hlg_starts_end(&s);
	hlg_starts_end(&other);
	hlg_starts_merge(&s, &other);
	enter(0xa000, 1, 1, 10);
	enter(0xb000, 1, 1, 20);
	ck_assert_uint_eq(s.n, 4);
	ck_assert_uint_eq(s.at[2].ip, 0x9000);
	ck_assert_uint_eq(s.at[3].ip, 0xa000);
	hlg_starts_finish(&other);
	hlg_starts_finish(&s);
}
END_TEST

/* At own addresses [0, 0x2000): e_entry 0x1280. */
static struct hlg_image *open_image(void)
{
	struct hlg_image *image;
	struct hlg_err err;

	ck_assert_int_eq(hlg_image_open_elf(&image, DATA "/demo.elf", &err), 0);
	ck_assert_uint_eq(image->elf.entry, 0x1280);
	return image;
}

START_TEST(bases_are_whole_pages)
{
	struct hlg_image *image = open_image();
	struct hlg_base_kvm bases;

	ck_assert(hlg_base_kvm_find(image, &s, &bases));
	ck_assert_uint_eq(bases.n, 0);
	add(0x5281, 1, false);         /* not a page from it */
	add(0x280, 2, false);          /* below what it can have */
	add(0x5280, 3, true);          /* halts are dispatch_function's, which it lacks */
	add(UINT64_MAX - 1, 4, false); /* it would wrap */
	ck_assert(hlg_base_kvm_find(image, &s, &bases));
	ck_assert_uint_eq(bases.n, 0);
	hlg_base_kvm_finish(&bases);
	add(0x105280, 7, false);
	add(0x5280, 5, false);
	add(0x5280, 6, false);
	ck_assert(hlg_base_kvm_find(image, &s, &bases));
	ck_assert_uint_eq(bases.n, 2);
	ck_assert_uint_eq(bases.at[0], 0x4000 + image->first);
	ck_assert_uint_eq(bases.at[1], 0x104000 + image->first);
	ck_assert_uint_eq(bases.left_out, 0);
	hlg_base_kvm_finish(&bases);
	for (int32_t i = 0; i < HLG_BASE_KVM_MAX; i++)
		add(0x205280 + (uint64_t)i * 0x1000, 8 + i, false);
	ck_assert(hlg_base_kvm_find(image, &s, &bases));
	ck_assert_uint_eq(bases.n, HLG_BASE_KVM_MAX);
	ck_assert_uint_eq(bases.left_out, 2);
	hlg_base_kvm_finish(&bases);
	hlg_starts_finish(&s);
	hlg_image_destroy(image);
}
END_TEST

static int place(struct hlg_image *image, bool keep, bool *placed)
{
	struct hlg_space space = {.images = &image, .n_images = 1};
	struct hlg_err err;

	return hlg_base_kvm_place(&space, &s, keep, placed, &err);
}

START_TEST(who_is_believed)
{
	struct hlg_image *image = open_image();
	char *warning;
	struct hlg_err err;
	bool placed;

	add(0x5280, 1, false);
	/* None so far; agreed; the file; kept; stated. */
	ck_assert_int_eq(place(image, false, &placed), 0);
	ck_assert(placed && image->from == HLG_BASE_KVM && image->base == 0x4000);
	hlg_image_set_base(image, 0x4000, HLG_BASE_NOTE, &err);
	ck_assert_int_eq(place(image, false, &placed), 0);
	ck_assert(!placed && image->from == HLG_BASE_NOTE && !image->kvm_differs);
	hlg_image_set_base(image, 0x1000, HLG_BASE_NOTE, &err);
	ck_assert_int_eq(place(image, true, &placed), 0);
	ck_assert(!placed && image->base == 0x1000 && image->kvm_differs);
	image->kvm_differs = false;
	ck_assert_int_eq(place(image, false, &placed), 0);
	ck_assert(placed && image->base == 0x4000 && image->refused == 0x1000);
	ck_assert_int_eq(image->refused_from, HLG_BASE_NOTE);
	hlg_image_set_base(image, 0x9000, HLG_BASE_STATED, &err);
	ck_assert_int_eq(place(image, false, &placed), 0);
	ck_assert(!placed && image->base == 0x9000 && image->kvm_differs);
	ck_assert_uint_eq(image->kvm_base, 0x4000);
	/* Two sandboxes; and two that would lie in one another. */
	hlg_image_clear_base(image);
	add(0x105280, 2, false);
	ck_assert_int_eq(place(image, false, &placed), 0);
	ck_assert_uint_eq(hlg_image_n_bases(image), 2);
	hlg_image_clear_base(image);
	image->refused_from = HLG_BASE_NONE;
	add(0x5280 + 0x1000, 3, false);
	ck_assert_int_eq(place(image, false, &placed), 0);
	ck_assert(placed && hlg_image_n_bases(image) == 2 && image->base == 0x4000);
	ck_assert(hlg_image_lies_at(image, 0x104000));
	ck_assert(image->kvm_overlaps && image->kvm_base == 0x4000);
	ck_assert_uint_eq(image->kvm_other, 0x5000);
	ck_assert(hlg_base_search_differs(image));
	warning = hlg_base_search_warning(image);
	ck_assert_ptr_nonnull(strstr(warning,
				     "a guest at 0x4000 and one at 0x5000, which "
				     "overlap; 0x4000 is used (name both, "));
	free(warning);
	/* The file has the other. */
	hlg_image_set_base(image, 0x5000, HLG_BASE_NOTE, &err);
	ck_assert_int_eq(place(image, false, &placed), 0);
	ck_assert(placed && image->from == HLG_BASE_KVM && image->base == 0x5000);
	ck_assert(hlg_image_n_bases(image) == 2 && image->refused_from == HLG_BASE_NONE);
	ck_assert(image->kvm_base == 0x5000 && image->kvm_other == 0x4000);
	/* It has the last of them. */
	hlg_image_set_base(image, 0x104000, HLG_BASE_NOTE, &err);
	ck_assert_int_eq(place(image, false, &placed), 0);
	ck_assert(placed && image->base == 0x4000);
	ck_assert(hlg_image_n_bases(image) == 2 && image->refused_from == HLG_BASE_NONE);
	/* One in another, and no third. */
	hlg_starts_finish(&s);
	add(0x6280, 1, false);
	add(0x5280, 2, false);
	hlg_image_set_base(image, 0x5000, HLG_BASE_NOTE, &err);
	ck_assert_int_eq(place(image, false, &placed), 0);
	ck_assert(!placed && image->from == HLG_BASE_NOTE && image->base == 0x5000);
	ck_assert(image->kvm_base == 0x5000 && image->kvm_other == 0x4000);
	/* What the samples had refused. */
	hlg_image_set_base(image, 0x9000, HLG_BASE_FOUND, &err);
	image->refused_from = HLG_BASE_KVM;
	ck_assert_int_eq(place(image, false, &placed), 0);
	ck_assert(!placed && image->base == 0x9000);
	hlg_starts_finish(&s);
	hlg_image_destroy(image);
}
END_TEST

/* Where the image lay before, if anywhere, and where KVM's records have it, which is six
 * pages long. */
static const struct {
	uint64_t base;
	enum hlg_base_from from;
	uint64_t recorded[3], expected[3];
	uint64_t in_the_way, other; /* what is told to overlap; 0: nothing is */
} overlaps[] = {
	/* The one kept before it counts. */
	{0,
	 HLG_BASE_NONE,
	 {0x4000, 0x24000, 0x25000},
	 {0x4000, 0x24000},
	 0x24000,
	 0x25000},
	{0, HLG_BASE_NONE, {0x4000, 0x8000, 0xc000}, {0x4000, 0xc000}, 0x4000, 0x8000},
	/* Or the one that it has, on both sides of it. */
	{0xa000, HLG_BASE_NOTE, {0x6000, 0xa000, 0xe000}, {0xa000}, 0xa000, 0x6000},
	{0xa000,
	 HLG_BASE_NOTE,
	 {0x2000, 0xa000, 0xe000},
	 {0x2000, 0xa000},
	 0xa000,
	 0xe000},
	/* What samples of guests, one by one, have found is in the way of what is not. */
	{0xa000, HLG_BASE_FOUND, {0x6000}, {0xa000}, 0, 0},
	{0xa000, HLG_BASE_FOUND, {0xe000}, {0xa000}, 0, 0},
	{0xa000,
	 HLG_BASE_FOUND,
	 {0xc000, 0x10000, 0x14000},
	 {0xa000, 0x14000},
	 0xc000,
	 0x10000},
	{0xa000, HLG_BASE_FOUND, {0x2000, 0x12000}, {0xa000, 0x2000, 0x12000}, 0, 0},
};

START_TEST(one_of_those_that_overlap_stays)
{
	struct hlg_image *image = open_image();
	struct hlg_err err;
	bool placed;
	size_t n = 0;

	if (overlaps[_i].from != HLG_BASE_NONE)
		hlg_image_set_base(image, overlaps[_i].base, overlaps[_i].from, &err);
	for (int i = 0; i < 3; i++)
		if (overlaps[_i].recorded[i])
			add(overlaps[_i].recorded[i] + 0x1280, i, false);
	ck_assert_int_eq(place(image, false, &placed), 0);
	for (; n < 3 && overlaps[_i].expected[n]; n++) {
		ck_assert_uint_gt(hlg_image_n_bases(image), n);
		ck_assert_uint_eq(hlg_image_base(image, n).base,
				  overlaps[_i].expected[n]);
	}
	ck_assert_uint_eq(hlg_image_n_bases(image), n);
	ck_assert(image->kvm_overlaps == (overlaps[_i].other != 0));
	if (overlaps[_i].other) {
		ck_assert_uint_eq(image->kvm_base, overlaps[_i].in_the_way);
		ck_assert_uint_eq(image->kvm_other, overlaps[_i].other);
	}
	hlg_starts_finish(&s);
	hlg_image_destroy(image);
}
END_TEST

/* A real guest, whose dispatch_function is at 0x35910 of its own. */
START_TEST(threads_with_several_sandboxes)
{
	struct hlg_base_kvm_shared shared;
	struct hlg_image *image;
	struct hlg_space space = {0};
	struct hlg_err err;

	ck_assert_int_eq(hlg_image_open_elf(&image, DATA "/hyperlight/guest.elf", &err),
			 0);
	ck_assert_int_eq(hlg_space_add(&space, image, &err), 0);
	hlg_image_set_base(image, 0x4000, HLG_BASE_KVM, &err);
	ck_assert_int_eq(hlg_space_arrange(&space, &err), 0);
	add(0x39910, 7, true);
	add(0x39914, 7, true); /* what else the register held */
	add(0x39914, 7, true);
	add(0x39910, 7, false); /* not halted with */
	add(0x39910, 8, true);
	shared = hlg_base_kvm_shared(&space, &s);
	ck_assert_uint_eq(shared.threads, 0);
	ck_assert_uint_eq(shared.sandboxes, 0);
	add(0x39910, 8, true);
	shared = hlg_base_kvm_shared(&space, &s);
	ck_assert_uint_eq(shared.threads, 1);
	ck_assert_uint_eq(shared.sandboxes, 2);
	ck_assert_int_eq(shared.tid, 8);
	/* At two bases in one thread, and once more. */
	hlg_image_add_base(image, 0x304000, &err);
	ck_assert_int_eq(hlg_space_arrange(&space, &err), 0);
	add(0x339910, 7, true);
	add(0x339910, 7, true);
	shared = hlg_base_kvm_shared(&space, &s);
	ck_assert_uint_eq(shared.threads, 2);
	ck_assert_uint_eq(shared.sandboxes, 5);
	ck_assert_int_eq(shared.tid, 7);
	hlg_starts_finish(&s);
	hlg_space_finish(&space);
}
END_TEST

/* Those that are told apart are not reported as one. */
START_TEST(told_apart)
{
	struct hlg_report r;
	struct hlg_run run;
	bool told = false;

	kit_start(&run, DATA "/hyperlight/guest.elf@0x4000");
	hlg_profile_event(&run.profile, "a", 0);
	kit_add(&run, 0, 0x39910, 1, 1);
	for (int i = 0; i < 2; i++)
		hlg_starts_add(&run.profile.starts,
			       (struct hlg_start){.ip = 0x39910, .tid = 7, .halt = true});
	if (_i)
		ck_assert(hlg_sandboxes_add(&run.profile.sandboxes, 1, 5));
	kit_build(&run, &r);
	for (size_t i = 0; i < r.notes.n; i++)
		told |= strstr(r.notes.line[i], "2 sandboxes ran on thread 7, and") !=
			NULL;
	ck_assert_int_eq(told, !_i);
	hlg_report_finish(&r);
	hlg_run_finish(&run);
}
END_TEST

/* Of several recordings a call was halted with as often as in that which had most. */
START_TEST(most_times)
{
	const int times[2][2] = {{3, 1}, {1, 3}};
	struct hlg_starts sum = {0};

	for (int i = 0; i < 2; i++) {
		s = (struct hlg_starts){0};
		for (int k = 0; k < times[_i][i]; k++)
			add(0x39910, 7, true);
		hlg_starts_end(&s);
		hlg_starts_merge(&sum, &s);
		hlg_starts_finish(&s);
	}
	ck_assert_uint_eq(sum.n, 1);
	ck_assert_uint_eq(sum.at[0].times, 3);
	hlg_starts_finish(&sum);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("starts");
	TCase *tc = tap_case(suite, "starts");

	tcase_add_test(tc, the_first_counts);
	tcase_add_test(tc, the_first_of_each_sandbox_counts);
	tcase_add_test(tc, bases_are_whole_pages);
	tcase_add_test(tc, who_is_believed);
	tcase_add_loop_test(tc, one_of_those_that_overlap_stays, 0,
			    sizeof(overlaps) / sizeof(overlaps[0]));
	tcase_add_test(tc, threads_with_several_sandboxes);
	tcase_add_loop_test(tc, told_apart, 0, 2);
	tcase_add_loop_test(tc, most_times, 0, 2);
	return tap_main(suite);
}
