// SPDX-License-Identifier: GPL-2.0-only
/*
 * When the profile's short cut may be taken: that it then counts what the long way counts
 * is test_profile.c's to show.
 */
#include "filter/profile/profile.h"

#include <stdio.h>

#include "tests/kit/filter.h"
#include "tests/kit/tap.h"

/* Host samples that get rows of their own are never taken by the short cut. */
START_TEST(short_cut_leaves_host_rows)
{
	struct hlg_profile p;
	struct hlg_options o;

	kit_options(&o, _i ? "mode=all" : "mode=host");
	ck_assert(hlg_profile_init(&p, &o));
	hlg_profile_event(&p, "a", 0);
	ck_assert(!hlg_profile_hit(&p, 0, 2, 7, -1, 1, HLG_NO_TIME));
	ck_assert_uint_eq(p.seen.samples, 0);
	hlg_profile_finish(&p);
	hlg_options_finish(&o);
}
END_TEST

/* The short cut is taken when it may be, and never when more than the event decides. */
START_TEST(short_cut)
{
	static const struct {
		const char *words;
		bool taken;
	} c[] = {{"", true},          {"by=event", true}, {"event=a", true},
		 {"gaps=drop", true}, {"event=b", false}, {"by=pid", false},
		 {"by=tid", false},   {"by=cpu", false},  {"pid=1", false},
		 {"cpu=0", false},    {"time=1,", false}};

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct hlg_sample s = kit_sample(0, 7);
		struct hlg_profile p;
		struct hlg_options o;

		kit_options(&o, c[i].words);
		ck_assert(hlg_profile_init(&p, &o));
		hlg_profile_event(&p, "a", 0);
		s.pid = 1;
		s.cpu = 0;
		s.time = 2000000000;
		ck_assert(!hlg_profile_hit(&p, 0, 5, 7, -1, 1,
					   HLG_NO_TIME)); /* not met yet */
		hlg_profile_add(&p, &s);
		ck_assert_int_eq(hlg_profile_hit(&p, 0, 5, 7, -1, 1, HLG_NO_TIME),
				 c[i].taken);
		ck_assert(!hlg_profile_hit(&p, 0, 5, 8, -1, 1, HLG_NO_TIME));
		/* The host's are taken where all else is plain, and nobody wants rows. */
		ck_assert_int_eq(hlg_profile_hit(&p, 0, 2, 7, -1, 1, HLG_NO_TIME),
				 c[i].taken);
		ck_assert_uint_eq(p.host.samples, c[i].taken);
		ck_assert_uint_eq(p.seen.samples, 1u + 2u * c[i].taken);
		hlg_profile_finish(&p);
		hlg_options_finish(&o);
	}
}
END_TEST

/* An ip at or above x whose first slot of series 0 is this one. */
static uint64_t ip_of_slot(const struct hlg_profile *p, uint64_t x, size_t slot)
{
	while (hlg_profile_slot(p, x, 0) != slot)
		x++;
	return x;
}

/*
 * Where one series looks first, the other's cell of the same ip may have been pushed to:
 * the short cut must not take it. Its own series' is found there.
 */
START_TEST(short_cut_between_series)
{
	struct hlg_sample s = kit_sample(0, 0);
	struct hlg_profile p;
	struct hlg_options o;
	uint64_t x = 0x1000, y;
	uint32_t other = 1;
	size_t slot;

	kit_options(&o, "");
	/* Of one that nobody knows beforehand there may be no such series below 1,000. */
	hlg_hash_factor = UINT64_C(0x9e3779b97f4a7c15);
	ck_assert(hlg_profile_init(&p, &o));
	while (hlg_profile_slot(&p, x, other) != hlg_profile_slot(&p, x, 0) + 1)
		other = other < 1000 ? other + 1 : (x++, 1);
	slot = hlg_profile_slot(&p, x, 0);
	y = ip_of_slot(&p, x + 1, slot);
	/* In slot, and then behind it; nothing else lies near. */
	hlg_profile_event(&p, "e", 0);
	s.ip = y;
	hlg_profile_add(&p, &s);
	s.ip = x;
	hlg_profile_add(&p, &s);
	for (uint32_t i = 1; i <= other; i++) {
		char name[16];

		snprintf(name, sizeof(name), "e%u", i);
		s.event = hlg_profile_event(&p, name, 0);
		s.ip = x ^ UINT64_C(1) << 40;
		hlg_profile_add(&p, &s);
	}
	ck_assert_uint_eq(p.cells[slot + 1].ip, x);
	ck_assert_uint_eq(p.cells[slot + 1].series, 0);
	ck_assert(hlg_profile_hit(&p, 0, 5, y, -1, 1, HLG_NO_TIME));
	ck_assert(!hlg_profile_hit(&p, other, 5, x, -1, 1, HLG_NO_TIME));
	ck_assert(hlg_profile_hit(&p, 0, 5, x, -1, 1, HLG_NO_TIME));
	ck_assert_uint_eq(p.cells[slot + 1].count.samples, 2);
	hlg_profile_finish(&p);
	hlg_options_finish(&o);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("short cut");
	TCase *tc = tap_case(suite, "short cut");

	tcase_add_test(tc, short_cut);
	tcase_add_loop_test(tc, short_cut_leaves_host_rows, 0, 2);
	tcase_add_test(tc, short_cut_between_series);
	return tap_main(suite);
}
