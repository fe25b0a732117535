// SPDX-License-Identifier: GPL-2.0-only
/*
 * The comparison as JSON, and records, which CSV is made of: `recording`, `selected`,
 * `total`, `trust`, `method`, `note`, `function` (with labels, gaps, data, outside; or
 * guest addresses) and `region`. Percentages have two decimals, as in a report; p and q
 * four digits.
 */
#include "tools/diff/write.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "config.h"
#include "filter/report/rows.h"
#include "filter/write/table.h"
#include "tools/diff/columns.h"
#include "tools/diff/html.h"
#include "tools/diff/text.h"
#if HLG_HAVE_JANSSON
#include "filter/write/json.h"
#endif

/* A record that has a name and a status, and nothing else. */
static void write_line(struct hlg_records *to, const char *record, const char *name,
		       const char *status)
{
	struct hlg_value v[HLG_DIFF_COLUMNS] = {0};

	v[HLG_DIFF_COLUMN_RECORD] = hlg_table_text_value(record);
	v[HLG_DIFF_COLUMN_NAME] = hlg_table_text_value(name);
	v[HLG_DIFF_COLUMN_STATUS] = hlg_table_text_value(status);
	hlg_format_record(to, v);
}

static void write_total(struct hlg_records *to, const char *name, struct hlg_count before,
			struct hlg_count after)
{
	struct hlg_value v[HLG_DIFF_COLUMNS] = {0};

	v[HLG_DIFF_COLUMN_RECORD] = hlg_table_text_value("total");
	v[HLG_DIFF_COLUMN_NAME] = hlg_table_text_value(name);
	hlg_diff_columns_count(v, (struct hlg_count[2]){before, after});
	hlg_format_record(to, v);
}

static void write_row_records(struct hlg_records *to, const struct hlg_diff *diff,
			      const struct hlg_diff_rows *rows)
{
	struct hlg_value v[HLG_DIFF_COLUMNS];
	size_t shown = 0;

	for (size_t i = 0; i < rows->n; i++) {
		if (!hlg_diff_columns_shows(diff, &rows->row[i], shown))
			continue;
		shown++;
		hlg_diff_columns_set(v, diff, &rows->row[i]);
		hlg_format_record(to, v);
	}
}

int hlg_diff_records(void *data, struct hlg_records *to, struct hlg_err *err)
{
	const struct hlg_diff *diff = data;
	static const struct hlg_table table = {hlg_diff_columns_all,
					       .n = HLG_DIFF_COLUMNS};
	const struct hlg_view *a = &diff->side[0].all, *b = &diff->side[1].all;

	(void)err;
	hlg_format_begin(to, &table);
	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < diff->side[s].n_runs; i++)
			write_line(to, "recording", diff->side[s].paths[i],
				   hlg_diff_columns_side[s]);
	if (diff->side[0].options->selection) /* of both */
		write_line(to, "selected", diff->side[0].options->selection, NULL);
	write_total(to, "guest", a->guest, b->guest);
	write_total(to, "dropped", a->dropped, b->dropped);
	for (int s = 0; s < 2; s++)
		write_line(to, "trust",
			   hlg_verdict_word(diff->side[s].report.trust.all.verdict),
			   hlg_diff_columns_side[s]);
	write_line(to, "method", diff->matched, "matched");
	write_line(to, "method", diff->shares, "shares");
	write_line(to, "method", diff->test, "test");
	write_line(to, "method", hlg_diff_total_meaning(diff), "total");
	for (size_t i = 0; i < diff->notes.n; i++)
		write_line(to, "note", diff->notes.line[i], NULL);
	write_row_records(to, diff, &diff->functions);
	write_row_records(to, diff, &diff->regions);
	return 0;
}

#if HLG_HAVE_JANSSON
static void put(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(object, key, value);
}

