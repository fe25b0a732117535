// SPDX-License-Identifier: GPL-2.0-only
/*
 * Formats by name: each of the filter's is found, and those of records where a list has
 * them; what this build lacks, a terminal, and stacks are refused in words; rows are as
 * many as the format shows.
 */
#include "filter/write/format.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "tests/kit/tap.h"

static int write_nothing(void *data, FILE *f, struct hlg_err *err)
{
	(void)data, (void)f, (void)err;
	return 0;
}

static const struct hlg_format few = {
	.name = "few", .top = 3, .stacks = true, .write = write_nothing};
static const struct hlg_format file = {
	.name = "file", .file = "x.bin", .write = write_nothing};
static const struct hlg_format absent = {.name = "absent", .needs = "libabsent-dev"};
static const struct hlg_format *const formats[] = {&few, &file, &absent, NULL};
static const struct hlg_format *const none[] = {NULL};

START_TEST(names)
{
	char words[HLG_FORMAT_WORDS];

	ck_assert_str_eq(hlg_format_words(words, formats), "few|file|absent");
	for (size_t i = 0; formats[i]; i++) {
		ck_assert_ptr_eq(hlg_format_at(formats, i), formats[i]);
		ck_assert_ptr_eq(hlg_format_find(formats, formats[i]->name), formats[i]);
	}
	ck_assert_ptr_eq(hlg_format_find(formats, NULL), &few);
	ck_assert_ptr_null(hlg_format_find(formats, "fe"));
	ck_assert_ptr_null(hlg_format_find(formats, "fewer"));
	ck_assert_ptr_null(hlg_format_find(formats, ""));
	ck_assert_ptr_null(hlg_format_find(none, NULL));
	ck_assert_ptr_null(hlg_format_at(formats, 3));
	ck_assert_str_eq(hlg_format_words(words, none), "");
}
END_TEST

/* Where a list has formats of records, all of them stand, CSV first. */
START_TEST(records)
{
	static const struct hlg_format *const list[] = {&few, &hlg_format_of_records,
							&file, NULL};
	const struct hlg_format *format;
	size_t n = 0;

	while ((format = hlg_format_at(list, n + 1)) && format->record) {
		ck_assert(format->head && !format->write);
		ck_assert_ptr_eq(hlg_format_find(list, format->name), format);
		n++;
	}
	ck_assert_uint_gt(n, 0);
	ck_assert_str_eq(hlg_format_at(list, 1)->name, "csv");
	ck_assert_ptr_eq(hlg_format_at(list, 0), &few);
	ck_assert_ptr_eq(hlg_format_at(list, n + 1), &file);
	ck_assert_ptr_null(hlg_format_at(list, n + 2));
}
END_TEST

/* The option's fallback is the first of the list. */
START_TEST(filter)
{
	const struct hlg_format *format;

	for (size_t i = 0; i < hlg_n_options; i++)
		if (strcmp(hlg_option_table[i].name, "format") == 0)
			ck_assert_str_eq(hlg_option_table[i].fallback,
					 hlg_format_at(hlg_format_filter, 0)->name);
	for (size_t i = 0; (format = hlg_format_at(hlg_format_filter, i)); i++) {
		struct hlg_options o = {0};
		struct hlg_err err;

		ck_assert_int_eq(!format->write && !format->record,
				 format->needs != NULL);
		ck_assert_int_eq(hlg_format_choose(format, &o, &err),
				 format->needs ? HLG_EINPUT : 0);
		ck_assert_uint_eq(o.most, i == 0 ? 40 : 0);
	}
}
END_TEST

static void check_refused(const struct hlg_format *format, struct hlg_options *o,
			  const char *message)
{
	struct hlg_err err = {0};

	ck_assert_int_eq(hlg_format_choose(format, o, &err), message ? HLG_EINPUT : 0);
	if (message)
		ck_assert_str_eq(err.msg, message);
}

START_TEST(refused)
{
	struct hlg_options o = {0};
	int terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY), saved = dup(1);

	check_refused(&few, &o, NULL);
	ck_assert_uint_eq(o.most, 3);
	check_refused(&absent, &o,
		      "format=absent: not in this build (install libabsent-dev and build "
		      "again)");
	o.stacks = HLG_STACKS_CALLGRAPH;
	check_refused(&few, &o, NULL);
	check_refused(&file, &o,
		      "--format=file: keeps no stacks (leave --stacks away, or use "
		      "--format=folded)");
	o.stacks = HLG_STACKS_LEAF;
	check_refused(&file, &o, NULL);
	ck_assert_uint_eq(o.most, 0);
	if (terminal >= 0) {
		dup2(terminal, 1);
		check_refused(&few, &o, NULL);
		check_refused(&file, &o,
			      "--format=file: not for a terminal (use "
			      "-o x.bin)");
		o.out = (char[]){"there"};
		check_refused(&file, &o, NULL);
		dup2(saved, 1);
		close(terminal);
	}
	close(saved);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("format");
	TCase *tc = tap_case(suite, "format");

	tcase_add_test(tc, names);
	tcase_add_test(tc, records);
	tcase_add_test(tc, filter);
	tcase_add_test(tc, refused);
	return tap_main(suite);
}
