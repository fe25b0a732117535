// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exits and entries are summed by address, in any order and over merges, and an address
 * is one where the host lets the guest begin if entries there outnumber the exits that
 * they may be the return from. Where a profile is moved they are, too. Without memory
 * nothing is known.
 */
#include "filter/profile/profile.h"
#include "filter/profile/sandboxes.h"
#include "filter/profile/transits.h"
#include "filter/view/calls.h"

#include "tests/kit/filter-trust.h"
#include "tests/kit/filter.h"
#include "tests/kit/oom.h"
#include "tests/kit/tap.h"

START_TEST(sums)
{
	struct hlg_transits a = {0}, b = {0};

	ck_assert_uint_eq(hlg_transits_at(&a, 7).exits, 0);
	for (uint64_t i = 0; i < 3000; i++) {
		hlg_transits_add(&a, (struct hlg_transit){i % 100, 1, 0, 0});
		hlg_transits_add(&b, (struct hlg_transit){i % 150, 0, 2, 0});
	}
	hlg_transits_merge(&a, &b);
	ck_assert_uint_eq(a.n, 150);
	for (uint64_t ip = 0; ip < 151; ip++) {
		struct hlg_transit t = hlg_transits_at(&a, ip);

		ck_assert_uint_eq(t.ip, ip);
		ck_assert_uint_eq(t.exits, ip < 100 ? 30 : 0);
		ck_assert_uint_eq(t.entries, ip < 150 ? 40 : 0);
	}
	hlg_transits_finish(&a);
	hlg_transits_finish(&a); /* twice does no harm */
	hlg_transits_finish(&b);
}
END_TEST

/* An emulated instruction is none; either of the others is one, and stays one. */
START_TEST(crossings)
{
	static const struct hlg_transit one[] = {{1, 1, 0, 0}, {1, 0, 1, 0}};

	for (size_t i = 0; i < sizeof(one) / sizeof(one[0]); i++) {
		struct hlg_transits t = {0};

		hlg_transits_add(&t, (struct hlg_transit){1, 0, 0, 1});
		ck_assert(!t.crossed);
		hlg_transits_add(&t, one[i]);
		hlg_transits_add(&t, (struct hlg_transit){1, 0, 0, 1});
		ck_assert(t.crossed);
		hlg_transits_finish(&t);
	}
}
END_TEST

static const struct {
	uint64_t exit_at, exits, entries; /* these at 0x1000 */
	bool is;
} entries[] = {
	{0x1000, 0, 1, true},   {0x1000, 10, 20, false}, {0x1000, 10, 21, true},
	{0xff1, 10, 20, false}, {0xff0, 10, 20, true},   {0x1001, 10, 20, true},
	{0x1000, 10, 0, false}, {0x1000, 0, 0, false},
};

START_TEST(entries_of_the_host)
{
	struct hlg_transits t = {0};

	hlg_transits_add(&t, (struct hlg_transit){0x1000, 0, entries[_i].entries, 0});
	hlg_transits_add(
		&t, (struct hlg_transit){entries[_i].exit_at, entries[_i].exits, 0, 0});
	ck_assert_int_eq(hlg_transits_is_entry(&t, 0x1000), entries[_i].is);
	ck_assert(!hlg_transits_is_entry(&t, 0x2000));
	hlg_transits_finish(&t);
}
END_TEST

/* Writes to Hyperlight's ports are counted, those to others are not. */
START_TEST(writes_to_ports)
{
	struct hlg_transits a = {0}, b = {0};

	for (uint64_t port = 0; port < 300; port++) {
		hlg_ports_out(&a.ports, port);
		hlg_ports_out(&b.ports, port);
	}
	hlg_ports_out(&b.ports, 108);
	hlg_ports_out(&b.ports, 109);
	hlg_ports_out(&b.ports, 109);
	a.ports.calls_ns = 7;
	b.ports.calls_ns = 5;
	hlg_transits_merge(&a, &b);
	ck_assert_uint_eq(a.ports.calls, 2);
	ck_assert_uint_eq(a.ports.halts, 3);
	ck_assert_uint_eq(a.ports.notifies, 4);
	ck_assert_uint_eq(a.ports.calls_ns, 12);
	ck_assert_uint_eq(a.n, 0);
	hlg_transits_finish(&a);
	hlg_transits_finish(&b);
}
END_TEST

