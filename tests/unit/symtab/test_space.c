// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that several images share one guest: each address goes to the image that lies
 * there, through that image's own bias; images may lie in each other's holes but not on
 * each other's bytes, and then both are named; the last byte of memory can be one of an
 * image; and a space can be settled again after a base was changed. An image may lie at
 * several bases at once; and one that has none is nowhere until that is decided. The
 * order of images decides nothing.
 */
#include "symtab/image/space.h"

#include <stdio.h>
#include <string.h>

#include "symtab/image/image-bases.h"
#include "tests/kit/mkelf-guest.h"
#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"

static struct hlg_space space;
static struct hlg_err err;

static void setup(void)
{
	memset(&space, 0, sizeof(space));
}

static void teardown(void)
{
	hlg_space_finish(&space);
	hlg_space_finish(&space); /* twice does no harm */
}

static struct hlg_image *take(struct hlg_image *image)
{
	ck_assert_int_eq(hlg_space_add(&space, image, &err), 0);
	return image;
}

/* The one guest of all tests, linked at addr, into the space. */
static struct hlg_image *add_guest(const char *name, uint64_t addr)
{
	struct mkelf_guest guest;
	struct hlg_image *image;
	int rc;

	mkelf_guest_init(&guest, addr);
	rc = hlg_image_open_elf(&image, scratch_elf(name, &guest.elf), &err);
	ck_assert_msg(rc == 0, "%s", err.msg);
	return take(image);
}

static struct hlg_image *add_map(const char *name, const char *text)
{
	struct hlg_image *image;
	int rc =
		hlg_image_open_map(&image, scratch_write(name, text, strlen(text)), &err);

	ck_assert_msg(rc == 0, "%s", err.msg);
	return take(image);
}

static void put(struct hlg_image *image, uint64_t base)
{
	int rc = hlg_image_set_base(image, base, HLG_BASE_STATED, &err);

	ck_assert_msg(rc == 0, "%s", err.msg);
}

static void settle(void)
{
	int rc = hlg_space_settle(&space, &err);

	ck_assert_msg(rc == 0, "%s", err.msg);
}

static void expect(uint64_t ip, const struct hlg_image *image, uint64_t addr,
		   const char *name)
{
	struct hlg_place p;

	hlg_space_lookup(&space, ip, &p);
	ck_assert_ptr_eq(p.image, image);
	ck_assert_uint_eq(p.addr, addr);
	ck_assert_pstr_eq(p.symbol ? hlg_image_name(image, p.symbol) : NULL, name);
	if (!image)
		ck_assert_int_eq(p.kind, HLG_OUTSIDE);
}

static void expect_outside(uint64_t ip)
{
	expect(ip, NULL, ip, NULL);
}

static void expect_overlap(const char *format, const char *one, const char *other)
{
	char one_path[512], other_path[512];
	struct hlg_err want;

	snprintf(one_path, sizeof(one_path), "%s", scratch_path(one));
	snprintf(other_path, sizeof(other_path), "%s", scratch_path(other));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	hlg_err_set(&want, HLG_EINPUT, format, one_path, other_path);
#pragma GCC diagnostic pop
	ck_assert_int_eq(hlg_space_settle(&space, &err), HLG_EINPUT);
	ck_assert_str_eq(err.msg, want.msg);
}

START_TEST(an_empty_space_is_all_outside)
{
	settle();
	expect_outside(0);
	expect_outside(0x1000);
	expect_outside(UINT64_MAX);
}
END_TEST