static void set(json_t *object, const unsigned char *layout, size_t n,
		const struct hlg_value *values)
{
	const struct hlg_table table = {hlg_diff_columns_all, layout, n, {0}, {0}};

	hlg_json_row(object, &table, values);
}

static json_t *total_of(const struct hlg_diff *diff)
{
	const struct hlg_diff_total *total = &diff->total;
	double growth = hlg_diff_total_growth(total);
	json_t *o = json_object();

	put(o, "clock", json_boolean(total->clock));
	put(o, "before", json_real(total->mean[0]));
	put(o, "after", json_real(total->mean[1]));
	put(o, "change",
	    isfinite(growth) ? json_real(round(10000 * growth) / 100) : json_null());
	put(o, "p", isnan(total->p) ? json_null() : json_real(total->p));
	put(o, "significant", json_boolean(total->significant));
	put(o, "meaning", json_string(hlg_diff_total_meaning(diff)));
	return o;
}

/* Of --fail-if. */
static json_t *gate_of(const struct hlg_diff *diff)
{
	const struct hlg_diff_gate *gate = &diff->gate;
	json_t *o = json_object();

	put(o, "percent", json_real(100 * gate->least));
	put(o, "failed", json_boolean(gate->said[0]));
	put(o, "total", json_boolean(gate->total != NULL));
	put(o, "name", gate->row ? hlg_json_text(hlg_diff_name(gate->row)) : json_null());
	put(o, "said", gate->said[0] ? hlg_json_text(gate->said) : json_null());
	return o;
}

static json_t *image_of(const struct hlg_image *of)
{
	json_t *o = json_object();

	put(o, "path", hlg_json_text(of->path));
	put(o, "build_id",
	    of->elf.build_id[0] ? hlg_json_text(of->elf.build_id) : json_null());
	put(o, "base", hlg_json_hex(of->base));
	put(o, "bases", hlg_json_number(of->n_places));
	return o;
}

static json_t *side_of(const struct hlg_diff_side *s)
{
	json_t *o = json_object(), *images = json_array(), *recordings = json_array();
	double observations = hlg_rows_observations(&s->report, &s->all);

	for (size_t i = 0; i < s->n_runs; i++)
		json_array_append_new(recordings, hlg_json_text(s->paths[i]));
	for (size_t i = 0; i < s->space->n_images; i++)
		json_array_append_new(images, image_of(s->space->images[i]));
	put(o, "recordings", recordings);
	put(o, "images", images);
	put(o, "guest", hlg_json_count(s->all.guest));
	put(o, "dropped", hlg_json_count(s->all.dropped));
	put(o, "observations", json_real(round(observations * 10) / 10));
	put(o, "verdict", json_string(hlg_verdict_word(s->report.trust.all.verdict)));
	return o;
}

/* What a row has of a side. */
static json_t *part(const struct hlg_diff *diff, const struct hlg_diff_row *row, int s)
{
	json_t *o = hlg_json_count(row->count[s]), *self;

	hlg_json_put_share(o, &row->share[s]);
	if (diff->side[s].self) {
		self = hlg_json_count(row->self[s]);
		put(self, "percent",
		    hlg_json_percent(hlg_diff_columns_self(diff, row, s)));
		put(o, "self", self);
	}
	if (row->row[s] && row->row[s]->place.image)
		put(o, "addr", hlg_json_hex(row->row[s]->place.start));
	put(o, "names", hlg_json_number(row->n[s]));
	return o;
}