/* Where a sandbox was entered first: a recording in which it was not says nothing. */
START_TEST(entered_first)
{
	const struct hlg_sandbox none = {0}, at = {.entered = 0x4000, .n_entered = 1},
				 other = {.entered = 0x5000, .n_entered = 1};
	struct hlg_sandbox sum = {0};

	hlg_sandboxes_use(&sum, &none);
	hlg_sandboxes_use(&sum, &at);
	hlg_sandboxes_use(&sum, &none);
	hlg_sandboxes_use(&sum, &at);
	ck_assert_uint_eq(sum.entered, 0x4000);
	ck_assert_uint_eq(sum.n_entered, 2);
	hlg_sandboxes_use(&sum, &other);
	ck_assert_uint_eq(sum.entered, HLG_SANDBOX_SEVERAL);
}
END_TEST

/* The same number in two recordings: what both say of it; a recording without a sample of
 * it knows of no lane. */
START_TEST(sandboxes_of_two)
{
	static const struct {
		uint64_t samples[2];
		unsigned lane[2], both;
	} lanes[] = {{{1, 1}, {2, 2}, 2},
		     {{1, 1}, {2, 1}, HLG_LANE_SEVERAL},
		     {{1, 0}, {2, 1}, 2},
		     {{0, 1}, {2, 1}, 1}};

	for (size_t i = 0; i < sizeof(lanes) / sizeof(lanes[0]); i++) {
		struct hlg_sandboxes of[2] = {{0}, {0}};

		for (int k = 0; k < 2; k++) {
			ck_assert(hlg_sandboxes_add(&of[k], 7 + k, 5));
			of[k].at[0].count.samples = lanes[i].samples[k];
			of[k].at[0].lane = lanes[i].lane[k];
		}
		hlg_sandboxes_merge(&of[0], &of[1]);
		ck_assert_uint_eq(of[0].n, 1);
		ck_assert_uint_eq(of[0].at[0].lane, lanes[i].both);
		ck_assert_int_eq(of[0].at[0].pid, -1);
		ck_assert_int_eq(of[0].at[0].fd, 5);
		hlg_sandboxes_finish(&of[0]);
		hlg_sandboxes_finish(&of[1]);
	}
}
END_TEST

static uint64_t down(const void *ctx, uint64_t ip)
{
	return ip - ip % *(const uint64_t *)ctx;
}

/* With samples: what comes to lie at one address is one. */
START_TEST(moved)
{
	const uint64_t by = 16;
	struct hlg_options o;
	struct hlg_profile p;

	kit_options(&o, "by=event");
	ck_assert(hlg_profile_init(&p, &o));
	hlg_profile_event(&p, "a", 0);
	for (uint64_t i = 0; i < 40; i++) {
		struct hlg_sample s = kit_sample(0, 0x1000 + i);

		s.time = 1000 + i;
		hlg_profile_add(&p, &s);
		hlg_transits_add(&p.transits, (struct hlg_transit){s.ip, 2, 3, 0});
		hlg_ports_out(&p.transits.ports, 108);
	}
	ck_assert(hlg_profile_relocate(&p, down, &by));
	ck_assert_uint_eq(p.n_cells, 3);
	for (size_t i = 0; i < hlg_profile_room(&p); i++)
		if (p.cells[i].count.samples)
			ck_assert_uint_eq(p.cells[i].count.samples,
					  p.cells[i].ip < 0x1020 ? 16 : 8);
	for (size_t i = 0; i < p.moments.n; i++)
		ck_assert_uint_eq(p.moments.at[i].ip, 0x1000 + i - i % by);
	ck_assert_uint_eq(p.moments.n, 40);
	ck_assert_uint_eq(p.transits.n, 3);
	ck_assert_uint_eq(hlg_transits_at(&p.transits, 0x1020).exits, 2 * 8);
	ck_assert_uint_eq(hlg_transits_at(&p.transits, 0x1000).entries, 3 * 16);
	ck_assert_uint_eq(p.transits.ports.halts, 40);
	hlg_profile_finish(&p);
	hlg_options_finish(&o);
}
END_TEST

