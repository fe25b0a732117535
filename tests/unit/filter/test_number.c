// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbers are read whole or refused: every accepted form gives its exact value up to the
 * last one that fits, and one more, a blank, a sign or a stray character is refused. The
 * expected values are written out, not computed the way number.c computes them. Where a
 * locale with a decimal comma is installed the fractions are read under it as well.
 */
#include "filter/options/number.h"

#include <locale.h>

#include "symtab/err.h"
#include "tests/kit/oom.h"
#include "tests/kit/tap.h"

struct good {
	const char *text;
	uint64_t value;
};

typedef bool reader(const char *s, uint64_t *value);

static void accept_all(reader *read, const struct good *good, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t value = 12345;

		ck_assert_msg(read(good[i].text, &value), "'%s' is refused",
			      good[i].text);
		ck_assert_msg(value == good[i].value, "'%s' is read as %ju", good[i].text,
			      (uintmax_t)value);
	}
}

static void refuse_all(reader *read, const char *const *bad, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t value;

		ck_assert_msg(!read(bad[i], &value), "'%s' is accepted", bad[i]);
	}
}

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

START_TEST(u64)
{
	static const struct good good[] = {
		{"0", 0},
		{"007", 7},
		{"1234567890", 1234567890},
		{"18446744073709551615", UINT64_MAX},
		{"0x0", 0},
		{"0xfF", 255},
		{"0XaB", 171},
		{"0x00000000000000000000001", 1},
		{"0xffffffffffffffff", UINT64_MAX},
	};
	static const char *const bad[] = {
		"",
		" ",
		" 1",
		"1 ",
		"+1",
		"-1",
		"0x",
		"0xg",
		"x1",
		"0x 1",
		"0x-1",
		"1x",
		"a",
		"1a",
		"1e3",
		"1.0",
		"1_000",
		"1,000",
		"18446744073709551616",
		"99999999999999999999",
		"0x10000000000000000",
		"\xd9\xa3", /* ARABIC-INDIC DIGIT THREE */
	};

	accept_all(hlg_number_u64, good, LENGTH(good));
	refuse_all(hlg_number_u64, bad, LENGTH(bad));
}
END_TEST

START_TEST(size)
{
	static const struct good good[] = {
		{"0", 0},           {"4096", 4096},
		{"1K", 1024},       {"1k", 1024},
		{"3M", 3145728},    {"1m", 1048576},
		{"2G", 2147483648}, {"2g", 2147483648},
		{"0x10k", 16384},   {"17179869183G", UINT64_C(18446744072635809792)},
	};
	static const char *const bad[] = {
		"",    "K",    "1KB",          "1T", "1 K", "1KK",
		"-1K", "1.5K", "17179869184G", "1+", "1-",  "1\x0b",
	};

	accept_all(hlg_number_size, good, LENGTH(good));
	refuse_all(hlg_number_size, bad, LENGTH(bad));
}
END_TEST

START_TEST(nano)
{
	static const char *const locales[] = {"C", "fr_FR.UTF-8", "de_DE.UTF-8"};
	static const struct good good[] = {
		{"0", 0},
		{"1", 1000000000},
		{"12.5", 12500000000},
		{"0.000000001", 1},
		{"0.1", 100000000},
		{"1.123456789", 1123456789},
		{"18446744073.709551615", UINT64_MAX},
	};
	static const char *const bad[] = {
		"",
		".",
		".5",
		"1,5",
		"-1",
		"1.x",
		"1..2",
		"1.2.3",
		"0x1",
		"1e3",
		" 1",
		"1.5 ",
		"1.1234567890",
		"18446744073.709551616",
		"18446744074",
		"99999999999999999999",
	};

	setlocale(LC_ALL, locales[_i]);
	accept_all(hlg_number_nano, good, LENGTH(good));
	refuse_all(hlg_number_nano, bad, LENGTH(bad));
	setlocale(LC_ALL, "C");
}
END_TEST

