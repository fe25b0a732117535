// SPDX-License-Identifier: GPL-2.0-only
/* Stacks of one machine have one number, those of a later one in its place another. */
#include "tests/kit/tap.h"
#include "tools/callers/machines.h"

static struct hlg_machines machines;

static uint32_t number(uint64_t machine, int32_t vcpu, uint64_t exits)
{
	const struct hlg_callers_stack stack = {
		.machine = machine, .vcpu = vcpu, .exits = exits};

	return hlg_machines_number(&machines, &stack);
}

START_TEST(in_order)
{
	ck_assert_uint_eq(number(700, 0, 5), 1);
	ck_assert_uint_eq(number(600, 0, 5), 2);
	ck_assert_uint_eq(number(700, 0, 5), 1); /* an interrupt later in the same exit */
	ck_assert_uint_eq(number(700, 1, 1), 1);
	ck_assert_uint_eq(number(0, 0, 1), 3);
	ck_assert_uint_eq(number(600, 0, 6), 2);
	hlg_machines_finish(&machines);
}
END_TEST

START_TEST(used_again)
{
	ck_assert_uint_eq(number(700, 0, 50), 1);
	ck_assert_uint_eq(number(700, 1, 60), 1);
	ck_assert_uint_eq(number(700, 2, 70), 1);
	ck_assert_uint_eq(number(600, 0, 1), 2);
	/* The new one's vCPUs come one after another. */
	ck_assert_uint_eq(number(700, 1, 2), 3);
	ck_assert_uint_eq(number(700, 0, 3), 3);
	ck_assert_uint_eq(number(700, 1, 3), 3);
	ck_assert_uint_eq(number(700, 2, 90), 3);
	ck_assert_uint_eq(number(700, 0, 1), 4);
	ck_assert_uint_eq(number(600, 0, 2), 2);
	hlg_machines_finish(&machines);
}
END_TEST

START_TEST(many)
{
	for (uint64_t turn = 0; turn < 3; turn++)
		for (uint64_t i = 0; i < 5000; i++)
			ck_assert_uint_eq(number(0xffffc90000000000 + 4096 * i,
						 (int32_t)(turn % 2), turn),
					  i + 1);
	hlg_machines_finish(&machines);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("callers machines");
	TCase *tc = tap_case(suite, "machines");

	tcase_add_test(tc, in_order);
	tcase_add_test(tc, used_again);
	tcase_add_test(tc, many);
	return tap_main(suite);
}
