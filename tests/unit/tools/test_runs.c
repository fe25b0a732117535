// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long a vCPU ran, and was out for what: each time counts once, of halves nothing,
 * and what follows the end of a guest call is no exit's.
 */
#include "tools/feed/runs.h"

#include "tests/kit/tap.h"

enum what {
	ENTER,
	LEAVE,
	OUT
};

/* Times, or ports. */
static void did(struct hlg_runs *run, struct hlg_ports *ports, enum what what,
		uint64_t value)
{
	if (what == ENTER)
		hlg_runs_enter(run, ports, value);
	else if (what == LEAVE)
		hlg_runs_leave(run, ports, value);
	else
		hlg_runs_out(run, ports, value);
}

static const struct {
	struct {
		enum what what;
		uint64_t value;
	} did[8];
	size_t n;
	struct hlg_ports ports;
} cases[] = {
	/* Neither begins. */
	{{{LEAVE, 100}, {ENTER, 130}}, 2, {.exits_ns = 30}},
	{{{OUT, 101}, {ENTER, 130}}, 2, {.calls = 1}},
	/* In the guest, and for each port. */
	{{{ENTER, 100}, {LEAVE, 107}}, 2, {.guest_ns = 7}},
	{{{ENTER, 100}, {LEAVE, 107}, {OUT, 101}, {ENTER, 120}, {LEAVE, 121}},
	 5,
	 {.calls = 1, .guest_ns = 8, .exits_ns = 13, .calls_ns = 13}},
	{{{LEAVE, 100}, {OUT, 109}, {ENTER, 120}},
	 3,
	 {.notifies = 1, .exits_ns = 20, .notifies_ns = 20}},
	{{{LEAVE, 100}, {OUT, 108}, {ENTER, 120}}, 3, {.halts = 1}},
	{{{LEAVE, 100}, {OUT, 99}, {ENTER, 120}}, 3, {.exits_ns = 20}},
	/* The first port is what an exit is for; the next exit is for nothing. */
	{{{LEAVE, 100}, {OUT, 101}, {OUT, 108}, {ENTER, 120}, {LEAVE, 130}, {ENTER, 135}},
	 6,
	 {.calls = 1, .halts = 1, .guest_ns = 10, .exits_ns = 25, .calls_ns = 20}},
	/* Of two alike the later one counts. */
	{{{LEAVE, 100}, {OUT, 101}, {LEAVE, 200}, {ENTER, 203}},
	 4,
	 {.calls = 1, .exits_ns = 3}},
	{{{ENTER, 100}, {ENTER, 200}, {LEAVE, 203}}, 3, {.guest_ns = 3}},
	/* What lies behind its other half. */
	{{{ENTER, 100}, {LEAVE, 90}, {OUT, 101}, {ENTER, 80}, {LEAVE, 85}},
	 5,
	 {.calls = 1, .guest_ns = 5}},
};

START_TEST(times_and_ports)
{
	struct hlg_ports ports = {0}, *is = &ports;
	const struct hlg_ports *due = &cases[_i].ports;
	struct hlg_runs run = {0};

	for (size_t i = 0; i < cases[_i].n; i++)
		did(&run, &ports, cases[_i].did[i].what, cases[_i].did[i].value);
	ck_assert_uint_eq(is->calls, due->calls);
	ck_assert_uint_eq(is->halts, due->halts);
	ck_assert_uint_eq(is->notifies, due->notifies);
	ck_assert_uint_eq(is->guest_ns, due->guest_ns);
	ck_assert_uint_eq(is->exits_ns, due->exits_ns);
	ck_assert_uint_eq(is->calls_ns, due->calls_ns);
	ck_assert_uint_eq(is->notifies_ns, due->notifies_ns);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("runs");

	tcase_add_loop_test(tap_case(suite, "times_and_ports"), times_and_ports, 0,
			    sizeof(cases) / sizeof(cases[0]));
	return tap_main(suite);
}