START_TEST(time_of_any_unit)
{
	static const struct good good[] = {
		{"0", 0},
		{"2", 2000000000},
		{"2s", 2000000000},
		{"500ms", 500000000},
		{"0.5us", 500},
		{"1.9ns", 1},
		{"0.0000005ms", 0},
		{"18446744073709551615ns", UINT64_MAX},
		{"20000000000.5us", 20000000000500},
		{"18446744073.709551615s", UINT64_MAX},
	};
	static const char *const bad[] = {
		"",
		"s",
		"1m",
		"1S",
		"1 s",
		" 1s",
		"1s ",
		"-1s",
		"+1",
		"0x1ms",
		"1e3s",
		"1mss",
		"1.2.3us",
		"18446744074s",
		"000000000000000000000000000000001s", /* longer than any of use */
	};

	accept_all(hlg_number_time, good, LENGTH(good));
	refuse_all(hlg_number_time, bad, LENGTH(bad));
}
END_TEST

START_TEST(list_holds_what_it_names)
{
	struct hlg_number_list list;

	ck_assert_int_eq(hlg_number_list_parse(&list, "1,4-7,0x10,2147483647,9-9"), 0);
	ck_assert_uint_eq(list.n, 5);
	ck_assert_uint_eq(list.range[1].first, 4);
	ck_assert_uint_eq(list.range[1].last, 7);
	for (int v = -3; v < 20; v++)
		ck_assert_int_eq(hlg_number_list_has(&list, v),
				 v == 1 || (v >= 4 && v <= 7) || v == 9 || v == 16);
	ck_assert(hlg_number_list_has(&list, INT32_MAX));
	ck_assert(!hlg_number_list_has(&list, INT32_MIN));
	hlg_number_list_finish(&list);
	ck_assert_uint_eq(list.n, 0);
	ck_assert(!hlg_number_list_has(&list, 1));
	hlg_number_list_finish(&list);
}
END_TEST

/* -1 is "not recorded", so even a list of everything does not hold it. */
START_TEST(list_of_everything_holds_no_negative)
{
	struct hlg_number_list list;

	ck_assert_int_eq(hlg_number_list_parse(&list, "0-2147483647"), 0);
	ck_assert(hlg_number_list_has(&list, 0));
	ck_assert(!hlg_number_list_has(&list, -1));
	hlg_number_list_finish(&list);
}
END_TEST

START_TEST(list_refuses)
{
	static const char *const bad[] = {
		"",    ",",    "1,",         ",1",           "1,,2",       "-1",
		"1-",  "7-4",  "1-2-3",      "1 ,2",         "1, 2",       "a",
		"1;2", "0x",   "2147483648", "1-2147483648", "4294967297", "*",
		"all", "1-2,", "1-,2",       "1,2-1",
	};

	for (size_t i = 0; i < LENGTH(bad); i++) {
		struct hlg_number_list list;

		ck_assert_msg(hlg_number_list_parse(&list, bad[i]) == HLG_EINPUT,
			      "'%s' is accepted", bad[i]);
		hlg_number_list_finish(&list);
	}
}
END_TEST

START_TEST(list_without_memory)
{
	struct hlg_number_list list;
	int rc, n = 0;
	bool struck;

	do {
		oom_arm(++n, false);
		rc = hlg_number_list_parse(&list, "1,3,5-7,9");
		struck = oom_disarm();
		ck_assert_int_eq(rc, struck ? HLG_ESYSTEM : 0);
		ck_assert_uint_le(list.n, 4);
		hlg_number_list_finish(&list);
	} while (struck);
	ck_assert_int_gt(n, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("number");
	TCase *tc = tap_case(suite, "number");

	tcase_add_test(tc, u64);
	tcase_add_test(tc, size);
	tcase_add_loop_test(tc, nano, 0, 3);
	tcase_add_test(tc, time_of_any_unit);
	tcase_add_test(tc, list_holds_what_it_names);
	tcase_add_test(tc, list_of_everything_holds_no_negative);
	tcase_add_test(tc, list_refuses);
	tcase_add_test(tc, list_without_memory);
	return tap_main(suite);
}
