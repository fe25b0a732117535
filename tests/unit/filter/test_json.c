// SPDX-License-Identifier: GPL-2.0-only
/*
 * The JSON is parsed back by a strict reader that refuses doubled keys and bad UTF-8. Its
 * shape is format 1, its names are those that may be shown, its sums reconcile: totals,
 * functions, regions, and the series of each function, which add up to the function. What
 * is written as it is made has the bytes that jansson would write.
 */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "config.h"
#include "filter/write/json.h"
#include "tests/kit/hostile.h"
#include "tests/kit/tap.h"

enum {
	GUEST = HOSTILE_NAMED + HOSTILE_GAP + HOSTILE_OUTSIDE
};

static json_t *parse(struct hlg_run *run)
{
	char *text = kit_report(run);
	json_error_t error;
	json_t *root;

	hostile_check_safe(text);
	root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	ck_assert_msg(root, "line %d: %s", error.line, error.text);
	ck_assert_int_eq(text[strlen(text) - 1], '\n');
	free(text);
	hlg_run_finish(run);
	return root;
}

static json_t *hostile(const char *words)
{
	struct hlg_run run;

	hostile_start(&run, words);
	return parse(&run);
}

static struct hlg_count count_of(const json_t *o)
{
	json_int_t samples = -1, period = -1;

	ck_assert_int_eq(json_unpack((json_t *)o, "{s:I, s:I}", "samples", &samples,
				     "period", &period),
			 0);
	return (struct hlg_count){(uint64_t)samples, (uint64_t)period};
}

static struct hlg_count total(const json_t *root, const char *name)
{
	return count_of(json_object_get(json_object_get(root, "totals"), name));
}

static struct hlg_count sum_of(const json_t *list)
{
	struct hlg_count sum = {0, 0};

	ck_assert(json_is_array(list));
	for (size_t i = 0; i < json_array_size(list); i++)
		hlg_count_add(&sum, count_of(json_array_get(list, i)));
	return sum;
}

static void same(struct hlg_count a, struct hlg_count b)
{
	ck_assert_uint_eq(a.samples, b.samples);
	ck_assert_uint_eq(a.period, b.period);
}

/* percent of kept, within its interval */
static void check_share(const json_t *o, struct hlg_count kept, bool samples)
{
	double percent = -1, low = -1, high = -1;
	struct hlg_count c = count_of(o);

	ck_assert_int_eq(json_unpack((json_t *)o, "{s:F, s:F, s:F}", "percent", &percent,
				     "low", &low, "high", &high),
			 0);
	ck_assert_double_eq_tol(percent,
				samples ? 100.0 * (double)c.samples / (double)kept.samples
					: 100.0 * (double)c.period / (double)kept.period,
				0.0051);
	ck_assert(low >= 0 && low <= percent && percent <= high && high <= 100);
}

static void check_totals(const json_t *root)
{
	static const char *const kinds[] = {"function", "label", "gap", "data",
					    "outside"};
	const json_t *boundary =
		json_object_get(json_object_get(root, "trust"), "boundary");
	struct hlg_count sum = {0, 0};
	json_int_t on = -1, off = -1, undecodable = -1;

	for (int i = 0; i < 5; i++)
		hlg_count_add(&sum, total(root, kinds[i]));
	same(sum, total(root, "guest"));
	same(sum, (struct hlg_count){GUEST, 10 * GUEST});
	ck_assert_int_eq(json_unpack((json_t *)boundary, "{s:I, s:I, s:I}", "on", &on,
				     "off", &off, "undecodable", &undecodable),
			 0);
	ck_assert_uint_eq((uint64_t)(on + off + undecodable),
			  total(root, "function").samples + total(root, "label").samples);
	hlg_count_add(&sum, total(root, "host"));
	hlg_count_add(&sum, total(root, "deselected"));
	same(sum, total(root, "seen"));
	same(sum_of(json_object_get(root, "events")), total(root, "guest"));
}

static const char *const words[] = {
	"",          "gaps=drop", "gaps=stretch",    "weight=samples", "by=event,tid",
	"region=16", "mode=all",  "gaps=drop by=tid"};

