// SPDX-License-Identifier: GPL-2.0-only
/*
 * The comparison as text, and as records, which CSV is made of: `recording`, `total`,
 * `trust`, `method`, `note`, `function` (with labels, gaps, data, outside; or guest
 * addresses) and `region`. Percentages have two decimals, as in a report; p and q four
 * digits.
 */
#include "tools/diff/write.h"

#include <inttypes.h>
#include <string.h>

#include "config.h"
#include "filter/report/rows.h"
#include "filter/view/place-name.h"
#include "symtab/escape.h"
#include "symtab/image/base.h"

#define INDENT "         "

static const char *const sides[2] = {"before", "after"};

const struct hlg_column hlg_diff_columns[HLG_DIFF_COLUMNS] = {
	[HLG_DIFF_RECORD] = {"record", NULL, .type = HLG_VALUE_WORD},
	[HLG_DIFF_NAME] = {"name", "", .type = HLG_VALUE_TEXT, 2},
	[HLG_DIFF_SYMBOL] = {"symbol", NULL, .type = HLG_VALUE_TEXT},
	[HLG_DIFF_IMAGE] = {"image", NULL, .type = HLG_VALUE_TEXT},
	[HLG_DIFF_STATUS] = {"status", NULL, .type = HLG_VALUE_WORD},
	[HLG_DIFF_KIND] = {"kind", NULL, .type = HLG_VALUE_WORD},
	[HLG_DIFF_NAMES] = {"names_before", NULL, .type = HLG_VALUE_COUNT},
	{"names_after", NULL, .type = HLG_VALUE_COUNT},
	[HLG_DIFF_ADDR] = {"addr_before", NULL, .type = HLG_VALUE_ADDR},
	{"addr_after", NULL, .type = HLG_VALUE_ADDR},
	[HLG_DIFF_COUNTS] = {"samples_before", NULL, .type = HLG_VALUE_COUNT},
	{"period_before", NULL, .type = HLG_VALUE_COUNT},
	{"samples_after", NULL, .type = HLG_VALUE_COUNT},
	{"period_after", NULL, .type = HLG_VALUE_COUNT},
	[HLG_DIFF_PERCENT] = {"percent_before", "before", .type = HLG_VALUE_PERCENT, 1, 8,
			      .unit = " %", .flags = HLG_COLUMN_PAINTED},
	{"percent_after", "after", .type = HLG_VALUE_PERCENT, 1, 8, .unit = " %",
	 .flags = HLG_COLUMN_PAINTED},
	[HLG_DIFF_POINTS] = {"points", "points", .type = HLG_VALUE_POINTS, 1, 7,
			     .flags = HLG_COLUMN_PAINTED},
	[HLG_DIFF_LOW] = {"low", NULL, .type = HLG_VALUE_POINTS},
	[HLG_DIFF_HIGH] = {"high", NULL, .type = HLG_VALUE_POINTS},
	[HLG_DIFF_CHANGE] = {"change", "change", .type = HLG_VALUE_GROWTH, 1, 9},
	[HLG_DIFF_P] = {"p", NULL, .type = HLG_VALUE_PROBABILITY},
	[HLG_DIFF_Q] = {"q", "q", .type = HLG_VALUE_PROBABILITY, 1, 8},
	[HLG_DIFF_SIGNIFICANT] = {"significant", "", .type = HLG_VALUE_BOOL, 0, 1,
				  .unit = "*", .flags = HLG_COLUMN_PAINTED},
	[HLG_DIFF_EXACT] = {"exact", NULL, .type = HLG_VALUE_BOOL},
	[HLG_DIFF_INTERVAL] = {NULL, "95 % interval", .type = HLG_VALUE_CHANGES, 2, 18},
};

