// SPDX-License-Identifier: GPL-2.0-only
/*
 * The comparison as text, JSON, and records, which CSV is made of: `recording`, `total`,
 * `trust`, `method`, `note`, `function` (with labels, gaps, data, outside; or guest
 * addresses) and `region`. Percentages have two decimals, as in a report; p and q four
 * digits.
 */
#include "tools/diff/write.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "config.h"
#include "filter/report/rows.h"
#include "filter/view/place-name.h"
#include "filter/write/table.h"
#include "symtab/escape.h"
#include "symtab/image/base.h"
#if HLG_HAVE_JANSSON
#include "filter/write/json.h"
#endif

#define INDENT "         "

/* Records have those with a key as they stand here; of both sides, before comes first. */
enum {
	RECORD,
	NAME,
	SYMBOL,
	IMAGE,
	STATUS,
	KIND,
	NAMES,
	ADDR = NAMES + 2,
	COUNTS = ADDR + 2, /* samples and period of each */
	PERCENT = COUNTS + 4,
	POINTS = PERCENT + 2,
	LOW,
	HIGH,
	CHANGE,
	P,
	Q,
	SIGNIFICANT,
	EXACT,
	INTERVAL, /* of text only */
	COLUMNS
};

static const char *const sides[2] = {"before", "after"};

static const struct hlg_column all_columns[COLUMNS] = {
	[RECORD] = {"record", NULL, .type = HLG_VALUE_WORD},
	[NAME] = {"name", "", .type = HLG_VALUE_TEXT, 2},
	[SYMBOL] = {"symbol", NULL, .type = HLG_VALUE_TEXT},
	[IMAGE] = {"image", NULL, .type = HLG_VALUE_TEXT},
	[STATUS] = {"status", NULL, .type = HLG_VALUE_WORD},
	[KIND] = {"kind", NULL, .type = HLG_VALUE_WORD},
	[NAMES] = {"names_before", NULL, .type = HLG_VALUE_COUNT},
	{"names_after", NULL, .type = HLG_VALUE_COUNT},
	[ADDR] = {"addr_before", NULL, .type = HLG_VALUE_ADDR},
	{"addr_after", NULL, .type = HLG_VALUE_ADDR},
	[COUNTS] = {"samples_before", NULL, .type = HLG_VALUE_COUNT},
	{"period_before", NULL, .type = HLG_VALUE_COUNT},
	{"samples_after", NULL, .type = HLG_VALUE_COUNT},
	{"period_after", NULL, .type = HLG_VALUE_COUNT},
	[PERCENT] = {"percent_before", "before", .type = HLG_VALUE_PERCENT, 1, 8,
		     .unit = " %", .flags = HLG_COLUMN_PAINTED},
	{"percent_after", "after", .type = HLG_VALUE_PERCENT, 1, 8, .unit = " %",
	 .flags = HLG_COLUMN_PAINTED},
	[POINTS] = {"points", "points", .type = HLG_VALUE_POINTS, 1, 7,
		    .flags = HLG_COLUMN_PAINTED},
	[LOW] = {"low", NULL, .type = HLG_VALUE_POINTS},
	[HIGH] = {"high", NULL, .type = HLG_VALUE_POINTS},
	[CHANGE] = {"change", "change", .type = HLG_VALUE_GROWTH, 1, 9},
	[P] = {"p", NULL, .type = HLG_VALUE_PROBABILITY},
	[Q] = {"q", "q", .type = HLG_VALUE_PROBABILITY, 1, 8},
	[SIGNIFICANT] = {"significant", "", .type = HLG_VALUE_BOOL, 0, 1, .unit = "*",
			 .flags = HLG_COLUMN_PAINTED},
	[EXACT] = {"exact", NULL, .type = HLG_VALUE_BOOL},
	[INTERVAL] = {NULL, "95 % interval", .type = HLG_VALUE_CHANGES, 2, 18},
};

/* Do top= and min= leave a row? Its larger share is min or more. Rows are in order, so
 * what top= cuts off are the last. */
static bool shows(const struct hlg_diff *diff, const struct hlg_diff_row *row,
		  size_t shown)
{
	const struct hlg_report *r = &diff->side[0].report;
	double a = row->share[0].share, b = row->share[1].share;

	return hlg_rows_shows(r, a > b ? a : b, shown);
}

static const char *presence_word(enum hlg_diff_presence presence)
{
	static const char *const words[] = {"", "new", "gone", "not sampled before",
					    "not sampled after"};

	return words[presence];
}

