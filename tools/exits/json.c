// SPDX-License-Identifier: GPL-2.0-only
#include <config.h>

#include "tools/exits/write.h"

#if HLG_HAVE_JANSSON
#include <string.h>

#include "filter/write/json.h"

static void set_number(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, hlg_json_number(value));
}

/* "guest or kernel" as "guest_or_kernel_ns". */
static void put_times(json_t *object, const struct hlg_exits_report *r,
		      const struct hlg_exits_vcpu *vcpu)
{
	const char *name;
	uint64_t ns;
	char key[64];

	for (size_t i = 0; (name = hlg_exits_part(r, vcpu, i, &ns)); i++) {
		if (ns == UINT64_MAX)
			continue;
		snprintf(key, sizeof(key), "%s_ns",
			 strcmp(name, "VMM") == 0 ? "vmm" : name);
		for (char *c = key; *c; c++)
			*c = *c == ' ' ? '_' : *c;
		set_number(object, key, ns);
	}
}

static void put_number(json_t *object, const struct hlg_exits_table *t,
		       const struct hlg_exits_row *row)
{
	if (row->isa) {
		json_object_set_new(object, "isa", json_string(row->isa));
		set_number(object, "reason", row->number);
	} else if (t->by == HLG_EXITS_BY_PORT && row->number < HLG_PORT_MMIO) {
		set_number(object, "port", row->number);
	} else if (t->by == HLG_EXITS_BY_PORT && row->number != HLG_NO_PORT) {
		json_object_set_new(object, "mmio",
				    hlg_json_hex(row->number & ~HLG_PORT_MMIO));
	}
}

static json_t *row_of(const struct hlg_exits_report *r, const struct hlg_exits_table *t,
		      const struct hlg_exits_row *row)
{
	static const unsigned char name[] = {HLG_EXITS_COLUMN_NAME};
	static const unsigned char rest[] = {
		HLG_EXITS_COLUMN_PID, HLG_EXITS_COLUMN_TID, HLG_EXITS_COLUMN_VCPU,
		HLG_EXITS_COLUMN_COUNT, HLG_EXITS_COLUMN_PERCENT};
	const struct hlg_table first = {hlg_exits_columns, name, sizeof(name), {0}};
	const struct hlg_table then = {hlg_exits_columns, rest, sizeof(rest), {0}};
	struct hlg_value v[HLG_EXITS_COLUMNS];
	json_t *object = json_object();
	char key[16];

	hlg_exits_values(v, r, t, row);
	hlg_json_row(object, &first, v);
	put_number(object, t, row);
	hlg_json_row(object, &then, v);
	for (size_t i = HLG_EXITS_COLUMN_TIMES; i < HLG_EXITS_COLUMNS; i++) {
		snprintf(key, sizeof(key), "%s_ns", hlg_exits_columns[i].key);
		set_number(object, key, v[i].n);
	}
	if (t->by == HLG_EXITS_BY_VCPU)
		put_times(object, r, &row->time);
	return object;
}

static json_t *table_of(const struct hlg_exits_report *r, const struct hlg_exits_table *t)
{
	json_t *object = json_object(), *rows = json_array();

	json_object_set_new(object, "by", json_string(hlg_exits_by_word(t->by)));
	json_object_set_new(object, "kind", json_string(hlg_exits_kind_word(t->kind)));
	for (size_t i = 0; i < hlg_exits_shown(r, t); i++)
		json_array_append_new(rows, row_of(r, t, &t->rows[i]));
	json_object_set_new(object, "rows", rows);
	return object;
}

static json_t *pairs_of(const struct hlg_exits_report *r)
{
	json_t *object = json_object();

	for (int kind = 0; kind < HLG_EXITS_KINDS; kind++)
		set_number(object, hlg_exits_kind_word(kind), r->sums->pairs[kind]);
	return object;
}

static json_t *excluded_of(const struct hlg_exits_report *r)
{
	json_t *object = json_object();
	const char *name;
	uint64_t n;

	for (size_t i = 0; (name = hlg_exits_excluded(r, i, &n)); i++)
		set_number(object, name, n);
	return object;
}

static json_t *histogram_of(const struct hlg_exits_report *r)
{
	json_t *rows = json_array();

	for (int i = 0; i < HLG_EXITS_OCTAVES; i++) {
		json_t *row;

		if (!r->octaves[i])
			continue;
		row = json_object();
		set_number(row, "from_ns", i ? UINT64_C(1) << i : 0);
		set_number(row, "count", r->octaves[i]);
		json_array_append_new(rows, row);
	}
	return rows;
}

int hlg_exits_json(void *report, FILE *f, struct hlg_err *err)
{
	const struct hlg_exits_report *r = report;
	json_t *times = json_object();
	struct hlg_json json;

	hlg_json_begin(&json, f, 1);
	hlg_json_put(&json, "pairs", pairs_of(r));
	hlg_json_put(&json, "excluded", excluded_of(r));
	hlg_json_put(&json, "exact", json_boolean(r->sums->exact));
	put_times(times, r, &r->time);
	hlg_json_put(&json, "time", times);
	hlg_json_put(&json, "notes", hlg_json_lines(r->notes->line, r->notes->n));
	hlg_json_open_list(&json, "tables");
	for (size_t i = 0; i < HLG_EXITS_TABLES; i++)
		if (r->tables[i].n)
			hlg_json_put(&json, NULL, table_of(r, &r->tables[i]));
	hlg_json_close(&json);
	hlg_json_put(&json, "histogram", histogram_of(r));
	return hlg_json_end(&json, err);
}

#endif
