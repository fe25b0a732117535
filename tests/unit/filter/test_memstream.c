// SPDX-License-Identifier: GPL-2.0-only
/* A text in memory is whole, or there is none; and it knows where it is. */
#include "filter/output/memstream.h"

#include <string.h>

#include "tests/kit/oom.h"
#include "tests/kit/tap.h"

enum {
	LINES = 5000 /* several times what a stream holds back */
};

static void write_lines(FILE *f)
{
	for (int i = 0; i < LINES; i++)
		fprintf(f, "%d\n", i);
}

START_TEST(whole)
{
	struct hlg_memstream m;
	char *text, *end;

	ck_assert(hlg_memstream_open(&m) == m.f && m.f);
	ck_assert_uint_eq(hlg_memstream_size(&m), 0);
	ck_assert_int_eq(ftell(m.f), 0);
	write_lines(m.f);
	ck_assert_int_eq(ftell(m.f), 23890);
	ck_assert_uint_eq(hlg_memstream_size(&m), 23890);
	fwrite("a\0b", 1, 3, m.f);
	text = end = hlg_memstream_close(&m);
	ck_assert_ptr_nonnull(text);
	ck_assert_ptr_null(m.f);
	ck_assert_uint_eq(m.size, 23893);
	for (int i = 0; i < LINES; i++)
		ck_assert_int_eq(strtol(end, &end, 10), i);
	ck_assert(memcmp(end, "\na\0b", 5) == 0);
	free(text);
}
END_TEST

START_TEST(empty)
{
	struct hlg_memstream m;
	char *text;

	hlg_memstream_open(&m);
	text = hlg_memstream_close(&m);
	ck_assert_str_eq(text, "");
	free(text);
	ck_assert_ptr_null(hlg_memstream_close(&m));
}
END_TEST

/* A writer that lacks something itself has no text either. */
START_TEST(given_up)
{
	struct hlg_memstream m;

	fputs("half", hlg_memstream_open(&m));
	m.lost = true;
	ck_assert_ptr_null(hlg_memstream_close(&m));
}
END_TEST

/* Each allocation in turn, alone: what is written later does not make up for it. */
START_TEST(lost)
{
	bool struck = true;
	unsigned n = 1;

	for (; struck; n++) {
		struct hlg_memstream m;
		char *text;

		hlg_memstream_open(&m);
		oom_arm(n, false);
		write_lines(m.f);
		text = hlg_memstream_close(&m);
		struck = oom_disarm();
		ck_assert_int_eq(!text, struck);
		free(text);
	}
	ck_assert_uint_gt(n, 3);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memstream");
	TCase *tc = tap_case(suite, "memstream");

	tcase_add_test(tc, whole);
	tcase_add_test(tc, empty);
	tcase_add_test(tc, given_up);
	tcase_add_test(tc, lost);
	return tap_main(suite);
}