static const char *kind_of(const struct hlg_diff *diff, const struct hlg_diff_row *row)
{
	const struct hlg_place *place = hlg_diff_place(row, row->n[1] ? 1 : 0);

	return diff->withheld ? "address"
	       : place        ? hlg_place_name_kind(place->kind)
			      : "region";
}

/* The region's most sampled row names it. */
static const char *region_name(const struct hlg_diff *diff,
			       const struct hlg_diff_row *row)
{
	int s = row->n[1] ? 1 : 0;
	const struct hlg_view *view = &diff->side[s].all;

	return view->rows[view->parts[row->region[s]->first_part].row].name;
}

static void set_places(struct hlg_value *v, const struct hlg_diff_row *row)
{
	for (int s = 0; s < 2; s++)
		if (row->row[s] && row->row[s]->place.image)
			v[ADDR + s] = hlg_table_count_value(row->row[s]->place.start);
		else if (row->region[s])
			v[ADDR + s] = hlg_table_count_value(row->region[s]->addr);
}

static void set_counts(struct hlg_value *v, const struct hlg_count count[2])
{
	for (int s = 0; s < 2; s++) {
		v[COUNTS + 2 * s] = hlg_table_count_value(count[s].samples);
		v[COUNTS + 2 * s + 1] = hlg_table_count_value(count[s].period);
	}
}

static void set_values(struct hlg_value v[static COLUMNS], const struct hlg_diff *diff,
		       const struct hlg_diff_row *row)
{
	const struct hlg_compared *c = &row->compared;
	const struct hlg_place *place = hlg_diff_place(row, row->n[1] ? 1 : 0);
	const struct hlg_region *region = row->region[row->n[1] ? 1 : 0];
	const struct hlg_image *image = place ? place->image : region->image;

	memset(v, 0, COLUMNS * sizeof(*v));
	v[RECORD] = hlg_table_text_value(place ? "function" : "region");
	v[NAME] =
		hlg_table_text_value(place ? hlg_diff_name(row) : region_name(diff, row));
	if (place && place->symbol)
		v[SYMBOL] =
			hlg_table_text_value(hlg_image_name(place->image, place->symbol));
	v[IMAGE] = hlg_table_text_value(image ? image->path : NULL);
	v[STATUS] = hlg_table_text_value(presence_word(row->presence));
	v[KIND] = hlg_table_text_value(place ? kind_of(diff, row) : "region");
	for (int s = 0; s < 2; s++) {
		v[NAMES + s] = hlg_table_count_value(row->n[s]);
		v[PERCENT + s] = hlg_table_number_value(row->share[s].share);
	}
	set_places(v, row);
	set_counts(v, row->count);
	v[POINTS] = hlg_table_number_value(c->diff);
	v[LOW] = hlg_table_number_value(c->low);
	v[HIGH] = hlg_table_number_value(c->high);
	v[INTERVAL] =
		hlg_table_share_value((struct hlg_share){.low = c->low, .high = c->high});
	v[CHANGE] = hlg_table_number_value(hlg_diff_growth(row));
	v[P] = hlg_table_number_value(c->p);
	v[Q] = hlg_table_number_value(row->q);
	v[SIGNIFICANT] = hlg_table_count_value(row->significant);
	v[EXACT] = hlg_table_count_value(c->exact);
}

/* A record that has a name and a status, and nothing else. */
static void write_line(struct hlg_records *to, const char *record, const char *name,
		       const char *status)
{
	struct hlg_value v[COLUMNS] = {0};

	v[RECORD] = hlg_table_text_value(record);
	v[NAME] = hlg_table_text_value(name);
	v[STATUS] = hlg_table_text_value(status);
	hlg_format_record(to, v);
}

static void write_total(struct hlg_records *to, const char *name, struct hlg_count before,
			struct hlg_count after)
{
	struct hlg_value v[COLUMNS] = {0};

	v[RECORD] = hlg_table_text_value("total");
	v[NAME] = hlg_table_text_value(name);
	set_counts(v, (struct hlg_count[2]){before, after});
	hlg_format_record(to, v);
}

static void write_row_records(struct hlg_records *to, const struct hlg_diff *diff,
			      const struct hlg_diff_rows *rows)
{
	struct hlg_value v[COLUMNS];
	size_t shown = 0;

	for (size_t i = 0; i < rows->n; i++) {
		if (!shows(diff, &rows->row[i], shown))
			continue;
		shown++;
		set_values(v, diff, &rows->row[i]);
		hlg_format_record(to, v);
	}
}

