// SPDX-License-Identifier: GPL-2.0-only
/* Whose code an event counts: tools/record/modifiers.h. */
#include <stdlib.h>

#include "tests/kit/tap.h"
#include "tools/record/modifiers.h"

static const struct {
	const char *events, *guests, *both;
} known[] = {
	{"cpu-clock", "cpu-clock:HG", "cpu-clock:HG"},
	{"task-clock:u", "task-clock:uHG", "task-clock:uHG"},
	{"cycles", "cycles:G", "cycles:HG"},
	{"cycles:", "cycles:G", "cycles:HG"},
	{"cycles:pp", "cycles:ppG", "cycles:ppHG"},
	{"cycles:G", "cycles:G", "cycles:G"},
	{"cpu-clock:H", "cpu-clock:H", "cpu-clock:H"},
	{"cpu-clock/freq=997/", "cpu-clock/freq=997/HG", "cpu-clock/freq=997/HG"},
	{"cpu/event=1,umask=2/u", "cpu/event=1,umask=2/uG", "cpu/event=1,umask=2/uHG"},
	{"cpu/event=1/:G", "cpu/event=1/:G", "cpu/event=1/:G"},
	{"cycles,cpu-clock:G,faults", "cycles:G,cpu-clock:G,faults:G",
	 "cycles:HG,cpu-clock:G,faults:HG"},
	{"{instructions,cycles:u}:S", "{instructions,cycles:u}:SG",
	 "{instructions,cycles:u}:SHG"},
	{"{cpu-clock,faults}", "{cpu-clock,faults}:G", "{cpu-clock,faults}:HG"},
	{"kvm:kvm_exit", "kvm:kvm_exit", "kvm:kvm_exit"},
	{"mem:0x1000/8:rw", "mem:0x1000/8:rw", "mem:0x1000/8:rw"},
	{"r01c2,,", "r01c2:G,,", "r01c2:HG,,"},
	{"", "", ""},
};

START_TEST(modifiers_are_added)
{
	char *guests = hlg_record_modifiers_add(known[_i].events, false);
	char *both = hlg_record_modifiers_add(known[_i].events, true);

	ck_assert_str_eq(guests, known[_i].guests);
	ck_assert_str_eq(both, known[_i].both);
	free(guests);
	free(both);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("record modifiers");
	TCase *tc = tap_case(suite, "modifiers");

	tcase_add_loop_test(tc, modifiers_are_added, 0, sizeof(known) / sizeof(known[0]));
	return tap_main(suite);
}