START_TEST(without_memory)
{
	bool lost = false;

	for (unsigned n = 0; n < 8; n++) {
		struct hlg_transits t = {0}, other = {0};

		oom_arm(n, true);
		for (uint64_t i = 0; i < 40; i++)
			hlg_transits_add(&t, (struct hlg_transit){i, 1, 0, 0});
		oom_disarm();
		ck_assert_uint_eq(hlg_transits_at(&t, 0).exits, !t.lost);
		hlg_transits_merge(&other, &t);
		ck_assert_int_eq(other.lost, t.lost);
		lost |= t.lost;
		hlg_transits_finish(&t);
		hlg_transits_finish(&other);
	}
	ck_assert(lost);
}
END_TEST

/* The first halts of an ELF that was started end no call. A sandbox that nobody saw begin
 * has none of them; one that began as nothing known has calls that cannot be told. */
static const struct {
	uint64_t entered; /* from the guest's entry on */
	uint32_t n_entered;
	bool known;
	uint64_t calls;
} begun[] = {{0, 0, true, 5},
	     {0, 2, true, 3},
	     {0, 6, true, 0},
	     {8, 0, true, 5},
	     {8, 1, false, 0}};

START_TEST(calls_of_sandboxes)
{
	struct hlg_sandbox *sandbox;
	struct hlg_calls calls;
	struct hlg_run run;
	uint64_t entry;

	kit_trust_guest("a.elf");
	kit_start(&run, "a.elf@0x100000");
	ck_assert_int_eq(hlg_run_settle(&run, &(struct hlg_err){0}), 0);
	entry = run.space.images[0]->elf.entry + run.space.images[0]->bias;
	ck_assert(hlg_sandboxes_add(&run.profile.sandboxes, 7, 5));
	sandbox = &run.profile.sandboxes.at[0];
	sandbox->ports.halts = run.profile.transits.ports.halts = 5;
	sandbox->entered = entry + begun[_i].entered;
	sandbox->n_entered = begun[_i].n_entered;
	run.profile.transits.crossed = true;
	ck_assert_int_eq(hlg_calls_of_sandbox(&calls, &run.space, &run.profile, 1),
			 begun[_i].known);
	if (begun[_i].known)
		ck_assert_uint_eq(calls.guest, begun[_i].calls);
	ck_assert_int_eq(hlg_calls_count(&calls, &run.space, &run.profile),
			 begun[_i].known);
	if (begun[_i].known)
		ck_assert_uint_eq(calls.guest, begun[_i].calls);
	hlg_run_finish(&run);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("transits");
	TCase *tc = tap_case(suite, "transits");

	tcase_add_checked_fixture(tc, kit_enter, kit_leave);
	tcase_add_loop_test(tc, calls_of_sandboxes, 0, sizeof(begun) / sizeof(begun[0]));
	tcase_add_test(tc, sums);
	tcase_add_test(tc, crossings);
	tcase_add_loop_test(tc, entries_of_the_host, 0,
			    sizeof(entries) / sizeof(entries[0]));
	tcase_add_test(tc, writes_to_ports);
	tcase_add_test(tc, entered_first);
	tcase_add_test(tc, sandboxes_of_two);
	tcase_add_test(tc, moved);
	tcase_add_test(tc, without_memory);
	return tap_main(suite);
}
