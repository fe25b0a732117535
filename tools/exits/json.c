// SPDX-License-Identifier: GPL-2.0-only
#include <config.h>

#include "tools/exits/write.h"

#if HLG_HAVE_JANSSON
#include <string.h>

#include "filter/write/json-parts.h"

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
	json_t *object = json_object();

	json_object_set_new(object, "name", hlg_json_text(row->name));
	put_number(object, t, row);
	if (row->pid >= 0)
		json_object_set_new(object, "pid", json_integer(row->pid));
	if (row->tid >= 0)
		json_object_set_new(object, "tid", json_integer(row->tid));
	if (row->vcpu >= 0)
		json_object_set_new(object, "vcpu", json_integer(row->vcpu));
	set_number(object, "count", row->n);
	json_object_set_new(object, "percent",
			    hlg_json_percent(hlg_exits_share(r, t, row->total)));
	set_number(object, "total_ns", row->total);
	set_number(object, "min_ns", row->min);
	set_number(object, "mean_ns", row->total / row->n);
	set_number(object, "p50_ns", row->p50);
	set_number(object, "p90_ns", row->p90);
	set_number(object, "p99_ns", row->p99);
	set_number(object, "max_ns", row->max);
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

int hlg_exits_json(FILE *f, const struct hlg_exits_report *r, struct hlg_err *err)
{
	json_t *root, *tables, *times;
	bool ok;

	hlg_json_begin();
	root = json_object();
	tables = json_array();
	times = json_object();
	json_object_set_new(root, "pairs", pairs_of(r));
	json_object_set_new(root, "excluded", excluded_of(r));
	json_object_set_new(root, "exact", json_boolean(r->sums->exact));
	put_times(times, r, &r->time);
	json_object_set_new(root, "time", times);
	json_object_set_new(root, "notes", hlg_json_lines(r->notes, r->n_notes));
	for (size_t i = 0; i < HLG_EXITS_TABLES; i++)
		if (r->tables[i].n)
			json_array_append_new(tables, table_of(r, &r->tables[i]));
	json_object_set_new(root, "tables", tables);
	json_object_set_new(root, "histogram", histogram_of(r));
	ok = !hlg_json_lost() &&
	     json_dumpf(root, f, JSON_INDENT(1) | JSON_REAL_PRECISION(6)) == 0;
	json_decref(root);
	/* A write that failed is found when the output is closed. */
	if (hlg_json_lost() || (!ok && !ferror(f)))
		return hlg_err_memory(err, "format=json");
	fputc('\n', f);
	return 0;
}

#else

int hlg_exits_json(FILE *f, const struct hlg_exits_report *r, struct hlg_err *err)
{
	(void)f;
	(void)r;
	return hlg_err_set(err, HLG_EINPUT,
			   "format=json: not in this build (build with libjansson-dev)");
}

#endif