bool hlg_diff_shows(const struct hlg_diff *diff, const struct hlg_diff_row *row,
		    size_t shown)
{
	const struct hlg_report *r = &diff->side[0].report;
	uint64_t top = hlg_rows_top(r);
	double least = hlg_rows_least(r);

	return (top == 0 || shown < top) &&
	       (row->share[0].share >= least || row->share[1].share >= least);
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
			v[HLG_DIFF_ADDR + s] =
				hlg_table_count_value(row->row[s]->place.start);
		else if (row->region[s])
			v[HLG_DIFF_ADDR + s] =
				hlg_table_count_value(row->region[s]->addr);
}

static void set_counts(struct hlg_value *v, const struct hlg_count count[2])
{
	for (int s = 0; s < 2; s++) {
		v[HLG_DIFF_COUNTS + 2 * s] = hlg_table_count_value(count[s].samples);
		v[HLG_DIFF_COUNTS + 2 * s + 1] = hlg_table_count_value(count[s].period);
	}
}

void hlg_diff_values(struct hlg_value v[static HLG_DIFF_COLUMNS],
		     const struct hlg_diff *diff, const struct hlg_diff_row *row)
{
	const struct hlg_compared *c = &row->compared;
	const struct hlg_place *place = hlg_diff_place(row, row->n[1] ? 1 : 0);
	const struct hlg_region *region = row->region[row->n[1] ? 1 : 0];
	const struct hlg_image *image = place ? place->image : region->image;

	memset(v, 0, HLG_DIFF_COLUMNS * sizeof(*v));
	v[HLG_DIFF_RECORD] = hlg_table_text_value(place ? "function" : "region");
	v[HLG_DIFF_NAME] =
		hlg_table_text_value(place ? hlg_diff_name(row) : region_name(diff, row));
	if (place && place->symbol)
		v[HLG_DIFF_SYMBOL] =
			hlg_table_text_value(hlg_image_name(place->image, place->symbol));
	v[HLG_DIFF_IMAGE] = hlg_table_text_value(image ? image->path : NULL);
	v[HLG_DIFF_STATUS] = hlg_table_text_value(hlg_diff_presence_word(row->presence));
	v[HLG_DIFF_KIND] = hlg_table_text_value(place ? kind_of(diff, row) : "region");
	for (int s = 0; s < 2; s++) {
		v[HLG_DIFF_NAMES + s] = hlg_table_count_value(row->n[s]);
		v[HLG_DIFF_PERCENT + s] = hlg_table_number_value(row->share[s].share);
	}
	set_places(v, row);
	set_counts(v, row->count);
	v[HLG_DIFF_POINTS] = hlg_table_number_value(c->diff);
	v[HLG_DIFF_LOW] = hlg_table_number_value(c->low);
	v[HLG_DIFF_HIGH] = hlg_table_number_value(c->high);
	v[HLG_DIFF_INTERVAL] =
		hlg_table_share_value((struct hlg_share){.low = c->low, .high = c->high});
	v[HLG_DIFF_CHANGE] = hlg_table_number_value(hlg_diff_growth(row));
	v[HLG_DIFF_P] = hlg_table_number_value(c->p);
	v[HLG_DIFF_Q] = hlg_table_number_value(row->q);
	v[HLG_DIFF_SIGNIFICANT] = hlg_table_count_value(row->significant);
	v[HLG_DIFF_EXACT] = hlg_table_count_value(c->exact);
}

/* A record that has a name and a status, and nothing else. */
static void write_line(struct hlg_records *to, const char *record, const char *name,
		       const char *status)
{
	struct hlg_value v[HLG_DIFF_COLUMNS] = {0};

	v[HLG_DIFF_RECORD] = hlg_table_text_value(record);
	v[HLG_DIFF_NAME] = hlg_table_text_value(name);
	v[HLG_DIFF_STATUS] = hlg_table_text_value(status);
	hlg_format_record(to, v);
}

static void write_total(struct hlg_records *to, const char *name, struct hlg_count before,
			struct hlg_count after)
{
	struct hlg_value v[HLG_DIFF_COLUMNS] = {0};