START_TEST(reconciles)
{
	char line[128];
	json_t *root, *functions, *others, *regions;
	struct hlg_count kept, sum;
	bool samples = strstr(words[_i], "weight") != NULL;

	snprintf(line, sizeof(line), "format=json %s", words[_i]);
	root = hostile(line);
	check_totals(root);
	functions = json_object_get(root, "functions");
	others = json_object_get(root, "other");
	regions = json_object_get(root, "regions");
	kept = total(root, "guest");
	hlg_count_sub(&kept, total(root, "dropped"));
	same(sum_of(regions), kept);
	sum = sum_of(functions);
	hlg_count_add(&sum, sum_of(others));
	same(sum, kept);
	for (size_t i = 0; i < json_array_size(functions); i++)
		check_share(json_array_get(functions, i), kept, samples);
	for (size_t i = 0; i < json_array_size(others); i++)
		check_share(json_array_get(others, i), kept, samples);
	for (size_t i = 0; i < json_array_size(regions); i++)
		check_share(json_array_get(regions, i), kept, samples);
	ck_assert_str_eq(json_string_value(json_object_get(root, "weight")),
			 samples ? "samples" : "period");
	json_decref(root);
}
END_TEST

static void check_keys(const json_t *o, const char *const *keys)
{
	size_t n = 0;

	for (; keys[n]; n++)
		ck_assert_msg(json_object_get(o, keys[n]), "no %s", keys[n]);
	ck_assert_uint_eq(json_object_size(o), n);
}

START_TEST(shape)
{
	static const char *const top[] = {"hlguest",
					  "format",
					  "weight",
					  "images",
					  "events",
					  "totals",
					  "effective_samples",
					  "trust",
					  "notes",
					  "functions",
					  "other",
					  "border",
					  "regions",
					  "interval_percent",
					  NULL};
	static const char *const image[] = {"path",    "name",         "build_id",
					    "base",    "bases",        "base_from",
					    "symbols", "symbol_table", NULL};
	static const char *const function[] = {"name",    "symbol", "kind",    "image",
					       "addr",    "size",   "samples", "period",
					       "percent", "low",    "high",    "unsure",
					       "aliases", "series", NULL};
	static const char *const region[] = {"image",   "addr",    "size", "samples",
					     "period",  "percent", "low",  "high",
					     "symbols", "series",  NULL};
	static const char *const trust[] = {"verdict",    "boundary",    "addresses",
					    "base",       "more_images", "gap_share",
					    "precise_ip", "event_kind",  "banner",
					    "shout",      "notes",       NULL};
	static const char *const boundary[] = {
		"on",   "off",    "undecodable",      "share", "low",
		"high", "chance", "interval_percent", NULL};
	static const char *const base[] = {"image", "verdict", "base",  "from",
					   "bases", "fits",    "moved", NULL};
	json_t *root = hostile("format=json"), *first;

	check_keys(root, top);
	ck_assert_str_eq(json_string_value(json_object_get(root, "hlguest")),
			 HLG_VERSION);
	ck_assert_int_eq(json_integer_value(json_object_get(root, "format")), 2);
	first = json_array_get(json_object_get(root, "images"), 0);
	check_keys(first, image);
	ck_assert_str_eq(json_string_value(json_object_get(first, "path")),
			 "./a;\"g\\x1b]0;\\x07e\\x0ast,\\xff.elf");
	ck_assert_str_eq(json_string_value(json_object_get(first, "base")), "0x4000");
	ck_assert_str_eq(json_string_value(json_object_get(first, "base_from")), "note");
	ck_assert_str_eq(json_string_value(json_object_get(first, "build_id")),
			 "b01d1dead0beef000102030405060708090a0b0c");
	first = json_array_get(json_object_get(root, "functions"), 0);
	check_keys(first, function);
	ck_assert_str_eq(json_string_value(json_object_get(first, "addr")), "0x1000");
	check_keys(json_array_get(json_object_get(root, "regions"), 0), region);
	first = json_object_get(root, "trust");
	check_keys(first, trust);
	check_keys(json_object_get(first, "boundary"), boundary);
	check_keys(json_object_get(first, "addresses"), boundary);
	check_keys(json_object_get(first, "base"), base);
	json_decref(root);
}
END_TEST

static const json_t *find(const json_t *root, const char *name)
{
	const json_t *list = json_object_get(root, "functions");

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *o = json_array_get(list, i);

		if (strcmp(json_string_value(json_object_get(o, "name")), name) == 0)
			return o;
	}
	ck_abort_msg("no function %s", name);
}

