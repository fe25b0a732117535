// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ranges are what a picture of the address space says, address by address, in whatever
 * order they were put; what fails without memory changes nothing.
 */
#include "filter/stacks/address-map.h"

#include "tests/kit/oom.h"
#include "tests/kit/tap.h"

enum {
	ROOM = 1 << 15, /* addresses */
	STEPS = 10900,
	MANY = 4096
};

static uint32_t picture[ROOM]; /* the name at each address; 0: none */

static uint64_t next(uint64_t *random)
{
	*random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *random >> 33;
}

static void draw(unsigned from, unsigned to, uint32_t name,
		 enum hlg_address_map_rest rest)
{
	if (from >= to)
		return;
	if (rest == HLG_ADDRESS_MAP_FORGET) {
		uint32_t left = picture[from], right = picture[to - 1];

		for (unsigned i = from; left && i-- && picture[i] == left;)
			picture[i] = 0;
		for (unsigned i = to; right && i < ROOM && picture[i] == right; i++)
			picture[i] = 0;
	}
	for (unsigned i = from; i < to; i++)
		picture[i] = name;
}

static size_t wrong_at(const struct hlg_address_map *r, unsigned from, unsigned to)
{
	size_t wrong = 0;

	for (unsigned i = from; i < to && i < ROOM; i++) {
		const struct hlg_address_range *range = hlg_address_map_find(r, i);

		wrong += (range ? range->name : 0) != picture[i];
		wrong += range && (range->start > i || range->end <= i ||
				   range->shift != 7 * (uint64_t)range->name);
	}
	return wrong;
}

static void check_all(const struct hlg_address_map *r)
{
	size_t runs = 0;

	for (unsigned i = 0; i < ROOM; i++)
		runs += picture[i] && (i == 0 || picture[i - 1] != picture[i]);
	ck_assert_uint_eq(r->n, runs);
	ck_assert_uint_eq(wrong_at(r, 0, ROOM), 0);
}

/* Descending, ascending, and in two orders at random, now and then a wide one; each both
 * ways of what becomes of the rest. */
static void choose(int order, uint32_t step, uint64_t *random, unsigned *from,
		   unsigned *to)
{
	unsigned size = (unsigned)next(random) % 4;

	*from = (unsigned)next(random) % ROOM;
	if (order == 0)
		*from = ROOM - 3 * step;
	else if (order == 1)
		*from = 3 * step;
	else if (step % 500 == 0)
		size = (unsigned)next(random) % (ROOM / (order == 2 ? 4 : 32));
	*to = *from + size > ROOM ? ROOM : *from + size;
}

START_TEST(as_a_picture)
{
	enum hlg_address_map_rest rest =
		_i % 2 ? HLG_ADDRESS_MAP_FORGET : HLG_ADDRESS_MAP_KEEP;
	struct hlg_address_map r = {0};
	uint64_t random = (uint64_t)_i;
	size_t failed = 0;

	memset(picture, 0, sizeof(picture));
	for (uint32_t step = 1; step < STEPS; step++) {
		struct hlg_address_range range = {.name = step,
						  .shift = 7 * (uint64_t)step};
		unsigned from, to;
		bool put = false, was;

		choose(_i / 2, step, &random, &from, &to);
		range.start = from;
		range.end = to;
		for (unsigned nth = 1; !put; nth++) {
			oom_arm(nth, false);
			put = hlg_address_map_put(&r, range, rest);
			was = oom_disarm();
			ck_assert(put != was);
			if (put)
				break;
			failed++;
			ck_assert_uint_eq(wrong_at(&r, from > 8 ? from - 8 : 0, to + 8),
					  0);
		}
		draw(from, to, step, rest);
		ck_assert_uint_eq(wrong_at(&r, from > 8 ? from - 8 : 0, to + 8), 0);
		if (step % 500 < 2)
			check_all(&r);
	}
	check_all(&r);
	ck_assert_uint_gt(failed, STEPS);
	hlg_address_map_finish(&r);
	ck_assert(!r.root && r.n == 0);
}
END_TEST

struct seen {
	size_t n;
	uint64_t end;
};

static void see(void *ctx, const struct hlg_address_range *range)
{
	struct seen *seen = ctx;

	ck_assert_uint_ge(range->start, seen->end);
	seen->end = range->end;
	seen->n++;
}

START_TEST(each_in_order)
{
	struct hlg_address_map r = {0};
	struct seen seen = {0, 0};

	hlg_address_map_each(&r, see, &seen);
	ck_assert_uint_eq(seen.n, 0);
	for (unsigned i = 0; i < MANY; i++) {
		unsigned at = 5 * (i * 7 % (MANY));

		ck_assert(hlg_address_map_put(
			&r, (struct hlg_address_range){at, at + 3, 7, 1},
			HLG_ADDRESS_MAP_KEEP));
	}
	hlg_address_map_each(&r, see, &seen);
	ck_assert_uint_eq(seen.n, r.n);
	ck_assert_uint_eq(seen.end, 5 * MANY - 2);
	hlg_address_map_finish(&r);
}
END_TEST

START_TEST(empty_and_all)
{
	struct hlg_address_map r = {0};

	ck_assert(hlg_address_map_put(&r, (struct hlg_address_range){5, 5, 0, 1},
				      HLG_ADDRESS_MAP_KEEP));
	ck_assert(hlg_address_map_put(&r, (struct hlg_address_range){5, 4, 0, 1},
				      HLG_ADDRESS_MAP_FORGET));
	ck_assert(r.n == 0 && !hlg_address_map_find(&r, 5));
	ck_assert(hlg_address_map_put(&r, (struct hlg_address_range){0, UINT64_MAX, 0, 1},
				      HLG_ADDRESS_MAP_FORGET));
	ck_assert(hlg_address_map_find(&r, 0) &&
		  hlg_address_map_find(&r, UINT64_MAX - 1));
	ck_assert(!hlg_address_map_find(&r, UINT64_MAX));
	ck_assert(hlg_address_map_put(&r, (struct hlg_address_range){9, 10, 0, 2},
				      HLG_ADDRESS_MAP_FORGET));
	ck_assert(r.n == 1 && !hlg_address_map_find(&r, 8) &&
		  !hlg_address_map_find(&r, 10));
	hlg_address_map_finish(&r);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("address-map");
	TCase *tc = tap_case(suite, "address-map");

	tcase_add_loop_test(tc, as_a_picture, 0, 8);
	tcase_add_test(tc, each_in_order);
	tcase_add_test(tc, empty_and_all);
	return tap_main(suite);
}