START_TEST(each_image_has_its_addresses)
{
	struct hlg_image *high = add_guest("high.elf", 0x400000);
	struct hlg_image *low = add_guest("low.elf", 0);
	struct hlg_image *jit = add_map("jit.map", "900000 10 jitted\n");

	put(high, 0x20000);
	put(low, 0x10000);
	settle();
	ck_assert_int_eq(jit->from, HLG_BASE_MAP);
	expect_outside(0xffff);
	expect(0x10000, low, 0, NULL);
	expect(0x11000, low, 0x1000, "entrypoint");
	expect(0x111ff, low, 0x11ff, NULL);
	expect_outside(0x11240); /* a hole between its segments */
	expect(0x1310f, low, 0x310f, NULL);
	expect_outside(0x13110);
	expect_outside(0x1ffff);
	expect(0x20000, high, 0x400000, NULL);
	expect(0x21070, high, 0x401070, "compute");
	expect_outside(0x8fffff);
	expect(0x900000, jit, 0x900000, "jitted");
	expect_outside(0x900010);
	expect_outside(UINT64_MAX);
}
END_TEST

START_TEST(undecided_bases_are_decided)
{
	struct hlg_image *image = add_guest("guest.elf", 0x400000);

	settle();
	ck_assert_int_eq(image->from, HLG_BASE_NOTE);
	expect(0x4000, image, 0x400000, NULL);
	expect(0x5000, image, 0x401000, "entrypoint");
}
END_TEST

static struct hlg_image *add_unnoted(const char *name)
{
	struct mkelf_guest guest;
	struct hlg_image *image;

	mkelf_guest_init(&guest, 0);
	guest.elf.version = NULL;
	ck_assert_int_eq(hlg_image_open_elf(&image, scratch_elf(name, &guest.elf), &err),
			 0);
	return take(image);
}

/* Where two would be assumed to lie, or another does, neither is, in any order; one that
 * is stated goes before, and what nobody contests stays. */
START_TEST(what_is_contested_is_left_out)
{
	static const enum hlg_base_from from[][3] = {
		{HLG_BASE_NONE, HLG_BASE_NONE, HLG_BASE_STATED},
		{HLG_BASE_DEFAULT, HLG_BASE_STATED, HLG_BASE_STATED},
		{HLG_BASE_NONE, HLG_BASE_STATED, HLG_BASE_STATED},
		{HLG_BASE_NONE, HLG_BASE_NONE, HLG_BASE_STATED},
	};
	static const uint64_t stated[][3] = {
		{0, 0, 0x9000},
		{0, 0x9000, 0x20000},
		{0, 0x1000, 0x9000},
		{0, 0, 0x3000},
	};

	for (int order = 0; order < 3; order++) {
		for (int i = 0; i < 3; i++) {
			int of = (i + order) % 3;
			struct hlg_image *image = add_unnoted("guest.elf");

			if (stated[_i][of])
				put(image, stated[_i][of]);
		}
		settle();
		for (int i = 0; i < 3; i++)
			ck_assert_int_eq(space.images[i]->from,
					 from[_i][(i + order) % 3]);
		hlg_space_finish(&space);
	}
}
END_TEST

START_TEST(images_lie_in_each_others_holes)
{
	struct hlg_image *a = add_guest("a.elf", 0), *b = add_guest("b.elf", 0);

	put(a, 0x10000);
	put(b, 0x10200); /* its first segment where a's ends, its code where a's is not */
	expect_overlap(
		"%s@0x10200: overlaps %s@0x10000 at 0x11200 (name one; "
		"hlguest report, annotate, diff, exits, flame, lookup and windows "
		"take both; inject takes one at a time)",
		"b.elf", "a.elf");
	put(b, 0x10240);
	settle();
	expect(0x101ff, a, 0x1ff, NULL);
	expect_outside(0x10200);
	expect(0x10240, b, 0, NULL);
	expect(0x1123f, a, 0x123f, NULL);
	expect(0x11240, b, 0x1000, "entrypoint");
	expect(0x13000, a, 0x3000, NULL);
	expect(0x13240, b, 0x3000, NULL);
}
END_TEST

START_TEST(overlaps_name_both)
{
	struct hlg_image *a = add_guest("a.elf", 0), *b = add_map("b.map", "0 1 x\n");

	put(a, 0x10000);
	put(b, 0x1123f);
	expect_overlap(
		"%s@0x1123f: overlaps %s@0x10000 at 0x1123f (state where they lie as "
		"FILE@ADDR, or name one)",
		"b.map", "a.elf");
	put(b, 0x11240);
	settle();
	put(b, 0x10fff);
	settle();
	put(b, 0x11000);
	ck_assert_int_eq(hlg_space_settle(&space, &err), HLG_EINPUT);
	ck_assert_ptr_nonnull(strstr(err.msg, "/a.elf@0x10000"));
	ck_assert_ptr_nonnull(strstr(err.msg, "/b.map@0x11000"));
}
END_TEST