START_TEST(names)
{
	json_t *root = hostile("format=json demangle=no");

	for (size_t i = 0; i < hostile_n_symbols; i++) {
		const struct hostile_symbol *symbol = &hostile_symbols[i];
		const json_t *o = find(root, symbol->safe);
		const json_t *aliases = json_object_get(o, "aliases");

		ck_assert_str_eq(json_string_value(json_object_get(o, "symbol")),
				 symbol->safe);
		ck_assert_uint_eq(count_of(o).samples, symbol->samples);
		ck_assert_uint_eq(json_array_size(aliases), symbol->addr == 0x1060);
		if (symbol->addr == 0x1060)
			ck_assert_str_eq(json_string_value(json_array_get(aliases, 0)),
					 "+al\\x1bias,\"");
	}
	json_decref(root);
}
END_TEST

START_TEST(host)
{
	json_t *root = hostile("format=json mode=host by=event"), *row;

	ck_assert_ptr_null(json_object_get(root, "functions"));
	ck_assert_uint_eq(json_array_size(json_object_get(root, "host")), 1);
	row = json_array_get(json_object_get(root, "host"), 0);
	same(count_of(row), (struct hlg_count){HOSTILE_HOST, 10 * HOSTILE_HOST});
	ck_assert_str_eq(json_string_value(json_object_get(row, "name")),
			 "=h;os\\x0at\\xff\"");
	ck_assert_str_eq(json_string_value(json_object_get(row, "dso")),
			 "@ds\\x1bo;\\x0a\\xff\"");
	ck_assert_str_eq(json_string_value(json_object_get(row, "series")),
			 "event=e=\\x1bv;\"\\x0a,\\xff");
	json_decref(root);
}
END_TEST

/* Adds to *of_series what rows have of the series of that name, whose percent is of kept;
 * what a row has of all series is what it has. */
static void add_series(struct hlg_count *of_series, const json_t *rows, const char *name,
		       struct hlg_count kept, size_t n_series)
{
	ck_assert_uint_gt(json_array_size(rows), 0);
	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *o = json_array_get(rows, i);
		json_t *map = json_object_get(o, "series"), *one;
		struct hlg_count sum = {0, 0};
		const char *key;

		ck_assert_uint_le(json_object_size(map), n_series);
		json_object_foreach(map, key, one)
		{
			struct hlg_count c = count_of(one);

			hlg_count_add(&sum, c);
			if (strcmp(key, name) != 0)
				continue;
			hlg_count_add(of_series, c);
			ck_assert_double_eq_tol(
				json_number_value(json_object_get(one, "percent")),
				100.0 * (double)c.period / (double)kept.period, 0.0051);
		}
		same(sum, count_of(o));
	}
}

/* The series of rows add up to it, and so do those of regions, and of addresses. */
static void check_series(const json_t *root, const char *name, struct hlg_count kept,
			 size_t n_series)
{
	const bool raw = json_object_get(root, "addresses") != NULL;
	struct hlg_count of_rows = {0, 0}, of_regions = {0, 0};

	if (raw) {
		ck_assert_uint_eq(json_array_size(json_object_get(root, "functions")), 0);
		ck_assert_uint_eq(json_array_size(json_object_get(root, "other")), 0);
	}
	for (int others = 0; others < (raw ? 1 : 2); others++)
		add_series(&of_rows,
			   json_object_get(root, raw      ? "addresses"
						 : others ? "other"
							  : "functions"),
			   name, kept, n_series);
	same(of_rows, kept);
	add_series(&of_regions, json_object_get(root, "regions"), name, kept, n_series);
	same(of_regions, kept);
}

/* Three events, two of one name, and two threads: every sample is in one series. */
START_TEST(series)
{
	struct hlg_run run;
	struct hlg_count kept = {0, 0};
	uint64_t random = 1;
	json_t *root;

	kit_guest("guest.elf");
	kit_start(&run, _i ? "guest.elf@0x3ff7 format=json by=tid"
			   : "guest.elf format=json by=tid force=yes");
	hlg_profile_event(&run.profile, "cycles", 0);
	hlg_profile_event(&run.profile, "cycles", 2);
	hlg_profile_event(&run.profile, "clock", 0);
	for (int i = 0; i < 2000; i++) {
		struct hlg_sample s =
			kit_sample((uint32_t)kit_random(&random, 3),
				   KIT_BASE + 0x1000 + kit_random(&random, 0x8000));

		s.tid = (int32_t)kit_random(&random, 2);
		s.period = 1 + kit_random(&random, 1000);
		hlg_profile_add(&run.profile, &s);
		if (s.event == 1 && s.tid == 1)
			hlg_count_add(&kept, (struct hlg_count){1, s.period});
	}
	root = parse(&run);
	check_series(root, "event=cycles,precise_ip=2,tid=1", kept, 6);
	json_decref(root);
}
END_TEST

