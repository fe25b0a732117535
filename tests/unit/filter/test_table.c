// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each type of value in text, CSV and JSON, and none; the sides, widths and gaps of text,
 * in characters, not bytes; hostile text, as it may be shown, in all three; layouts;
 * tails.
 */
#include "filter/write/table.h"

#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "filter/write/format.h"
#include "tests/kit/tap.h"
#if HLG_HAVE_JANSSON
#include "filter/write/json.h"
#endif

#define SIZE(array) (sizeof(array) / sizeof((array)[0]))

enum what {
	TEXT_HEAD,
	TEXT_ROW,
	CSV_HEAD,
	CSV_ROW
};

static void check(enum what what, const struct hlg_table *table,
		  const struct hlg_value *values, const char *expected)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	const struct hlg_format *csv = hlg_format_find(hlg_format_filter, "csv");

	ck_assert_ptr_nonnull(f);
	switch (what) {
	case TEXT_HEAD:
		hlg_table_text_head(f, table);
		break;
	case TEXT_ROW:
		hlg_table_text_row(f, table, values, 0.5);
		break;
	case CSV_HEAD:
		csv->head(f, table);
		break;
	case CSV_ROW:
		csv->record(f, table, values);
	}
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_str_eq(text, expected);
	free(text);
}

static void check_json(const struct hlg_table *table, const struct hlg_value *values,
		       const char *expected)
{
#if HLG_HAVE_JANSSON
	json_t *o = json_object();
	char *text;

	hlg_json_row(o, table, values);
	text = json_dumps(o, JSON_REAL_PRECISION(15));
	ck_assert_str_eq(text, expected);
	free(text);
	json_decref(o);
#else
	(void)table, (void)values, (void)expected;
#endif
}

static const char *next_word(const void *of, size_t *i)
{
	const char *const *words = of;

	return words[*i] ? words[(*i)++] : NULL;
}

static const char *const words[] = {"a", "\"b\"", "c;d\n", NULL};
static const char *const no_words[] = {NULL};
static const char *const formula[] = {"=a", "+b", NULL};

static struct hlg_value list(const char *const *of)
{
	return (struct hlg_value){.is = true, .list = {next_word, of}};
}

