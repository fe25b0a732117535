// SPDX-License-Identifier: GPL-2.0-only
/* The report as records and JSON; and the list of its formats. */
#include "tools/exits/write.h"

#include <string.h>

#include "filter/write/report-table.h"
#include "tools/exits/columns.h"
#if HLG_HAVE_JANSSON
#include "filter/write/json.h"
#endif

/* A record that has a name and one value. */
static void write_record(struct hlg_records *to, const char *record, const char *name,
			 size_t column, uint64_t n)
{
	struct hlg_value v[HLG_EXITS_COLUMNS] = {0};

	v[HLG_EXITS_RECORD] = hlg_table_text_value(record);
	v[HLG_EXITS_NAME] = hlg_table_text_value(name);
	v[column] = hlg_table_count_value(n);
	hlg_format_record(to, v);
}

/* Of pairs of a kind, how many and how much time; share_of: of what time a share is
 * written, or NULL. */
static void write_pairs(struct hlg_records *to, const char *record,
			enum hlg_exits_kind kind, uint64_t n, uint64_t total,
			const char *share_of, double share)
{
	struct hlg_value v[HLG_EXITS_COLUMNS] = {0};

	v[HLG_EXITS_RECORD] = hlg_table_text_value(record);
	v[HLG_EXITS_KIND] = hlg_table_text_value(hlg_exits_kind_word(kind));
	v[HLG_EXITS_NAME] = hlg_table_text_value(hlg_exits_pair_words(kind));
	v[HLG_EXITS_COUNT] = hlg_table_count_value(n);
	v[HLG_EXITS_TIMES] = hlg_table_count_value(total);
	if (share_of) {
		v[HLG_EXITS_PERCENT] = hlg_table_number_value(share);
		v[HLG_EXITS_PERCENT_OF] = hlg_table_text_value(share_of);
	}
	hlg_format_record(to, v);
}

/* A record of words. */
static void write_words(struct hlg_records *to, const char *record, const char *words)
{
	struct hlg_value v[HLG_EXITS_COLUMNS] = {0};

	v[HLG_EXITS_RECORD] = hlg_table_text_value(record);
	v[HLG_EXITS_NAME] = hlg_table_text_value(words);
	hlg_format_record(to, v);
}

static void write_head_records(struct hlg_records *to, const struct hlg_exits_report *r)
{
	const char *name;
	uint64_t n;

	if (r->selection)
		write_words(to, "selected", r->selection);
	for (int kind = 0; r->picks && kind < HLG_EXITS_KINDS; kind++) {
		const struct hlg_exits_picked of = hlg_exits_pick(r, kind);

		write_pairs(to, "selected", kind, of.n, of.total,
			    hlg_exits_share_of(&r->tables[kind]), of.share);
	}
	for (int kind = 0; kind <= HLG_EXITS_BETWEEN; kind++)
		write_pairs(to, "pairs", kind, r->sums->pairs[kind], r->sums->total[kind],
			    NULL, 0);
	for (size_t i = 0; (name = hlg_exits_excluded(r, i, &n)); i++)
		write_record(to, "excluded", name, HLG_EXITS_COUNT, n);
	for (size_t i = 0; (name = hlg_exits_part_of_time(r, &r->time, i, &n)); i++)
		if (n != UINT64_MAX)
			write_record(to, "time", name, HLG_EXITS_TIMES, n);
}

/* Addresses on and off instruction starts, as report has samples. */
static void write_check_records(struct hlg_records *to, const struct hlg_exits_report *r)
{
	static const struct hlg_report_records_columns at = {HLG_EXITS_RECORD,
							     HLG_EXITS_KIND,
							     HLG_EXITS_NAME,
							     HLG_EXITS_COUNT,
							     HLG_EXITS_PERCENT,
							     0,
							     0};
	const struct hlg_tested *t = &r->check->trust.all;

	hlg_report_records_check(to, t, &t->addrs, &t->by_addrs, &at);
	if (r->check->banner)
		write_words(to, "note", r->check->banner);
	for (size_t i = 0; i < r->notes->n; i++)
		write_words(to, "note", r->notes->line[i]);
}

/*
 * Records `selected` (of what selects rows alone, another of each kind of pairs),
 * `pairs`, `excluded`, `time`, `trust` (whose first one's kind is the verdict), `note`,
 * those of the tables (`call`, `reason`, `function`, `port`, `vcpu`) and `histogram`,
 * whose number is where a row begins. All times are in ns.
 */
int hlg_exits_records(void *report, struct hlg_records *to, struct hlg_err *err)
{
	static const struct hlg_table table = {hlg_exits_columns, .n = HLG_EXITS_COLUMNS};
	const struct hlg_exits_report *r = report;
	struct hlg_value v[HLG_EXITS_COLUMNS];

	(void)err;
	hlg_format_begin(to, &table);
	write_head_records(to, r);
	write_check_records(to, r);
	for (size_t i = 0; i < HLG_EXITS_TABLES; i++)
		for (size_t k = 0; k < hlg_exits_shown(r, &r->tables[i]); k++) {
			hlg_exits_set_values(v, r, &r->tables[i], &r->tables[i].rows[k]);
			hlg_format_record(to, v);
		}
	for (int i = 0; i < HLG_EXITS_OCTAVES; i++) {
		if (!r->octaves[i])
			continue;
		memset(v, 0, sizeof(v));
		v[HLG_EXITS_RECORD] = hlg_table_text_value("histogram");
		v[HLG_EXITS_KIND] = hlg_table_text_value(hlg_exits_kind_word(r->kind));
		v[HLG_EXITS_NAME] = hlg_table_text_value("");
		v[HLG_EXITS_NUMBER] = hlg_table_count_value(i ? UINT64_C(1) << i : 0);
		v[HLG_EXITS_COUNT] = hlg_table_count_value(r->octaves[i]);
		hlg_format_record(to, v);
	}
	return 0;
}