int hlg_diff_records(void *data, struct hlg_records *to, struct hlg_err *err)
{
	const struct hlg_diff *diff = data;
	static const struct hlg_table table = {all_columns, .n = COLUMNS};
	const struct hlg_view *a = &diff->side[0].all, *b = &diff->side[1].all;

	(void)err;
	hlg_format_begin(to, &table);
	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < diff->side[s].n_runs; i++)
			write_line(to, "recording", diff->side[s].paths[i], sides[s]);
	write_total(to, "guest", a->guest, b->guest);
	write_total(to, "dropped", a->dropped, b->dropped);
	for (int s = 0; s < 2; s++)
		write_line(to, "trust",
			   hlg_verdict_word(diff->side[s].report.trust.all.verdict),
			   sides[s]);
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

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

static void write_image(FILE *f, const struct hlg_image *image)
{
	char from[96];

	hlg_base_describe(image, from, sizeof(from));
	fputs(INDENT "image ", f);
	hlg_escape_print(f, image->path);
	if (image->n_also)
		fprintf(f, ", %zu bases (", hlg_image_n_bases(image));
	else
		fprintf(f, ", base 0x%" PRIx64 " (", image->base);
	hlg_escape_print(f, from);
	fputs(")\n", f);
	if (image->elf.build_id[0])
		fprintf(f, INDENT "      build id %s\n", image->elf.build_id);
}

static void write_side(FILE *f, const struct hlg_diff *diff, int s)
{
	enum {
		SHOWN = 10
	};
	const struct hlg_diff_side *side = &diff->side[s];
	const struct hlg_tested *tested = &side->report.trust.all;
	char percent[16];

	fprintf(f, "%-8s %zu recording%s, %" PRIu64 " guest sample%s, period %" PRIu64,
		sides[s], side->n_runs, plural(side->n_runs), side->all.guest.samples,
		plural(side->all.guest.samples), side->all.guest.period);
	if (side->all.dropped.samples)
		fprintf(f, ", %" PRIu64 " dropped", side->all.dropped.samples);
	if (side->all.observations + 0.5 < (double)side->all.kept.samples)
		fprintf(f, " (%.0f effective)", side->all.observations);
	fputc('\n', f);
	for (size_t i = 0; i < side->n_runs && i < SHOWN; i++) {
		fputs(INDENT, f);
		hlg_escape_print(f, side->paths[i]);
		fputc('\n', f);
	}
	if (side->n_runs > SHOWN)
		fprintf(f, INDENT "... and %zu more\n", side->n_runs - SHOWN);
	for (size_t i = 0; i < side->space->n_images; i++)
		write_image(f, side->space->images[i]);
	fprintf(f, INDENT "trust %s", hlg_verdict_word(tested->verdict));
	if (tested->addrs.on + tested->addrs.off)
		fprintf(f, " (%s %% of samples on instruction boundaries)",
			hlg_interval_percent(percent, tested->by_samples.share));
	fputc('\n', f);
}

static void write_loud(FILE *f, const char *side, const char *line)
{
	fprintf(f, "!! %s: ", side);
	hlg_escape_print(f, line);
	fputs("\n\n", f);
}

static void write_answer(FILE *f, const struct hlg_diff *diff)
{
	for (int s = 0; s < 2; s++) {
		const struct hlg_report *r = &diff->side[s].report;

		for (size_t i = 0; i < r->notes.n; i++)
			if (r->notes.level[i] == HLG_NOTE_WARNING)
				write_loud(f, sides[s], r->notes.line[i]);
		if (r->banner)
			write_loud(f, sides[s], r->banner);
	}
	hlg_diff_total_tell(diff, f);
	fprintf(f, "\ntotal    %s\n\n", hlg_diff_total_meaning(diff));
}

static void write_method(FILE *f, const struct hlg_diff *diff)
{
	fprintf(f, "hlguest %s\n\n", HLG_VERSION);
	write_side(f, diff, 0);
	write_side(f, diff, 1);
	fprintf(f,
		"matched  %s\nshares   %s\ntest     %s\n" INDENT
		"* significant: q <= %g %%, the false discovery rate over all rows "
		"of a table\n" INDENT "(Benjamini-Hochberg); intervals are of 95 %%, "
		"each row's own\n\n",
		diff->matched, diff->shares, diff->test, 100 * HLG_COMPARE_LEVEL);
	for (size_t i = 0; i < diff->notes.n; i++) {
		fputs("note: ", f);
		hlg_escape_print(f, diff->notes.line[i]);
		fputc('\n', f);
	}
}