/* A value of each type, in a column of its own. */
START_TEST(types)
{
	static const struct hlg_share share = {0.5, 0.1234, 0.98765};
	const struct {
		struct hlg_column column;
		struct hlg_value value;
		const char *text, *csv, *json; /* NULL: of text only */
	} c[] = {
		{{.type = HLG_VALUE_TEXT},
		 hlg_table_text_value("a, b"),
		 "a, b",
		 "\"a, b\"",
		 "\"a, b\""},
		{{.type = HLG_VALUE_TEXT}, hlg_table_text_value(""), "", "\"\"", "\"\""},
		{{.type = HLG_VALUE_TEXT}, hlg_table_text_value(NULL), "", "", "null"},
		{{.type = HLG_VALUE_TEXT, .none = "-"},
		 hlg_table_text_value(NULL),
		 "-",
		 "",
		 "null"},
		{{.type = HLG_VALUE_WORD}, hlg_table_text_value("a"), "a", "a", "\"a\""},
		{{.type = HLG_VALUE_WORD},
		 hlg_table_text_value("a b"),
		 "a b",
		 "a b",
		 "\"a b\""},
		{{.type = HLG_VALUE_WORD},
		 hlg_table_text_value(" a"),
		 " a",
		 "\" a\"",
		 "\" a\""},
		{{.type = HLG_VALUE_WORD},
		 hlg_table_text_value("-a"),
		 "-a",
		 "\"'-a\"",
		 "\"-a\""},
		{{.type = HLG_VALUE_COUNT}, hlg_table_count_value(0), "0", "0", "0"},
		{{.type = HLG_VALUE_COUNT},
		 hlg_table_count_value(INT64_MAX),
		 "9223372036854775807",
		 "9223372036854775807",
		 "9223372036854775807"},
		{{.type = HLG_VALUE_COUNT},
		 hlg_table_count_value(UINT64_MAX),
		 "18446744073709551615",
		 "18446744073709551615",
		 "9223372036854775807"},
		{{.type = HLG_VALUE_COUNT}, hlg_table_id_value(-1), "", "", "null"},
		{{.type = HLG_VALUE_COUNT}, hlg_table_id_value(7), "7", "7", "7"},
		{{.type = HLG_VALUE_SIGNED},
		 hlg_table_number_value(12),
		 "+12",
		 "+12",
		 "12.0"},
		{{.type = HLG_VALUE_SIGNED},
		 hlg_table_number_value(-3),
		 "-3",
		 "-3",
		 "-3.0"},
		{{.type = HLG_VALUE_ADDR},
		 hlg_table_count_value(UINT64_MAX),
		 "0xffffffffffffffff",
		 "0xffffffffffffffff",
		 "\"0xffffffffffffffff\""},
		{{.type = HLG_VALUE_PERCENT},
		 hlg_table_number_value(0.12345),
		 "12.35",
		 "12.35",
		 "12.35"},
		{{.type = HLG_VALUE_PERCENT, .unit = " %"},
		 hlg_table_number_value(1),
		 "100.00 %",
		 "100.00",
		 "100.0"},
		{{.type = HLG_VALUE_PERCENT},
		 hlg_table_number_value(NAN),
		 "",
		 "",
		 "null"},
		{{.type = HLG_VALUE_POINTS},
		 hlg_table_number_value(0.0168),
		 "+1.68",
		 "+1.68",
		 "1.68"},
		{{.type = HLG_VALUE_POINTS},
		 hlg_table_number_value(-0.25),
		 "-25.00",
		 "-25.00",
		 "-25.0"},
		{{.type = HLG_VALUE_GROWTH},
		 hlg_table_number_value(0.5),
		 "+50.00 %",
		 "+50.00",
		 "50.0"},
		{{.type = HLG_VALUE_GROWTH},
		 hlg_table_number_value(150.2),
		 "151 x",
		 "+15020.00",
		 "15020.0"},
		{{.type = HLG_VALUE_GROWTH},
		 hlg_table_number_value(INFINITY),
		 "from 0",
		 "",
		 "null"},
		{{.type = HLG_VALUE_REAL, .places = 3},
		 hlg_table_number_value(1234567.5),
		 "1234567.500",
		 "1234567.500",
		 "1234567.5"},
		{{.type = HLG_VALUE_PROBABILITY},
		 hlg_table_number_value(0.012345),
		 "0.0123",
		 "0.01235",
		 "0.01235"},
		{{.type = HLG_VALUE_PROBABILITY},
		 hlg_table_number_value(1e-9),
		 "<0.0001",
		 "1e-09",
		 "1e-9"},
		{{.type = HLG_VALUE_NS},
		 hlg_table_count_value(12345),
		 "12.3 us",
		 "12345",
		 "12345"},
		{{.type = HLG_VALUE_NS},
		 hlg_table_count_value(9999),
		 "9999 ns",
		 "9999",
		 "9999"},
		{{.type = HLG_VALUE_SECONDS},
		 hlg_table_count_value(1000000002),
		 "1.000000002",
		 "1.000000002",
		 "1.000000002, \"key_ns\": 1000000002"},
		{{.type = HLG_VALUE_BOOL, .unit = "*"},
		 hlg_table_count_value(1),
		 "*",
		 "1",
		 "true"},
		{{.type = HLG_VALUE_BOOL, .unit = "*"},
		 hlg_table_count_value(0),
		 "",
		 "0",
		 "false"},
		{{.type = HLG_VALUE_LIST},
		 list(words),
		 "a, \"b\", c;d\\x0a",
		 "\"a;\"\"b\"\";c;d\\x0a\"",
		 "[\"a\", \"\\\"b\\\"\", \"c;d\\\\x0a\"]"},
		{{.type = HLG_VALUE_LIST, .between = " "},
		 list(formula),
		 "=a, +b",
		 "\"'=a +b\"",
		 "[\"=a\", \"+b\"]"},
		{{.type = HLG_VALUE_LIST}, list(no_words), "", "", "[]"},
		{{.type = HLG_VALUE_SHARES},
		 hlg_table_share_value(share),
		 " 12.34 -  98.77",
		 NULL,
		 NULL},
		{{.type = HLG_VALUE_CHANGES},
		 hlg_table_share_value(share),
		 " +12.34 to  +98.77",
		 NULL,
		 NULL},
	};

	for (size_t i = 0; i < SIZE(c); i++) {
		struct hlg_column column = c[i].column;
		const struct hlg_table table = {&column, .n = 1};
		char expected[80];

		column.heading = "heading";
		column.key = c[i].csv ? "key" : NULL;
		snprintf(expected, sizeof(expected), "%s\n", c[i].text);
		check(TEXT_ROW, &table, &c[i].value, expected);
		snprintf(expected, sizeof(expected), "%s\n", c[i].csv ? c[i].csv : "");
		check(CSV_ROW, &table, &c[i].value, expected);
		snprintf(expected, sizeof(expected), "{\"key\": %s}", c[i].json);
		check_json(&table, &c[i].value, c[i].json ? expected : "{}");
	}
}
END_TEST

