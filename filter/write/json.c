// SPDX-License-Identifier: GPL-2.0-only
#include "filter/write/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "filter/write/table.h"
#include "symtab/escape.h"

/* Of 15 digits a double holds each: what was rounded to some places shows no others. */
#define FLAGS (JSON_REAL_PRECISION(15) | JSON_ENCODE_ANY)

static bool lost; /* an allocation failed since hlg_json_watch_begin */

static void *watched_malloc(size_t size)
{
	void *p = malloc(size);

	lost |= !p;
	return p;
}

void hlg_json_watch_begin(void)
{
	lost = false;
	json_set_alloc_funcs(watched_malloc, free);
}

bool hlg_json_lost(void)
{
	return lost;
}

static void end_line(const struct hlg_json *json)
{
	static const char line[] = "\n                "; /* HLG_JSON_DEPTH blanks */

	fwrite(line, 1, json->depth + 1, json->f);
}

/* In front of a member or an element. */
static void begin_value(struct hlg_json *json, const char *key)
{
	if (json->any)
		fputc(',', json->f);
	end_line(json);
	if (key)
		fprintf(json->f, "\"%s\": ", key);
	json->any = true;
}

/* Of jansson's pieces a newline is one by itself; in strings there is none. */
static int put_piece(const char *piece, size_t size, void *ctx)
{
	const struct hlg_json *json = ctx;

	if (size == 1 && *piece == '\n')
		end_line(json);
	else
		fwrite(piece, 1, size, json->f);
	return 0;
}

static void put(struct hlg_json *json, const char *key, json_t *value, size_t flags)
{
	begin_value(json, key);
	lost |= !value || json_dump_callback(value, put_piece, json, FLAGS | flags) != 0;
	json_decref(value);
}

void hlg_json_put(struct hlg_json *json, const char *key, json_t *value)
{
	put(json, key, value, JSON_INDENT(1));
}

void hlg_json_put_line(struct hlg_json *json, const char *key, json_t *value)
{
	put(json, key, value, 0);
}

static void open_container(struct hlg_json *json, const char *key, char begins, char ends)
{
	if (json->depth)
		begin_value(json, key);
	fputc(begins, json->f);
	json->ends[json->depth++] = ends;
	json->any = false;
}

void hlg_json_open(struct hlg_json *json, const char *key)
{
	open_container(json, key, '{', '}');
}

void hlg_json_open_list(struct hlg_json *json, const char *key)
{
	open_container(json, key, '[', ']');
}

void hlg_json_close(struct hlg_json *json)
{
	char ends = json->ends[--json->depth];

	if (json->any)
		end_line(json);
	fputc(ends, json->f);
	json->any = true;
}

void hlg_json_begin(struct hlg_json *json, FILE *f, unsigned format)
{
	hlg_json_watch_begin();
	*json = (struct hlg_json){.f = f};
	hlg_json_open(json, NULL);
	hlg_json_put(json, "hlguest", json_string(HLG_VERSION));
	hlg_json_put(json, "format", json_integer(format));
}

int hlg_json_end(struct hlg_json *json, struct hlg_err *err)
{
	while (json->depth)
		hlg_json_close(json);
	fputc('\n', json->f);
	return lost ? hlg_err_memory(err, "format=json") : 0;
}

int hlg_json_dump(FILE *f, const json_t *root, const char *what, struct hlg_err *err)
{
	bool ok = !lost && json_dumpf(root, f, JSON_COMPACT | FLAGS) == 0;

	/* A write that failed is found when the output is closed. */
	if (lost || (!ok && !ferror(f)))
		return hlg_err_memory(err, what);
	fputc('\n', f);
	return 0;
}

void hlg_json_watch(const void *memory)
{
	lost |= !memory;
}

json_t *hlg_json_text(const char *s)
{
	char *safe = s ? hlg_escape_dup(s) : NULL;
	json_t *json = safe ? json_string_nocheck(safe) : json_null();

	lost |= s && !safe;
	free(safe);
	return json;
}

json_t *hlg_json_hex(uint64_t value)
{
	char buf[24];

	snprintf(buf, sizeof(buf), "0x%" PRIx64, value);
	return json_string_nocheck(buf);
}