/* The one that begins first need not be the one before in the list of ranges. */
START_TEST(overlaps_are_found_in_long_ranges)
{
	add_map("long.map", "1000 100000 long\n");
	add_map("other.map", "80000 10 other\n");
	expect_overlap("%s@0x0: overlaps %s@0x0 at 0x80000 (state where they lie as "
		       "FILE@ADDR, or name one)",
		       "other.map", "long.map");
}
END_TEST

START_TEST(the_last_byte_of_memory_is_used)
{
	struct hlg_image *image = add_guest("guest.elf", 0);
	struct hlg_image *map = add_map("low.map", "0 10 zero\n");

	put(image, -UINT64_C(0x3110));
	settle();
	expect(UINT64_MAX, image, 0x310f, NULL);
	expect(-UINT64_C(0x3110), image, 0, NULL);
	expect(-UINT64_C(0x3110) + 0x1000, image, 0x1000, "entrypoint");
	expect_outside(-UINT64_C(0x3111));
	expect(0, map, 0, "zero");
	expect(0xf, map, 0xf, "zero");
	put(map, -UINT64_C(0x10));
	expect_overlap("%s@0xfffffffffffffff0: overlaps %s@0xffffffffffffcef0 at "
		       "0xfffffffffffffff0 (state where they lie as "
		       "FILE@ADDR, or name one)",
		       "low.map", "guest.elf");
}
END_TEST

START_TEST(bases_past_the_end_are_refused)
{
	struct hlg_image *image = add_guest("guest.elf", 0);

	ck_assert_int_eq(hlg_image_set_base(image, UINT64_MAX, HLG_BASE_STATED, &err),
			 HLG_EINPUT);
	ck_assert_ptr_nonnull(strstr(err.msg, "/guest.elf: its 12560 bytes at base "
					      "0xffffffffffffffff pass the end of memory "
					      "(give a lower base)"));
}
END_TEST

START_TEST(settling_again_follows_the_bases)
{
	struct hlg_image *a = add_guest("a.elf", 0), *b = add_guest("b.elf", 0);

	put(a, 0x10000);
	put(b, 0x20000);
	settle();
	expect(0x11000, a, 0x1000, "entrypoint");
	put(a, 0x30000);
	settle();
	expect_outside(0x11000);
	expect(0x31000, a, 0x1000, "entrypoint");
	expect(0x21000, b, 0x1000, "entrypoint");
	put(a, 0x20000);
	ck_assert_int_eq(hlg_space_settle(&space, &err), HLG_EINPUT);
	put(b, 0x10000);
	settle();
	expect(0x11000, b, 0x1000, "entrypoint");
	expect(0x21000, a, 0x1000, "entrypoint");
	settle();
	expect(0x21000, a, 0x1000, "entrypoint");
}
END_TEST

START_TEST(many_images_are_told_apart)
{
	enum {
		N = 50
	};
	struct hlg_image *images[N];

	for (uint64_t i = 0; i < N; i++) {
		images[i] = add_guest("guest.elf", 0);
		put(images[i], (i * 7 % N) << 16);
	}
	settle();
	for (uint64_t i = 0; i < N; i++) {
		uint64_t base = (i * 7 % N) << 16;

		expect(base + 0x1000, images[i], 0x1000, "entrypoint");
		expect(base + 0x310f, images[i], 0x310f, NULL);
		expect_outside(base + 0x3110);
		expect_outside(base + 0xffff);
	}
}
END_TEST

static void put_also(struct hlg_image *image, uint64_t base)
{
	int rc = hlg_image_add_base(image, base, &err);

	ck_assert_msg(rc == 0, "%s", err.msg);
}

