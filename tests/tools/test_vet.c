// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines as the kernel writes them go through, with the numbers they declare; whatever
 * else a format text says does not.
 */
#include "tools/tracepoint/vet.h"

#include <stdlib.h>
#include <string.h>

#include "../tap.h"

#define PRINT "\nprint fmt: \"\"\n"

static void check(const char *text, const char *expected)
{
	size_t size = strlen(text), n;
	char *out = malloc(HLG_TRACE_VET_ROOM(size));

	ck_assert_ptr_nonnull(out);
	n = hlg_trace_vet(out, text, size);
	ck_assert_uint_lt(n, HLG_TRACE_VET_ROOM(size));
	ck_assert_uint_eq(n, strlen(out));
	ck_assert_str_eq(out, expected);
	free(out);
}

START_TEST(the_kernels)
{
	static const char text[] =
		"name: kvm_exit\nID: 103\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
		"\tfield:const char * name;\toffset:8;\tsize:8;\tsigned:0;\n"
		"\tfield:void *vcpu;\toffset:8;\tsize:8;\tsigned:0;\n"
		"\tfield:u64 info1;\toffset:32;\tsize:8;\n";

	check(text, strcat(strcpy((char[sizeof(text) + sizeof(PRINT)]){0}, text), PRINT));
	check("name: 9p_client_req\n", "name: 9p_client_req\n" PRINT);
}
END_TEST

START_TEST(what_is_no_number)
{
	check("\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n", PRINT);
	check("\tfield:__data_loc char[] name;\toffset:8;\tsize:4;\tsigned:0;\n", PRINT);
	check("print fmt: \"%d\", REC->x\n", PRINT);
}
END_TEST

START_TEST(hostile)
{
	static const char *const texts[] = {
		"\tfield:d short common[\xff\xff;\toffset:8;\tsize:8;\tsigned:0;",
		"\tfield:int x;\toffset:9999999;\tsize:8;\tsigned:0;",
		"\tfield:int x;\toffset:-8;\tsize:8;\tsigned:0;",
		"\tfield:int x;\toffset:8;\tsize:;\tsigned:0;",
		"\tfield:int x;\toffset:8;\tsize:8;\tsigned:0; more",
		"\tfield:int;\toffset:8;\tsize:8;\tsigned:0;",
		"\tfield:int  x;\toffset:8;\tsize:8;\tsigned:0;",
		"\tfield:int x ;\toffset:8;\tsize:8;\tsigned:0;",
		"\tfield:int 8x;\toffset:8;\tsize:8;\tsigned:0;",
		"\tfield:* x;\toffset:8;\tsize:8;\tsigned:0;",
		"\tfield:",
		"name: a b",
		"ID: 1x",
		"format: x",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		check(texts[i], PRINT);
	check("", PRINT);
	/* A line without an end gets one. */
	check("ID: 7", "ID: 7\n" PRINT);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("vet");
	TCase *tc = tap_case(suite, "vet");

	tcase_add_test(tc, the_kernels);
	tcase_add_test(tc, what_is_no_number);
	tcase_add_test(tc, hostile);
	return tap_main(suite);
}