/* JSON integers are signed here; a count beyond 2^63 is one that overflowed anyway. */
json_t *hlg_json_number(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

void hlg_json_put_count(json_t *object, struct hlg_count count)
{
	json_object_set_new_nocheck(object, "samples", hlg_json_number(count.samples));
	json_object_set_new_nocheck(object, "period", hlg_json_number(count.period));
}

json_t *hlg_json_count(struct hlg_count count)
{
	json_t *object = json_object();

	hlg_json_put_count(object, count);
	return object;
}

json_t *hlg_json_percent(double share)
{
	return json_real((double)lround(share * 10000) / 100);
}

json_t *hlg_json_real(double value, int places)
{
	double unit = pow(10, places);

	return isfinite(value) ? json_real(round(value * unit) / unit) : json_null();
}

void hlg_json_put_share(json_t *object, const struct hlg_share *share)
{
	json_object_set_new_nocheck(object, "percent", hlg_json_percent(share->share));
	json_object_set_new_nocheck(object, "low", hlg_json_percent(share->low));
	json_object_set_new_nocheck(object, "high", hlg_json_percent(share->high));
}

json_t *hlg_json_lines(char *const *lines, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, hlg_json_text(lines[i]));
	return list;
}

json_t *hlg_json_numbers(const uint64_t *values, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, hlg_json_number(values[i]));
	return list;
}

json_t *hlg_json_aliases(const struct hlg_place *place)
{
	json_t *list = json_array();
	const struct hlg_symbol *first;
	size_t n;

	if (!place->symbol)
		return list;
	first = hlg_image_aliases(place->image, place->symbol, &n);
	for (size_t i = 0; i < n && i < HLG_IMAGE_ALIASES; i++)
		if (&first[i] != place->symbol)
			json_array_append_new(list, hlg_json_text(hlg_image_name(
							    place->image, &first[i])));
	if (n > HLG_IMAGE_ALIASES)
		json_array_append_new(list, json_string("..."));
	return list;
}

static json_t *list_of(const struct hlg_value *cell)
{
	json_t *list = json_array();
	const char *text;
	size_t i = 0;

	while ((text = cell->list.next(cell->list.of, &i)))
		json_array_append_new(list, hlg_json_text(text));
	return list;
}

/* p and q to four digits: a double's own hold nothing more. */
static json_t *probability(double p)
{
	char text[32];

	snprintf(text, sizeof(text), "%.4g", p);
	return json_real(strtod(text, NULL));
}

static json_t *value_of(const struct hlg_column *c, const struct hlg_value *cell)
{
	switch (c->type) {
	case HLG_VALUE_TEXT:
	case HLG_VALUE_WORD:
		return hlg_json_text(cell->text);
	case HLG_VALUE_ADDR:
		return hlg_json_hex(cell->n);
	case HLG_VALUE_PERCENT:
		return hlg_json_percent(cell->number);
	case HLG_VALUE_POINTS:
	case HLG_VALUE_GROWTH:
		return isfinite(cell->number)
			       ? json_real(round(cell->number * 10000) / 100)
			       : json_null();
	case HLG_VALUE_SIGNED:
	case HLG_VALUE_REAL:
		return hlg_json_real(cell->number, c->places);
	case HLG_VALUE_PROBABILITY:
		return probability(cell->number);
	case HLG_VALUE_SECONDS:
		return hlg_json_real((double)cell->n / 1e9, 9);
	case HLG_VALUE_BOOL:
		return json_boolean(cell->n);
	case HLG_VALUE_LIST:
		return list_of(cell);
	default:
		return hlg_json_number(cell->n);
	}
}

/* Of seconds since a boot long ago a double has no nanoseconds: they stand beside. */
static void put_ns(json_t *object, const char *key, uint64_t ns)
{
	char name[32];

	snprintf(name, sizeof(name), "%s_ns", key);
	json_object_set_new_nocheck(object, name, hlg_json_number(ns));
}

void hlg_json_row(json_t *object, const struct hlg_table *t,
		  const struct hlg_value *cells)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct hlg_column *c = &t->columns[t->layout ? t->layout[i] : i];
		const struct hlg_value *cell = &cells[c - t->columns];

		if (c->key && (cell->is || !(c->flags & HLG_COLUMN_OMIT)))
			json_object_set_new_nocheck(object, c->key,
						    cell->is ? value_of(c, cell)
							     : json_null());
		if (c->key && cell->is && c->type == HLG_VALUE_SECONDS)
			put_ns(object, c->key, cell->n);
	}
}

void hlg_json_put_selected(struct hlg_json *json, const char *selection)
{
	if (selection)
		hlg_json_put(json, "selected", hlg_json_text(selection));
}

json_t *hlg_json_check(const struct hlg_report *check)
{
	const struct hlg_tested *all = &check->trust.all;
	bool addresses = check->profile->of_addresses;
	const struct hlg_boundaries *of = addresses ? &all->addrs : &all->samples;
	json_t *object = json_object(), *counts = json_object();

	json_object_set_new(object, "verdict",
			    json_string(hlg_verdict_word(all->verdict)));
	json_object_set_new(counts, "on", hlg_json_number(of->on));
	json_object_set_new(counts, "off", hlg_json_number(of->off));
	json_object_set_new(object, addresses ? "addresses" : "samples", counts);
	json_object_set_new(object, "named", json_boolean(!check->suppressed));
	return object;
}