/* In each other's holes, too, and up to the last byte of memory. */
START_TEST(an_image_lies_at_all_its_bases)
{
	struct hlg_image *a = add_guest("a.elf", 0x400000), *b = add_guest("b.elf", 0);
	static const uint64_t bases[] = {0x30000, 0x10000, 0x10240, -UINT64_C(0x3110)};

	put(a, bases[0]);
	for (int i = 1; i < 4; i++)
		put_also(a, bases[i]);
	put(b, 0x20000);
	settle();
	for (int i = 0; i < 4; i++) {
		expect(bases[i], a, 0x400000, NULL);
		expect(bases[i] + 0x1000, a, 0x401000, "entrypoint");
		expect(bases[i] + 0x1070, a, 0x401070, "compute");
		expect(bases[i] + 0x310f, a, 0x40310f, NULL);
	}
	expect(0x21070, b, 0x1070, "compute");
	expect_outside(0x40000 + 0x1070);
	expect_outside(0xffff);
	expect_outside(-UINT64_C(0x3111));
}
END_TEST

START_TEST(overlaps_name_the_base)
{
	struct hlg_image *a = add_guest("a.elf", 0), *b = add_guest("b.elf", 0);

	put(a, 0x10000);
	put_also(a, 0x50000);
	put(b, 0x80000);
	put_also(b, 0x51000); /* its head on the code of a */
	expect_overlap(
		"%s@0x51000: overlaps %s@0x50000 at 0x51000 (name one; "
		"hlguest report, annotate, diff, exits, flame, lookup and windows "
		"take both; inject takes one at a time)",
		"b.elf", "a.elf");
	put(b, 0x80000); /* the other one is gone */
	settle();
	expect_outside(0x52000);
	expect(0x51000, a, 0x1000, "entrypoint");
	put_also(a, 0x81040); /* one's own head on the other's code */
	expect_overlap(
		"%s@0x81040: overlaps %s@0x80000 at 0x81040 (name one; "
		"hlguest report, annotate, diff, exits, flame, lookup and windows "
		"take both; inject takes one at a time)",
		"a.elf", "b.elf");
	put(b, 0x1000000);
	put_also(a, 0x82080);
	expect_overlap(
		"%s@0x82080: overlaps %s@0x81040 at 0x82080 (name one; "
		"hlguest report, annotate, diff, exits, flame, lookup and windows "
		"take both; inject takes one at a time)",
		"a.elf", "a.elf");
}
END_TEST

START_TEST(arranging_decides_nothing)
{
	struct hlg_image *a = add_guest("a.elf", 0), *b = add_guest("b.elf", 0);

	put(a, 0x10000);
	ck_assert_int_eq(hlg_space_arrange(&space, &err), 0);
	ck_assert_int_eq(b->from, HLG_BASE_NONE);
	ck_assert_uint_eq(space.n_ranges, 3);
	expect(0x11000, a, 0x1000, "entrypoint");
	expect_outside(0x5000);
	expect_outside(0x1000);
	put(b, 0x10000);
	ck_assert_int_eq(hlg_space_arrange(&space, &err), HLG_EINPUT);
	put(b, 0x20000);
	ck_assert_int_eq(hlg_space_arrange(&space, &err), 0);
	expect(0x21000, b, 0x1000, "entrypoint");
}
END_TEST