/* A row at hand, for what its numbers and its name do not say. */
struct shown {
	const struct hlg_diff *diff;
	const struct hlg_diff_row *row;
};

/* What the name does not say. */
static void write_remark(FILE *f, const void *of)
{
	const struct shown *shown = of;
	const struct hlg_diff *diff = shown->diff;
	const struct hlg_diff_row *row = shown->row;
	const struct hlg_place *place = hlg_diff_place(row, row->n[1] ? 1 : 0);

	if (place->kind == HLG_LABEL)
		fputs("  (label)", f);
	if (row->n[0] > 1 || row->n[1] > 1)
		fprintf(f, "  (of this name: %zu before, %zu after)", row->n[0],
			row->n[1]);
	if (row->presence != HLG_DIFF_BOTH)
		fprintf(f, "  (%s)", presence_word(row->presence));
	if (diff->images.n > 1 && place->image) {
		fputs("  [", f);
		hlg_escape_print(f, place->image->path);
		fputc(']', f);
	}
}

static void write_region(FILE *f, const void *of)
{
	const struct shown *shown = of;
	const struct hlg_diff *diff = shown->diff;
	const struct hlg_diff_row *row = shown->row;
	int s = row->n[1] ? 1 : 0;
	const struct hlg_view *view = &diff->side[s].all;
	const struct hlg_region *region = row->region[s];

	fprintf(f, "0x%" PRIx64 "-0x%" PRIx64 "  ", region->addr,
		region->addr + (diff->side[s].options->region - 1));
	if (diff->images.n > 1 && region->image) {
		fputc('[', f);
		hlg_escape_print(f, region->image->path);
		fputs("] ", f);
	}
	hlg_escape_print(f, view->rows[view->parts[region->first_part].row].name);
	if (region->n_parts > 1)
		fprintf(f, ", %zu more", region->n_parts - 1);
}

static void write_rows(FILE *f, const struct hlg_diff *diff,
		       const struct hlg_diff_rows *rows, const char *what)
{
	static const unsigned char layout[] = {SIGNIFICANT, PERCENT, PERCENT + 1, POINTS,
					       INTERVAL,    CHANGE,  Q,           NAME};
	struct hlg_column columns[COLUMNS];
	const struct hlg_table table = {
		columns, layout, sizeof(layout), diff->colours, {0}};
	struct hlg_value v[COLUMNS];
	size_t n = 0;

	if (!rows->n_significant && !(diff->every && rows->n))
		return;
	memcpy(columns, all_columns, sizeof(columns));
	columns[NAME].heading = what;
	hlg_table_text_head(f, &table);
	for (size_t i = 0; i < rows->n; i++) {
		const struct hlg_diff_row *row = &rows->row[i];
		const struct shown shown = {diff, row};

		if (!shows(diff, row, n) || !(row->significant || diff->every))
			continue;
		n++;
		set_values(v, diff, row);
		v[NAME].is = rows == &diff->functions;
		v[NAME].tail = rows == &diff->functions ? write_remark : write_region;
		v[NAME].of = &shown;
		/* The colours of a large share and of a small one: red grew, green
		 * shrank. */
		hlg_table_text_row(f, &table, v,
				   !row->significant        ? 0
				   : row->compared.diff > 0 ? 1
							    : 0.01);
	}
	fprintf(f, "%zu of %zu row%s changed significantly", rows->n_significant, rows->n,
		plural(rows->n));
	if (n < (diff->every ? rows->n : rows->n_significant))
		fprintf(f, "; %zu shown (--top=0)", n);
	else if (n < rows->n)
		fputs(" (--all shows the others)", f);
	fputs("\n\n", f);
}

static int write_text(void *data, FILE *f, struct hlg_err *err)
{
	const struct hlg_diff *diff = data;

	(void)err;
	write_answer(f, diff);
	write_rows(f, diff, &diff->functions,
		   diff->withheld ? "guest address" : "function");
	write_rows(f, diff, &diff->regions,
		   diff->withheld ? "region (guest addresses)"
				  : "region (own addresses), and most of what is in it");
	write_method(f, diff);
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
	const struct hlg_table table = {all_columns, layout, n, {0}, {0}};

	hlg_json_row(object, &table, values);
}