static void put_tail(FILE *f, const void *of)
{
	fputs(of, f);
}

static const struct hlg_column columns[] = {
	{"name", "left", .type = HLG_VALUE_TEXT, .width = -6},
	{"n", "right", .type = HLG_VALUE_COUNT, .gap = 1, .width = 7, .unit = " %"},
	{"csv", NULL, .type = HLG_VALUE_WORD},
	{NULL, "text", .type = HLG_VALUE_WORD, .gap = 2, .width = 5, .none = "-"},
	{"last", "last", .type = HLG_VALUE_TEXT, .gap = 2, .flags = HLG_COLUMN_OMIT},
};

/* The rows below the heads, whatever the text; what is longer pushes the rest away. */
START_TEST(widths)
{
	const struct hlg_table table = {columns, .n = SIZE(columns)};
	struct hlg_value v[] = {hlg_table_text_value("ab"), hlg_table_count_value(12),
				hlg_table_text_value("c"), hlg_table_text_value("x"),
				hlg_table_text_value("end")};

	check(TEXT_HEAD, &table, NULL, "left     right   text  last\n");
	check(TEXT_ROW, &table, v, "ab        12 %      x  end\n");
	v[0] = hlg_table_text_value(
		"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"); /* three characters */
	check(TEXT_ROW, &table, v,
	      "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80       12 %      x  end\n");
	v[0] = hlg_table_text_value("\x1b"); /* is shown as four */
	check(TEXT_ROW, &table, v, "\\x1b      12 %      x  end\n");
	v[0] = hlg_table_text_value("longer than it");
	v[1] = hlg_table_count_value(1234567);
	v[3] = hlg_table_text_value(NULL);
	v[4] = hlg_table_text_value(NULL);
	check(TEXT_ROW, &table, v, "longer than it 1234567 %      -  \n");
	v[0] = v[1] = (struct hlg_value){0};
	v[4] = (struct hlg_value){
		.is = true, .text = "e", .tail = put_tail, .of = " (t)"};
	check(TEXT_ROW, &table, v, "                    -  e (t)\n");
	v[4].is = false;
	check(TEXT_ROW, &table, v, "                    -   (t)\n");
	check(CSV_ROW, &table, v, ",,c,\n");
}
END_TEST

