// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is said of an event stays said: in whatever order, by whatever number of files,
 * and after profiles were added up, in either direction, with samples or without.
 */
#include "filter/profile/profile.h"

#include "tests/kit/filter.h"
#include "tests/kit/tap.h"

static const struct {
	enum hlg_event_kind kind;
	bool member;
} said[] = {
	{HLG_EVENT_UNKNOWN, false},   {HLG_EVENT_TIMER, false},
	{HLG_EVENT_COUNTER, true},    {HLG_EVENT_SOFTWARE, false},
	{HLG_EVENT_TRACEPOINT, true}, {HLG_EVENT_TIMER, true},
};

enum {
	N = sizeof(said) / sizeof(said[0])
};

static struct hlg_options options;
static struct hlg_profile a, b;

static void start(void)
{
	kit_options(&options, "by=tid");
	ck_assert(hlg_profile_init(&a, &options));
	ck_assert(hlg_profile_init(&b, &options));
}

static void finish(void)
{
	hlg_profile_finish(&a);
	hlg_profile_finish(&b);
	hlg_options_finish(&options);
}

static void describe(struct hlg_profile *p, uint32_t event, int i)
{
	hlg_profile_describe(p, event, said[i].kind, said[i].member);
}

static void expect(const struct hlg_profile *p, const char *name, unsigned precise,
		   enum hlg_event_kind kind, bool member)
{
	uint32_t event = hlg_profile_event((struct hlg_profile *)p, name, precise);

	ck_assert_int_eq(p->events[event].kind, kind);
	ck_assert_int_eq(p->events[event].member, member);
}

/* The larger of both, by kind and then by member. */
static void same_of_both(int i, int k)
{
	bool first = said[i].kind != said[k].kind ? said[i].kind > said[k].kind
						  : said[i].member;
	int most = first ? i : k;

	expect(&b, "e", 0, a.events[0].kind, a.events[0].member);
	expect(&a, "e", 0, said[most].kind, said[most].member);
}

START_TEST(nothing_is_known_at_first)
{
	hlg_profile_event(&a, "e", 0);
	expect(&a, "e", 0, HLG_EVENT_UNKNOWN, false);
}
END_TEST

START_TEST(the_order_does_not_matter)
{
	int i = _i / N, k = _i % N;

	describe(&a, hlg_profile_event(&a, "e", 0), i);
	describe(&a, hlg_profile_event(&a, "e", 0), k);
	describe(&b, hlg_profile_event(&b, "e", 0), k);
	describe(&b, hlg_profile_event(&b, "e", 0), i);
	same_of_both(i, k);
}
END_TEST

/* Another name or precision is another event. */
START_TEST(events_are_apart)
{
	hlg_profile_describe(&a, hlg_profile_event(&a, "e", 0), HLG_EVENT_COUNTER, true);
	hlg_profile_describe(&a, hlg_profile_event(&a, "e", 2), HLG_EVENT_TIMER, false);
	hlg_profile_event(&a, "f", 0);
	expect(&a, "e", 0, HLG_EVENT_COUNTER, true);
	expect(&a, "e", 2, HLG_EVENT_TIMER, false);
	expect(&a, "f", 0, HLG_EVENT_UNKNOWN, false);
}
END_TEST

/* a + b and b + a say the same of an event of both; each keeps what only it knew. */
START_TEST(merging_keeps_what_was_said)
{
	int i = _i / 2 / N, k = _i / 2 % N;
	struct hlg_profile c;
	struct hlg_sample s;

	ck_assert(hlg_profile_init(&c, &options));
	describe(&a, hlg_profile_event(&a, "e", 0), i);
	describe(&c, hlg_profile_event(&c, "other", 1), i);
	describe(&c, hlg_profile_event(&c, "e", 0), k);
	describe(&b, hlg_profile_event(&b, "e", 0), k);
	describe(&b, hlg_profile_event(&b, "other", 1), i);
	if (_i % 2) {
		s = kit_sample(1, 0x1000);
		hlg_profile_add(&c, &s);
	}
	hlg_profile_merge(&a, &c);
	expect(&a, "other", 1, said[i].kind, said[i].member);
	hlg_profile_finish(&c);
	ck_assert(hlg_profile_init(&c, &options));
	describe(&c, hlg_profile_event(&c, "e", 0), i);
	hlg_profile_merge(&b, &c);
	expect(&b, "other", 1, said[i].kind, said[i].member);
	same_of_both(i, k);
	hlg_profile_finish(&c);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("describe");
	TCase *tc = tap_case(suite, "describe");

	tcase_add_checked_fixture(tc, start, finish);
	tcase_add_test(tc, nothing_is_known_at_first);
	tcase_add_loop_test(tc, the_order_does_not_matter, 0, N * N);
	tcase_add_test(tc, events_are_apart);
	tcase_add_loop_test(tc, merging_keeps_what_was_said, 0, 2 * N * N);
	return tap_main(suite);
}