/* By their bases, those that have one; of the same base by their paths, too. */
START_TEST(images_of_one_name)
{
	struct hlg_image *a = add_guest("guest.elf", 0), *b = add_guest("guest.elf", 0);
	struct hlg_image *c = add_guest("other.elf", 0);
	char at[600];

	put(b, 0);
	put(c, 0x20000);
	ck_assert_int_eq(hlg_space_arrange(&space, &err), 0);
	ck_assert_str_eq(hlg_image_short_name(a), "guest.elf");
	ck_assert_str_eq(hlg_image_word(a), a->path);
	ck_assert_str_eq(hlg_image_short_name(b), "guest.elf@0x0");
	snprintf(at, sizeof(at), "%s@0x0", b->path);
	ck_assert_str_eq(hlg_image_word(b), at);
	ck_assert_str_eq(hlg_image_short_name(c), "other.elf");
	put(a, 0x10000);
	ck_assert_int_eq(hlg_space_arrange(&space, &err), 0);
	ck_assert_str_eq(hlg_image_short_name(a), "guest.elf@0x10000");
	ck_assert_str_eq(hlg_image_short_name(b), "guest.elf@0x0");
	put(a, 0);
	ck_assert_int_eq(hlg_space_part(&space, &err), 0);
	ck_assert_str_eq(hlg_image_short_name(a), at);
	ck_assert_str_eq(hlg_image_short_name(c), "other.elf");
}
END_TEST

/* Whatever it is called. */
static void expect_in(uint64_t ip, const struct hlg_image *image, uint64_t addr)
{
	struct hlg_place p;

	hlg_space_lookup(&space, ip, &p);
	ck_assert_ptr_eq(p.image, image);
	ck_assert_uint_eq(p.addr, addr);
}

/* Guests at the same addresses, each in a lane: an address moved by it is that guest's.
 */
START_TEST(lanes)
{
	struct hlg_image *first = add_guest("first.elf", 0), *second, *third;
	const uint64_t one = hlg_lane_move(1);

	put(first, 0x4000);
	ck_assert_int_eq(hlg_space_part(&space, &err), 0);
	ck_assert_uint_eq(space.n_lanes, 0);
	second = add_guest("second.elf", 0);
	third = add_guest("third.elf", 0);
	put(second, 0x4000);
	put(third, 0x10000000);
	ck_assert_int_eq(hlg_space_arrange(&space, &err), HLG_EINPUT);
	ck_assert_int_eq(hlg_space_part(&space, &err), 0);
	ck_assert_uint_eq(space.n_lanes, 2);
	ck_assert_uint_eq(first->lane, 0);
	ck_assert_uint_eq(second->lane, 1);
	ck_assert_uint_eq(third->lane, 0);
	expect_in(0x4000 + first->end - 1, first, first->end - 1);
	expect_in(one + 0x4000 + first->end - 1, second, second->end - 1);
	expect_in(hlg_lane_move(HLG_LANE_NOBODY) + 0x5000, NULL, 0x5000);
	expect_in(one + 0x10000000, NULL, 0x10000000);
	ck_assert_uint_eq(second->base, 0x4000);
	/* A base of later is in the lane, too; kernels lie at the top. */
	put(second, UINT64_C(0xffffffff81000000));
	ck_assert_int_eq(hlg_space_arrange(&space, &err), 0);
	expect_in(one + UINT64_C(0xffffffff81000000) + second->end - 1, second,
		  second->end - 1);
	ck_assert_int_eq(hlg_image_add_base(second, 0x4000, &err), 0);
	ck_assert_int_eq(hlg_space_arrange(&space, &err), 0);
	expect_in(one + 0x4000 + second->end - 1, second, second->end - 1);
}
END_TEST

/* What is in the first lane alone may be run by all, where nothing else lies; what was
 * found there, or is somebody's, is not. */