/* Without a layout all that a format calls; with one those, as they stand in it. */
START_TEST(layouts)
{
	static const unsigned char order[] = {4, 1, 2};
	const struct hlg_table all = {columns, .n = SIZE(columns)};
	const struct hlg_table some = {columns, order, SIZE(order), {0}, {0}};
	const struct hlg_table none = {columns, order, 0, {0}, {0}};
	const struct hlg_value v[] = {
		hlg_table_text_value("a"), hlg_table_count_value(12),
		hlg_table_text_value("c"), hlg_table_text_value("x"),
		hlg_table_text_value(NULL)};

	check(CSV_HEAD, &all, NULL, "name,n,csv,last\n");
	check(CSV_ROW, &all, v, "\"a\",12,c,\n");
	check(CSV_HEAD, &some, NULL, "last,n,csv\n");
	check(CSV_ROW, &some, v, ",12,c\n");
	check(TEXT_HEAD, &some, NULL, "  last   right\n");
	check(TEXT_ROW, &some, v, "      12 %\n");
	check(TEXT_HEAD, &none, NULL, "\n");
	check(CSV_ROW, &none, v, "\n");
	check_json(&all, v, "{\"name\": \"a\", \"n\": 12, \"csv\": \"c\"}");
	check_json(&some, v, "{\"n\": 12, \"csv\": \"c\"}");
	check_json(&none, v, "{}");
}
END_TEST

/* Only on a terminal; neighbours are painted in one go. */
START_TEST(paint)
{
	static const struct hlg_column painted[] = {
		{NULL, "a", .type = HLG_VALUE_COUNT, .flags = HLG_COLUMN_PAINTED},
		{NULL, "b", .type = HLG_VALUE_COUNT, .gap = 1,
		 .flags = HLG_COLUMN_PAINTED},
		{NULL, "c", .type = HLG_VALUE_BAR, .gap = 1, .width = -4},
	};
	const struct hlg_value v[] = {
		hlg_table_count_value(1), hlg_table_count_value(2),
		hlg_table_share_value((struct hlg_share){.share = 0.25, .high = 0.5})};
	struct hlg_table table = {painted, .n = 3};

	check(TEXT_ROW, &table, v, "1 2 ##  \n");
	table.colours.on = true;
	check(TEXT_ROW, &table, v, "\033[31m1 2\033[m \033[31m##\033[m  \n");
	table.n = 2;
	check(TEXT_ROW, &table, v, "\033[31m1 2\033[m\n");
}
END_TEST

/* Names of columns may be somebody else's, too: events. */
START_TEST(hostile_keys)
{
	static const struct hlg_column events[] = {
		{"a,b", "\033x", .type = HLG_VALUE_COUNT, .width = 6},
		{"=1", "", .type = HLG_VALUE_COUNT},
	};
	const struct hlg_table table = {events, .n = 2};

	check(CSV_HEAD, &table, NULL, "\"a,b\",\"'=1\"\n");
	check(TEXT_HEAD, &table, NULL, " \\x1bx\n");
}
END_TEST

/* A name that has no room keeps both ends, in whole characters; what is escaped counts as
 * it is written. */
START_TEST(cut)
{
	static const struct {
		const char *text;
		long cells;
		bool ascii;
		const char *want;
	} c[] = {
		{"short", 5, false, "short"},
		{"abcdefghij", 10, false, "abcdefghij"},
		{"abcdefghijk", 10, false, "abcdef\u2026ijk"},
		{"abcdefghijk", 10, true, "abcdef..jk"},
		{"\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9", 4, false,
		 "\u00e9\u00e9\u2026\u00e9"},
		{"a\nb", 6, false, "a\\x0ab"},
		{"a\nbc", 6, false, "a\u2026c"},
		{"abc", 2, false, "abc"}, /* no room for anything */
	};

	for (size_t i = 0; i < SIZE(c); i++) {
		char *text = NULL;
		size_t size;
		FILE *f = open_memstream(&text, &size);
		long used = hlg_table_cut(f, c[i].text, c[i].cells, c[i].ascii);

		fclose(f);
		ck_assert_str_eq(text, c[i].want);
		ck_assert_int_eq(used, hlg_table_cells(text));
		free(text);
	}
}
END_TEST

