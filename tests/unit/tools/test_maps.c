// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings of three processes, thousands each, that fork from each other and end: each
 * has what a picture of its addresses says, and their sum is that of the lists there are,
 * of which copies share one until they change. Without memory nothing changes. (A few
 * mappings, address by address: test_tasks.c.)
 */
#include "tools/feed/maps.h"

#include <string.h>

#include "filter/profile/strings.h"
#include "tests/kit/oom.h"
#include "tests/kit/tap.h"

enum {
	ROOM = 1 << 14, /* addresses */
	STEPS = 12000
};

static struct hlg_maps maps[3];
static uint32_t picture[3][ROOM];
static uint32_t version[3]; /* the same: one list; 0: none */
static size_t total;

static size_t wrong_at(unsigned which, unsigned from, unsigned to)
{
	size_t wrong = 0;
	uint64_t offset;

	for (unsigned i = from; i < to && i < ROOM; i++) {
		uint32_t name = hlg_maps_find(&maps[which], i, &offset);

		wrong += name != picture[which][i];
		wrong += name != HLG_NO_STRING && offset != i + 3 * (uint64_t)name;
	}
	return wrong;
}

static void check_all(void)
{
	size_t sum = 0;

	for (unsigned k = 0; k < 3; k++) {
		bool counts = version[k] != 0;

		ck_assert_uint_eq(wrong_at(k, 0, ROOM), 0);
		for (unsigned other = 0; other < k; other++)
			counts = counts && version[other] != version[k];
		for (unsigned i = 0; counts && i < ROOM; i++)
			sum += picture[k][i] &&
			       (i == 0 || picture[k][i - 1] != picture[k][i]);
	}
	ck_assert_uint_eq(total, sum);
}

static void clear(unsigned which)
{
	hlg_maps_clear(&maps[which], &total);
	memset(picture[which], 0, sizeof(picture[which]));
	version[which] = 0;
}

static void copy(unsigned to, unsigned from)
{
	clear(to);
	hlg_maps_copy(&maps[to], &maps[from]);
	memcpy(picture[to], picture[from], sizeof(picture[to]));
	version[to] = version[from];
}

/* First each allocation that it makes fails. */
static void insert(unsigned which, unsigned from, unsigned to, uint32_t name)
{
	bool done = false, was;

	for (unsigned nth = 1; !done; nth++) {
		oom_arm(nth, false);
		done = hlg_maps_insert(&maps[which], from, to, name,
				       from + 3 * (uint64_t)name, &total);
		was = oom_disarm();
		ck_assert(done != was);
		if (!done)
			check_all();
	}
	for (unsigned i = from; i < to; i++)
		picture[which][i] = name;
	version[which] = from < to ? name : version[which];
}

START_TEST(many)
{
	uint64_t random = (uint64_t)_i;

	for (uint32_t step = 1; step < STEPS; step++) {
		unsigned which, from, size;

		random = random * UINT64_C(6364136223846793005) +
			 UINT64_C(1442695040888963407);
		which = (unsigned)(random >> 60) % 3;
		from = (unsigned)(random >> 33) % ROOM;
		if (_i == 0) /* descending */
			from = ROOM - 1 - 5 * step % ROOM;
		size = (unsigned)(random >> 50) % (step % 700 ? 4 : ROOM / 3);
		if (step % 1500 == 0)
			copy(which, (which + 1) % 3);
		if (step % 5000 == 0)
			clear(which);
		insert(which, from, from + size > ROOM ? ROOM : from + size, step);
		ck_assert_uint_eq(
			wrong_at(which, from > 4 ? from - 4 : 0, from + size + 4), 0);
		if (step % 100 == 0)
			check_all();
	}
	ck_assert_uint_gt(total, 4000);
	for (unsigned k = 0; k < 3; k++)
		clear(k);
	ck_assert_uint_eq(total, 0);
}
END_TEST

/* A first range that fails is no list: what forks into it may still share another's. */
START_TEST(nothing_at_first)
{
	for (unsigned nth = 1; nth < 4; nth++) {
		oom_arm(nth, false);
		hlg_maps_insert(&maps[0], 1, 2, 1, 0, &total);
		if (!oom_disarm())
			ck_abort_msg("made %u allocations", nth - 1);
		ck_assert(!maps[0].list && total == 0);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("maps");
	TCase *tc = tap_case(suite, "maps");

	tcase_add_loop_test(tc, many, 0, 3);
	tcase_add_test(tc, nothing_at_first);
	return tap_main(suite);
}