#if HLG_HAVE_JANSSON
static void put_count(json_t *object, const char *key, uint64_t value)
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

	for (size_t i = 0; (name = hlg_exits_part_of_time(r, vcpu, i, &ns)); i++) {
		if (ns == UINT64_MAX)
			continue;
		snprintf(key, sizeof(key), "%s_ns",
			 strcmp(name, "VMM") == 0 ? "vmm" : name);
		for (char *c = key; *c; c++)
			*c = *c == ' ' ? '_' : *c;
		put_count(object, key, ns);
	}
}

static void put_reason_or_port(json_t *object, const struct hlg_exits_table *t,
			       const struct hlg_exits_row *row)
{
	if (row->isa) {
		json_object_set_new(object, "isa", json_string(row->isa));
		put_count(object, "reason", row->number);
	} else if (t->by == HLG_EXITS_BY_PORT && row->number < HLG_PORT_MMIO) {
		put_count(object, "port", row->number);
	} else if (t->by == HLG_EXITS_BY_PORT && row->number != HLG_NO_PORT) {
		json_object_set_new(object, "mmio",
				    hlg_json_hex(row->number & ~HLG_PORT_MMIO));
	}
}

static json_t *row_of(const struct hlg_exits_report *r, const struct hlg_exits_table *t,
		      const struct hlg_exits_row *row)
{
	static const unsigned char name[] = {HLG_EXITS_NAME};
	static const unsigned char rest[] = {HLG_EXITS_PID,   HLG_EXITS_TID,
					     HLG_EXITS_VCPU,  HLG_EXITS_SANDBOX,
					     HLG_EXITS_COUNT, HLG_EXITS_PERCENT};
	const struct hlg_table first = {hlg_exits_columns, name, sizeof(name), {0}, {0}};
	const struct hlg_table then = {hlg_exits_columns, rest, sizeof(rest), {0}, {0}};
	struct hlg_value v[HLG_EXITS_COLUMNS];
	json_t *object = json_object();
	char key[16];

	hlg_exits_set_values(v, r, t, row);
	hlg_json_row(object, &first, v);
	put_reason_or_port(object, t, row);
	hlg_json_row(object, &then, v);
	for (size_t i = HLG_EXITS_TIMES; i < HLG_EXITS_TIMES_END; i++) {
		snprintf(key, sizeof(key), "%s_ns", hlg_exits_columns[i].key);
		put_count(object, key, v[i].n);
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
	json_object_set_new(object, "percent_of", json_string(hlg_exits_share_of(t)));
	for (size_t i = 0; i < hlg_exits_shown(r, t); i++)
		json_array_append_new(rows, row_of(r, t, &t->rows[i]));
	json_object_set_new(object, "rows", rows);
	return object;
}

/* Of both kinds, and between guest calls: how many pairs, or how many ns. */
static json_t *pairs_of(const uint64_t of[static HLG_EXITS_BETWEEN + 1])
{
	json_t *object = json_object();

	for (int kind = 0; kind <= HLG_EXITS_BETWEEN; kind++)
		put_count(object, hlg_exits_kind_word(kind), of[kind]);
	return object;
}

static json_t *picked_of(const struct hlg_exits_report *r)
{
	json_t *object = json_object();

	for (int kind = 0; kind < HLG_EXITS_KINDS; kind++) {
		const struct hlg_exits_picked of = hlg_exits_pick(r, kind);
		json_t *one = json_object();

		put_count(one, "count", of.n);
		json_object_set_new(one, "percent", hlg_json_percent(of.share));
		put_count(one, "total_ns", of.total);
		json_object_set_new(object, hlg_exits_kind_word(kind), one);
	}
	return object;
}

static json_t *excluded_of(const struct hlg_exits_report *r)
{
	json_t *object = json_object();
	const char *name;
	uint64_t n;

	for (size_t i = 0; (name = hlg_exits_excluded(r, i, &n)); i++)
		put_count(object, name, n);
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
		put_count(row, "from_ns", i ? UINT64_C(1) << i : 0);
		put_count(row, "count", r->octaves[i]);
		json_array_append_new(rows, row);
	}
	return rows;
}

static int write_json(void *report, FILE *f, struct hlg_err *err)
{
	const struct hlg_exits_report *r = report;
	json_t *times = json_object();
	struct hlg_json json;

	hlg_json_begin(&json, f, 1);
	hlg_json_put_selected(&json, r->selection);
	if (r->picks)
		hlg_json_put(&json, "selected_pairs", picked_of(r));
	hlg_json_put(&json, "check", hlg_json_check(r->check));
	hlg_json_put(&json, "pairs", pairs_of(r->sums->pairs));
	hlg_json_put(&json, "pairs_ns", pairs_of(r->sums->total));
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

static const struct hlg_format text = {.name = "text",
				       .top = 20,
				       .notes = true,
				       .reader = true,
				       .write = hlg_exits_text};
static const struct hlg_format json = {
	.name = "json", .notes = true, HLG_FORMAT_JANSSON(write_json)};
static const struct hlg_format html = {
	.name = "html", .notes = true, .reader = true, .write = hlg_exits_html};
const struct hlg_format *const hlg_exits_formats[] = {&text, &hlg_format_of_records,
						      &json, &html, NULL};
