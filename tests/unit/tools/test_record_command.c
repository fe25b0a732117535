// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which words of a VMM's command line are guests: each file once, however it is named,
 * and no more than there is room for.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/kit/tap.h"
#include "tools/record/command.h"

#define DEMO  DATA "/demo.elf"
#define RUSTY DATA "/rusty.elf"
#define SMALL DATA "/hyperlight/small.elf"

#define WORD(text)                                                                       \
	(char[])                                                                         \
	{                                                                                \
		text                                                                     \
	}

/* The guests, of which there is room for `most`. */
static void check_found(size_t most, size_t n, const char *last)
{
	const char *found[4] = {"", "", "", ""};
	char *words[] = {WORD("/bin/true"),
			 WORD("-v"),
			 WORD(DEMO),
			 WORD("--kernel=" RUSTY),
			 WORD(DATA "/../data/demo.elf"),
			 WORD("nosuch"),
			 WORD(SMALL),
			 NULL};

	ck_assert_uint_eq(hlg_record_command_guests(words, found, most), n);
	ck_assert_str_eq(found[0], DEMO);
	ck_assert_str_eq(found[n - 1], last);
	for (size_t i = n; i < 4; i++)
		ck_assert_str_eq(found[i], "");
}

START_TEST(each_file_once)
{
	check_found(4, 3, SMALL);
	check_found(3, 3, SMALL);
}
END_TEST

START_TEST(more_than_there_is_room_for)
{
	check_found(2, 2, RUSTY);
	check_found(1, 1, DEMO);
}
END_TEST

/* The program itself is none, by whatever name. */
START_TEST(but_the_program)
{
	const char *found[2] = {"", ""};
	char *command[] = {WORD(DEMO), WORD(DATA "/../data/demo.elf"), WORD(RUSTY), NULL};

	ck_assert_uint_eq(hlg_record_command_guests(command, found, 2), 1);
	ck_assert_str_eq(found[0], RUSTY);
}
END_TEST

/* Of two modules it is not known which the guest runs. */
START_TEST(modules)
{
	char *one[] = {WORD("/bin/true"), WORD(DEMO), WORD(DATA "/wasm/module.cwasm"),
		       NULL};
	char *none[] = {WORD("/bin/true"), WORD(DEMO), NULL};

	ck_assert_str_eq(hlg_record_command_module(one), DATA "/wasm/module.cwasm");
	ck_assert_ptr_null(hlg_record_command_module(none));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("record command");
	TCase *tc = tap_case(suite, "record command");

	tcase_add_test(tc, each_file_once);
	tcase_add_test(tc, more_than_there_is_room_for);
	tcase_add_test(tc, but_the_program);
	tcase_add_test(tc, modules);
	return tap_main(suite);
}