	v[HLG_DIFF_RECORD] = hlg_table_text_value("total");
	v[HLG_DIFF_NAME] = hlg_table_text_value(name);
	set_counts(v, (struct hlg_count[2]){before, after});
	hlg_format_record(to, v);
}

static void write_row_records(struct hlg_records *to, const struct hlg_diff *diff,
			      const struct hlg_diff_rows *rows)
{
	struct hlg_value v[HLG_DIFF_COLUMNS];
	size_t shown = 0;

	for (size_t i = 0; i < rows->n; i++) {
		if (!hlg_diff_shows(diff, &rows->row[i], shown))
			continue;
		shown++;
		hlg_diff_values(v, diff, &rows->row[i]);
		hlg_format_record(to, v);
	}
}

int hlg_diff_records(void *data, struct hlg_records *to, struct hlg_err *err)
{
	const struct hlg_diff *diff = data;
	static const struct hlg_table table = {hlg_diff_columns, .n = HLG_DIFF_COLUMNS};
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

static void write_header(FILE *f, const struct hlg_diff *diff)
{
	for (int s = 0; s < 2; s++) {
		if (!diff->side[s].report.banner)
			continue;
		fprintf(f, "!! %s: ", sides[s]);
		hlg_escape_print(f, diff->side[s].report.banner);
		fputs("\n\n", f);
	}
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
	if (diff->notes.n)
		fputc('\n', f);
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
		fprintf(f, "  (%s)", hlg_diff_presence_word(row->presence));
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
	static const unsigned char layout[] = {HLG_DIFF_SIGNIFICANT, HLG_DIFF_PERCENT,
					       HLG_DIFF_PERCENT + 1, HLG_DIFF_POINTS,
					       HLG_DIFF_INTERVAL,    HLG_DIFF_CHANGE,
					       HLG_DIFF_Q,           HLG_DIFF_NAME};
	struct hlg_column columns[HLG_DIFF_COLUMNS];
	const struct hlg_table table = {columns, layout, sizeof(layout), diff->colours};
	struct hlg_value v[HLG_DIFF_COLUMNS];
	size_t n = 0;

	if (!rows->n)
		return;
	memcpy(columns, hlg_diff_columns, sizeof(columns));
	columns[HLG_DIFF_NAME].heading = what;
	hlg_table_text_head(f, &table);
	for (size_t i = 0; i < rows->n; i++) {
		const struct hlg_diff_row *row = &rows->row[i];
		const struct shown shown = {diff, row};

		if (!hlg_diff_shows(diff, row, n))
			continue;
		n++;
		hlg_diff_values(v, diff, row);
		v[HLG_DIFF_NAME].is = rows == &diff->functions;
		v[HLG_DIFF_NAME].tail =
			rows == &diff->functions ? write_remark : write_region;
		v[HLG_DIFF_NAME].of = &shown;
		/* The colours of a large share and of a small one: red grew, green
		 * shrank. */
		hlg_table_text_row(f, &table, v,
				   !row->significant        ? 0
				   : row->compared.diff > 0 ? 1
							    : 0.01);
	}
	if (n < rows->n)
		fprintf(f, "     ... and %zu more\n", rows->n - n);
	fprintf(f, "%zu row%s, %zu significant\n\n", rows->n, plural(rows->n),
		rows->n_significant);
}

static int write_text(void *data, FILE *f, struct hlg_err *err)
{
	const struct hlg_diff *diff = data;

	(void)err;
	write_header(f, diff);
	write_rows(f, diff, &diff->functions,
		   diff->withheld ? "guest address" : "function");
	write_rows(f, diff, &diff->regions,
		   diff->withheld ? "region (guest addresses)"
				  : "region (own addresses), and most of what is in it");
	return 0;
}

static const struct hlg_format text = {
	.name = "text", .top = 40, .notes = true, .write = write_text};
static const struct hlg_format json = {
	.name = "json", .notes = true, HLG_FORMAT_JANSSON(hlg_diff_json)};
const struct hlg_format *const hlg_diff_formats[] = {&text, &hlg_format_of_records, &json,
						     NULL};