/* In time that grows with the name, as somebody else's can be of any length. */
START_TEST(cut_of_megabytes)
{
	enum {
		LONG = 4 << 20
	};
	char *name = malloc(LONG + 1), *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	memset(name, 'x', LONG);
	name[LONG] = '\0';
	ck_assert_int_eq(hlg_table_cut(f, name, 40, true), 40);
	fclose(f);
	ck_assert_uint_eq(size, 40);
	free(text);
	free(name);
}
END_TEST

static void put_text_tail(FILE *f, const void *of)
{
	fputs(of, f);
}

/* The last column takes the cells that are left; of its tail the end is cut, which
 * shows, and only when little is left of the text. */
START_TEST(fitted)
{
	static const struct hlg_column two[] = {
		{NULL, "n", .type = HLG_VALUE_COUNT, 0, 4},
		{NULL, "name", .type = HLG_VALUE_TEXT, 2},
	};
	static const struct {
		unsigned columns;
		const char *tail, *want;
	} c[] = {
		{0, "  (tail)", "  12  a_name_of_thirty_characters_xx  (tail)\n"},
		{50, "  (tail)", "  12  a_name_of_thirty_characters_xx  (tail)\n"},
		{40, "  (tail)", "  12  a_name_of_thirty_\u2026cters_xx  (tail)\n"},
		{30, "  (tail)", "  12  a_name_of_\u2026rs_xx  (tail)\n"},
		{26, "  (tail)", "  12  a_name_of_\u2026rs_xx  (\u2026\n"},
		{22, "  (tail)", "  12  a_name_of_\u2026rs_xx\n"},
	};
	static const struct hlg_column none = {NULL, "", .type = HLG_VALUE_TEXT,
					       .none = "-"};
	const struct hlg_table bare = {&none, .n = 1, .screen = {.columns = 80}};
	const struct hlg_value nothing = {0};

	check(TEXT_ROW, &bare, &nothing, "-\n");

	for (size_t i = 0; i < SIZE(c); i++) {
		const struct hlg_table table = {.columns = two,
						.n = SIZE(two),
						.screen = {.columns = c[i].columns}};
		struct hlg_value v[] = {
			hlg_table_count_value(12),
			hlg_table_text_value("a_name_of_thirty_characters_xx")};
		char *text = NULL;
		size_t size;
		FILE *f = open_memstream(&text, &size);

		v[1].tail = put_text_tail;
		v[1].of = c[i].tail;
		hlg_table_text_row(f, &table, v, 0);
		fclose(f);
		ck_assert_str_eq(text, c[i].want);
		free(text);
	}
}
END_TEST

START_TEST(folders)
{
	static const struct {
		const char *a, *b;
		size_t n;
	} c[] = {
		{"runs/a.data", "runs/b.data", 5}, {"runs/1/a", "runs/12/a", 5},
		{"/a.data", "/b.data", 0},         {"/x/a", "/x/b", 3},
		{"a.data", "a.data.old", 0},       {"x/y", "x/y", 2},
		{"\u00e9/a", "\u00e8/a", 0},       {"", "x/", 0},
	};

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++)
		ck_assert_uint_eq(hlg_table_folder(c[i].a, c[i].b), c[i].n);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("table");
	TCase *tc = tap_case(suite, "table");

	tcase_add_test(tc, types);
	tcase_add_test(tc, widths);
	tcase_add_test(tc, layouts);
	tcase_add_test(tc, paint);
	tcase_add_test(tc, hostile_keys);
	tcase_add_test(tc, cut);
	tcase_add_test(tc, cut_of_megabytes);
	tcase_add_test(tc, fitted);
	tcase_add_test(tc, folders);
	return tap_main(suite);
}