static json_t *total_of(const struct hlg_diff *diff)
{
	const struct hlg_diff_total *total = &diff->total;
	double growth = hlg_diff_total_growth(diff);
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

static json_t *image_of(const struct hlg_image *of)
{
	json_t *o = json_object();

	put(o, "path", hlg_json_text(of->path));
	put(o, "build_id",
	    of->elf.build_id[0] ? hlg_json_text(of->elf.build_id) : json_null());
	put(o, "base", hlg_json_hex(of->base));
	put(o, "bases", hlg_json_number(hlg_image_n_bases(of)));
	return o;
}

static json_t *side_of(const struct hlg_diff_side *s)
{
	json_t *o = json_object(), *images = json_array(), *recordings = json_array();

	for (size_t i = 0; i < s->n_runs; i++)
		json_array_append_new(recordings, hlg_json_text(s->paths[i]));
	for (size_t i = 0; i < s->space->n_images; i++)
		json_array_append_new(images, image_of(s->space->images[i]));
	put(o, "recordings", recordings);
	put(o, "images", images);
	put(o, "guest", hlg_json_count(s->all.guest));
	put(o, "dropped", hlg_json_count(s->all.dropped));
	put(o, "observations", json_real(round(s->all.observations * 10) / 10));
	put(o, "verdict", json_string(hlg_verdict_word(s->report.trust.all.verdict)));
	return o;
}

/* What a row has of a side. */
static json_t *part(const struct hlg_diff_row *row, int s)
{
	json_t *o = hlg_json_count(row->count[s]);

	hlg_json_put_share(o, &row->share[s]);
	if (row->row[s] && row->row[s]->place.image)
		put(o, "addr", hlg_json_hex(row->row[s]->place.start));
	put(o, "names", hlg_json_number(row->n[s]));
	return o;
}

/* Sets a row's values, and behind the first of them what each side has. */
static json_t *row_of(const struct hlg_diff *diff, const struct hlg_diff_row *row)
{
	static const unsigned char function[] = {NAME, SYMBOL, IMAGE, KIND};
	static const unsigned char image[] = {IMAGE};
	static const unsigned char status[] = {STATUS};
	static const unsigned char change[] = {POINTS, LOW, HIGH,        CHANGE,
					       P,      Q,   SIGNIFICANT, EXACT};
	const struct hlg_region *region = row->region[row->n[1] ? 1 : 0];
	struct hlg_value v[COLUMNS];
	json_t *o = json_object();

	set_values(v, diff, row);
	if (region) {
		set(o, image, sizeof(image), v);
		put(o, "addr", hlg_json_hex(region->addr));
		put(o, "size", hlg_json_number(diff->side[0].options->region));
	} else {
		set(o, function, sizeof(function), v);
	}
	set(o, status, sizeof(status), v);
	put(o, "before", part(row, 0));
	put(o, "after", part(row, 1));
	set(o, change, sizeof(change), v);
	return o;
}

static void put_rows(struct hlg_json *json, const char *key, const struct hlg_diff *diff,
		     const struct hlg_diff_rows *of)
{
	size_t shown = 0;

	hlg_json_open_list(json, key);
	for (size_t i = 0; i < of->n; i++)
		if (shows(diff, &of->row[i], shown)) {
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
	hlg_json_put(&json, "total", total_of(diff));
	hlg_json_put(&json, "withheld", json_boolean(diff->withheld));
	hlg_json_put(&json, "matched", json_string(diff->matched));
	hlg_json_put(&json, "shares", json_string(diff->shares));
	hlg_json_put(&json, "test", json_string(diff->test));
	hlg_json_put(&json, "level", json_real(HLG_COMPARE_LEVEL));
	hlg_json_put(&json, "notes", hlg_json_lines(diff->notes.line, diff->notes.n));
	put_rows(&json, "functions", diff, &diff->functions);
	put_rows(&json, "regions", diff, &diff->regions);
	return hlg_json_end(&json, err);
}
#endif

static const struct hlg_format text = {
	.name = "text", .top = 40, .notes = true, .reader = true, .write = write_text};
static const struct hlg_format json = {
	.name = "json", .notes = true, HLG_FORMAT_JANSSON(write_json)};
const struct hlg_format *const hlg_diff_formats[] = {&text, &hlg_format_of_records, &json,
						     NULL};