/* A count beyond what a JSON integer holds here is the greatest one, not a negative. */
START_TEST(great_counts)
{
	struct hlg_run run;
	json_t *root;

	kit_guest("guest.elf");
	kit_start(&run, "guest.elf format=json");
	hlg_profile_event(&run.profile, "a", 0);
	kit_add(&run, 0, KIT_BASE + 0x1000, UINT64_MAX - 1, 1);
	root = parse(&run);
	ck_assert_uint_eq(total(root, "seen").period, INT64_MAX);
	json_decref(root);
}
END_TEST

static json_t *made(int i)
{
	return json_pack("{s:i, s:s, s:[i, {s:f}], s:[], s:{}}", "i", i, "text", "a\n\"b",
			 "list", i, "third", i / 3.0, "none", "no");
}

/* n objects of n values each, the first of none; in odd ones they stand on a line. */
static char *streamed(int n)
{
	struct hlg_json json;
	struct hlg_err err;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	hlg_json_begin(&json, f, 7);
	hlg_json_put(&json, "first", made(-1));
	hlg_json_open_list(&json, "objects");
	for (int i = 0; i < n; i++) {
		hlg_json_open(&json, NULL);
		hlg_json_put(&json, "made", made(i));
		hlg_json_open_list(&json, "values");
		for (int k = 0; k < i; k++)
			hlg_json_put(&json, NULL, k % 2 ? made(k) : json_integer(k));
		hlg_json_close(&json);
		hlg_json_close(&json);
	}
	ck_assert_int_eq(hlg_json_end(&json, &err), 0);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert(!hlg_json_lost());
	return text;
}

/* What is written as it is made has the bytes of the whole. */
START_TEST(stream)
{
	for (int n = 0; n < 5; n++) {
		json_t *root = json_object(), *objects = json_array();
		char *text = streamed(n), *whole;

		json_object_set_new(root, "hlguest", json_string(HLG_VERSION));
		json_object_set_new(root, "format", json_integer(7));
		json_object_set_new(root, "first", made(-1));
		json_object_set_new(root, "objects", objects);
		for (int i = 0; i < n; i++) {
			json_t *object = json_object(), *values = json_array();

			json_object_set_new(object, "made", made(i));
			for (int k = 0; k < i; k++)
				json_array_append_new(values,
						      k % 2 ? made(k) : json_integer(k));
			json_object_set_new(object, "values", values);
			json_array_append_new(objects, object);
		}
		whole = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
		ck_assert_int_eq(strncmp(text, whole, strlen(whole)), 0);
		ck_assert_str_eq(text + strlen(whole), "\n");
		json_decref(root);
		free(whole);
		free(text);
	}
}
END_TEST

/* A row on one line; what is left open is closed; nothing is no document. */
START_TEST(stream_lines)
{
	struct hlg_json json;
	struct hlg_err err;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	hlg_json_begin(&json, f, 1);
	hlg_json_open_list(&json, "rows");
	hlg_json_put_line(&json, NULL, json_pack("{s:i, s:[i, i]}", "a", 1, "b", 2, 3));
	hlg_json_put_line(&json, NULL, hlg_json_real(2.5, 2));
	hlg_json_put_line(&json, NULL, hlg_json_real(NAN, 2));
	hlg_json_put_line(&json, NULL, hlg_json_text(NULL));
	ck_assert_int_eq(hlg_json_end(&json, &err), 0);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_str_eq(text, "{\n \"hlguest\": \"" HLG_VERSION
			       "\",\n \"format\": 1,\n \"rows\": [\n"
			       "  {\"a\": 1, \"b\": [2, 3]},\n  2.5,\n  null,\n  null\n"
			       " ]\n}\n");
	free(text);
	f = open_memstream(&text, &size);
	hlg_json_begin(&json, f, 1);
	hlg_json_put(&json, "lost", NULL);
	ck_assert_int_eq(hlg_json_end(&json, &err), HLG_ESYSTEM);
	fclose(f);
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("json");
	TCase *tc = tap_case(suite, "json");

	tcase_add_checked_fixture(tc, kit_enter, kit_leave);
	tcase_add_loop_test(tc, reconciles, 0, sizeof(words) / sizeof(words[0]));
	tcase_add_test(tc, shape);
	tcase_add_test(tc, names);
	tcase_add_test(tc, host);
	tcase_add_loop_test(tc, series, 0, 2);
	tcase_add_test(tc, great_counts);
	tcase_add_test(tc, stream);
	tcase_add_test(tc, stream_lines);
	return tap_main(suite);
}