/* Sets a row's values, and behind the first of them what each side has. */
static json_t *row_of(const struct hlg_diff *diff, const struct hlg_diff_row *row)
{
	static const unsigned char function[] = {
		HLG_DIFF_COLUMN_NAME, HLG_DIFF_COLUMN_SYMBOL, HLG_DIFF_COLUMN_IMAGE,
		HLG_DIFF_COLUMN_KIND};
	static const unsigned char image[] = {HLG_DIFF_COLUMN_IMAGE};
	static const unsigned char status[] = {HLG_DIFF_COLUMN_STATUS};
	static const unsigned char change[] = {
		HLG_DIFF_COLUMN_POINTS,      HLG_DIFF_COLUMN_LOW,  HLG_DIFF_COLUMN_HIGH,
		HLG_DIFF_COLUMN_CHANGE,      HLG_DIFF_COLUMN_P,    HLG_DIFF_COLUMN_Q,
		HLG_DIFF_COLUMN_SIGNIFICANT, HLG_DIFF_COLUMN_EXACT};
	const struct hlg_region *region = row->region[row->n[1] ? 1 : 0];
	struct hlg_value v[HLG_DIFF_COLUMNS];
	json_t *o = json_object();

	hlg_diff_columns_set(v, diff, row);
	if (region) {
		set(o, image, sizeof(image), v);
		put(o, "addr", hlg_json_hex(region->addr));
		put(o, "size", hlg_json_number(diff->side[0].options->region));
	} else {
		set(o, function, sizeof(function), v);
	}
	set(o, status, sizeof(status), v);
	put(o, "before", part(diff, row, 0));
	put(o, "after", part(diff, row, 1));
	set(o, change, sizeof(change), v);
	return o;
}

static void put_rows(struct hlg_json *json, const char *key, const struct hlg_diff *diff,
		     const struct hlg_diff_rows *of)
{
	size_t shown = 0;

	hlg_json_open_list(json, key);
	for (size_t i = 0; i < of->n; i++)
		if (hlg_diff_columns_shows(diff, &of->row[i], shown)) {
			hlg_json_put(json, NULL, row_of(diff, &of->row[i]));
			shown++;
		}
	hlg_json_close(json);
}

static int write_json(void *data, FILE *f, struct hlg_err *err)
{
	const struct hlg_diff *diff = data;
	struct hlg_json json;

	hlg_json_begin(&json, f, 1);
	hlg_json_put(
		&json, "weight",
		json_string(diff->weight == HLG_WEIGHT_SAMPLES ? "samples" : "period"));
	hlg_json_put(&json, "before", side_of(&diff->side[0]));
	hlg_json_put(&json, "after", side_of(&diff->side[1]));
	hlg_json_put_selected(&json, diff->side[0].options->selection);
	hlg_json_put(&json, "total", total_of(diff));
	if (diff->gate.set)
		hlg_json_put(&json, "fail_if", gate_of(diff));
	hlg_json_put(&json, "withheld", json_boolean(diff->withheld));
	hlg_json_put(&json, "matched", json_string(diff->matched));
	hlg_json_put(&json, "shares", json_string(diff->shares));
	hlg_json_put(&json, "test", json_string(diff->test));
	hlg_json_put(&json, "level", json_real(HLG_COMPARE_LEVEL));
	hlg_json_put(&json, "interval_percent", hlg_json_percent(1 - HLG_INTERVAL_LEVEL));
	hlg_json_put(&json, "notes", hlg_json_lines(diff->notes.line, diff->notes.n));
	put_rows(&json, "functions", diff, &diff->functions);
	put_rows(&json, "regions", diff, &diff->regions);
	return hlg_json_end(&json, err);
}
#endif

static const struct hlg_format text = {.name = "text",
				       .top = 40,
				       .stacks = true,
				       .notes = true,
				       .reader = true,
				       .write = hlg_diff_text_write};
static const struct hlg_format json = {
	.name = "json", .stacks = true, .notes = true, HLG_FORMAT_JANSSON(write_json)};
static const struct hlg_format markdown = {.name = "markdown",
					   .top = 40,
					   .stacks = true,
					   .notes = true,
					   .reader = true,
					   .write = hlg_diff_text_markdown};
const struct hlg_format *const hlg_diff_formats[] = {
	&text, &markdown, &hlg_format_of_records, &json, &hlg_diff_html_format, NULL};