START_TEST(lanes_share_what_is_not_across)
{
	struct hlg_image *first = add_guest("first.elf", 0);
	struct hlg_image *second = add_guest("second.elf", 0);
	struct hlg_image *shared = add_guest("shared.elf", 0);
	struct hlg_image *found = add_guest("found.elf", 0);
	struct hlg_image *owned = add_guest("owned.elf", 0);
	const struct hlg_image *image;
	const uint64_t one = hlg_lane_move(1), rest = hlg_lane_move(HLG_LANE_SHARED);
	uint64_t base;

	put(first, 0x4000);
	put(second, 0x4000);
	put(shared, 0x10000000);
	ck_assert_int_eq(hlg_image_set_base(found, 0x20000000, HLG_BASE_FOUND, &err), 0);
	put(owned, 0x30000000);
	owned->owned = true;
	ck_assert_int_eq(hlg_space_part(&space, &err), 0);
	for (int again = 0; again < 2; again++) {
		ck_assert_int_eq(hlg_space_share(&space, &err), 0);
		expect_in(0x10000000, shared, 0);
		expect_in(one + 0x10000000 + shared->end - 1, shared, shared->end - 1);
		expect_in(one + 0x4000, second, 0);
		expect_in(one + 0x20000000, NULL, 0x20000000);
		expect_in(one + 0x30000000, NULL, 0x30000000);
		expect_in(rest + 0x10000000, NULL, 0x10000000);
		ck_assert_uint_eq(hlg_image_n_bases(shared), 2);
		ck_assert_uint_eq(hlg_image_bases_places(shared), 1);
		ck_assert_uint_eq(hlg_image_bases_first(shared, 1), 0);
		ck_assert_uint_eq(hlg_image_n_bases(first), 1);
		ck_assert_uint_eq(shared->lane, 0);
	}
	/* It tells nobody from others, but where nothing else is. */
	ck_assert_uint_eq(hlg_space_in_lane(&space, 1, &image, &base), 1);
	ck_assert_ptr_eq(image, second);
	space.has_shared = true;
	ck_assert_int_eq(hlg_space_share(&space, &err), 0);
	expect_in(rest + 0x10000000, shared, 0);
	ck_assert_int_eq(hlg_image_add_base(shared, 0x50000000, &err), 0);
	ck_assert_int_eq(hlg_space_arrange(&space, &err), 0);
	ck_assert_uint_eq(hlg_image_bases_first(shared, 2), 0);
	ck_assert_uint_eq(hlg_image_bases_first(shared, 3), 3);
	expect_in(rest + 0x4000, NULL, 0x4000); /* it may be the second's */
	second->from = HLG_BASE_FOUND;
	ck_assert_int_eq(hlg_space_share(&space, &err), 0);
	expect_in(rest + 0x4000, first, 0); /* whose guests are told by their samples */
	ck_assert_uint_eq(hlg_space_in_lane(&space, HLG_LANE_NOBODY, &image, &base), 0);
}
END_TEST

START_TEST(addresses_in_lanes)
{
	static const uint64_t ips[] = {0,
				       0x4000,
				       UINT64_C(0x7fffffffffff),
				       UINT64_C(0xffff800000000000),
				       UINT64_C(0xff00000000000000),
				       UINT64_C(0xffffffffffffffff)};

	for (unsigned lane = 0; lane <= HLG_LANE_NOBODY; lane++)
		for (size_t i = 0; i < sizeof(ips) / sizeof(ips[0]); i++) {
			uint64_t ip = ips[i] + hlg_lane_move(lane);

			ck_assert_uint_eq(hlg_lane_of(ip), lane);
			ck_assert_uint_eq(hlg_lane_ip(ip), ips[i]);
		}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("space");
	TCase *tc = tap_case(suite, "space");

	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, an_empty_space_is_all_outside);
	tcase_add_test(tc, each_image_has_its_addresses);
	tcase_add_test(tc, undecided_bases_are_decided);
	tcase_add_loop_test(tc, what_is_contested_is_left_out, 0, 4);
	tcase_add_test(tc, images_lie_in_each_others_holes);
	tcase_add_test(tc, overlaps_name_both);
	tcase_add_test(tc, overlaps_are_found_in_long_ranges);
	tcase_add_test(tc, the_last_byte_of_memory_is_used);
	tcase_add_test(tc, bases_past_the_end_are_refused);
	tcase_add_test(tc, settling_again_follows_the_bases);
	tcase_add_test(tc, many_images_are_told_apart);
	tcase_add_test(tc, an_image_lies_at_all_its_bases);
	tcase_add_test(tc, overlaps_name_the_base);
	tcase_add_test(tc, arranging_decides_nothing);
	tcase_add_test(tc, images_of_one_name);
	tcase_add_test(tc, lanes);
	tcase_add_test(tc, lanes_share_what_is_not_across);
	tcase_add_test(tc, addresses_in_lanes);
	return tap_main(suite);
}
