// SPDX-License-Identifier: GPL-2.0-only
/* The report for people: function and region tables, files, the host, behind its head. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "filter/report/rows.h"
#include "filter/stats/interval.h"
#include "filter/write/format.h"
#include "filter/write/report-table.h"
#include "filter/write/text-head.h"
#include "symtab/escape.h"

enum {
	REGION_BAR = 20, /* cells; of rows there is one on a terminal only */
	MOST = 10        /* columns of a table */
};

/* What a table shows of the report's columns, for the cells' tails, too. */
struct text {
	FILE *f;
	const struct hlg_report *r;
	const struct hlg_view *v;
	struct hlg_column columns[HLG_REPORT_COLUMNS];
	unsigned char layout[MOST];
	struct hlg_table table;
	/* At hand. */
	const struct hlg_row *row;
	const struct hlg_region *region;
	const struct hlg_host_row *host;
	const char *series;
};

static void begin_table(struct text *t, const unsigned char *layout, size_t n,
			const char *heading)
{
	memcpy(t->columns, hlg_report_table_columns, sizeof(t->columns));
	memcpy(t->layout, layout, n);
	t->columns[HLG_REPORT_NAME].heading = heading;
	t->table = (struct hlg_table){t->columns, t->layout, n, t->r->colours};
}

static void write_aliases(FILE *f, const struct hlg_report *r,
			  const struct hlg_place *place)
{
	size_t n;
	const struct hlg_symbol *first =
		hlg_image_aliases(place->image, place->symbol, &n);

	if (!r->options->aliases) {
		if (n > 1)
			fprintf(f, "  (+%zu alias%s)", n - 1, n > 2 ? "es" : "");
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (&first[i] == place->symbol)
			continue;
		fputs(" = ", f);
		hlg_escape_print(f, hlg_image_name(place->image, &first[i]));
	}
}

/* What the name alone does not say. */
static void write_remark(FILE *f, const void *of)
{
	const struct text *t = of;
	const struct hlg_row *row = t->row;

	if (row->place.symbol)
		write_aliases(f, t->r, &row->place);
	if (row->place.kind == HLG_LABEL)
		fputs("  (label)", f);
	if (row->place.kind == HLG_GAP && row->padding.samples == 0)
		fputs("  (unlabelled code)", f);
	else if (row->place.kind == HLG_GAP && row->padding.samples == row->count.samples)
		fputs("  (padding)", f);
	else if (row->place.kind == HLG_GAP)
		fprintf(f, "  (%" PRIu64 " in padding)", row->padding.samples);
	if (t->r->space->n_images > 1 && row->place.image) {
		fputs("  [", f);
		hlg_escape_print(f, row->place.image->path);
		fputc(']', f);
	}
}

/* "... and 12 more, 1.03 %" for what top= and min= cut off. */
static void write_rest(FILE *f, size_t n, double rest)
{
	char percent[16];

	if (n)
		fprintf(f, "     ... and %zu more, %s %%\n", n,
			hlg_interval_percent(percent, rest));
}

/* Those of rows: without edges and bars where there are none. */
static void begin_rows(struct text *t)
{
	static const unsigned char all[] = {
		HLG_REPORT_PERCENT, HLG_REPORT_MARK,   HLG_REPORT_INTERVAL,
		HLG_REPORT_SAMPLES, HLG_REPORT_PERIOD, HLG_REPORT_SIZE,
		HLG_REPORT_EDGE,    HLG_REPORT_BAR,    HLG_REPORT_NAME};
	unsigned char layout[sizeof(all)];
	size_t n = 0;

	for (size_t i = 0; i < sizeof(all); i++)
		if (!(all[i] == HLG_REPORT_EDGE && !t->r->options->skid) &&
		    !(all[i] == HLG_REPORT_BAR && !t->r->colours.on))
			layout[n++] = all[i];
	begin_table(t, layout, n, t->r->suppressed ? "guest address" : "function");
}

static void write_rows(struct text *t)
{
	const struct hlg_view *v = t->v;
	size_t shown = hlg_rows_shown(t->r, v->n_rows, hlg_rows_share, v);
	struct hlg_value c[HLG_REPORT_COLUMNS];
	bool unsure = false;
	double rest = 0;

	begin_rows(t);
	hlg_table_text_head(t->f, &t->table);
	for (size_t i = 0; i < shown; i++) {
		t->row = &v->rows[i];
		hlg_report_table_row(c, t->r, t->row, NULL);
		c[HLG_REPORT_BAR] = hlg_table_share_value((struct hlg_share){
			.share = t->row->share.share, .high = v->rows[0].share.share});
		c[HLG_REPORT_NAME].tail = write_remark;
		c[HLG_REPORT_NAME].of = t;
		hlg_table_text_row(t->f, &t->table, c, t->row->share.share);
		unsure |= t->row->unsure;
	}
	for (size_t i = shown; i < v->n_rows; i++)
		rest += v->rows[i].share.share;
	write_rest(t->f, v->n_rows - shown, rest);
	if (unsure)
		fputs("         ~ the order of this row and the next is not "
		      "established\n",
		      t->f);
	fputc('\n', t->f);
}

static void write_parts(FILE *f, const struct hlg_view *v,
			const struct hlg_region *region)
{
	enum {
		SHOWN = 3
	};
	double total = (double)hlg_count_weigh(v->weight, region->count);

	for (size_t i = 0; i < region->n_parts && i < SHOWN; i++) {
		const struct hlg_region_part *part = &v->parts[region->first_part + i];
		double w = (double)hlg_count_weigh(v->weight, part->count);

		fputs(i ? ", " : "", f);
		hlg_escape_print(f, v->rows[part->row].name);
		fprintf(f, " %ld%%", total > 0 ? lround(100 * w / total) : 0);
	}
	if (region->n_parts > SHOWN)
		fprintf(f, ", %zu more", region->n_parts - SHOWN);
}

/* "0x1000-0x13ff  longest_match 99%" */
static void write_region(FILE *f, const void *of)
{
	const struct text *t = of;
	const struct hlg_region *region = t->region;

	fprintf(f, "0x%" PRIx64 "-0x%" PRIx64 "  ", region->addr,
		region->addr + (t->r->options->region - 1));
	if (t->r->space->n_images > 1 && region->image) {
		fputc('[', f);
		hlg_escape_print(f, region->image->path);
		fputs("] ", f);
	}
	write_parts(f, t->v, region);
}

static void write_regions(struct text *t)
{
	static const unsigned char layout[] = {HLG_REPORT_PERCENT,  HLG_REPORT_MARK,
					       HLG_REPORT_INTERVAL, HLG_REPORT_SAMPLES,
					       HLG_REPORT_BAR,      HLG_REPORT_NAME};
	const struct hlg_view *v = t->v;
	size_t shown = hlg_rows_shown(t->r, v->n_regions, hlg_rows_region_share, v);
	struct hlg_value c[HLG_REPORT_COLUMNS];
	double rest = 0;

	if (!v->n_regions)
		return;
	begin_table(t, layout, sizeof(layout),
		    t->r->suppressed ? "region (guest addresses) and what is in it"
				     : "region (own addresses) and what is in it");
	t->columns[HLG_REPORT_BAR].width = -REGION_BAR;
	hlg_table_text_head(t->f, &t->table);
	for (size_t i = 0; i < shown; i++) {
		t->region = &v->regions[i];
		hlg_report_table_region(c, t->r, v, t->region, NULL);
		c[HLG_REPORT_BAR] = hlg_table_share_value(
			(struct hlg_share){.share = t->region->share.share,
					   .high = v->regions[0].share.share});
		c[HLG_REPORT_NAME] = (struct hlg_value){.tail = write_region, .of = t};
		hlg_table_text_row(t->f, &t->table, c, t->region->share.share);
	}
	for (size_t i = shown; i < v->n_regions; i++)
		rest += v->regions[i].share.share;
	write_rest(t->f, v->n_regions - shown, rest);
	fputc('\n', t->f);
}

static void write_view(void *to, const struct hlg_report *r, const struct hlg_view *v,
		       const char *of)
{
	struct text t = {.f = to, .r = r, .v = v};

	if (of) {
		fputs("== ", t.f);
		hlg_escape_print(t.f, of);
		fprintf(t.f, " (%" PRIu64 " guest sample%s)\n\n", v->guest.samples,
			v->guest.samples == 1 ? "" : "s");
	}
	if (!v->n_rows)
		return;
	write_rows(&t);
	write_regions(&t);
}

static void write_mapping(FILE *f, const void *of)
{
	const struct text *t = of;

	fputs(" (", f);
	hlg_escape_print(f, t->host->dso);
	fputc(')', f);
	if (t->series) {
		fputs("  ", f);
		hlg_escape_print(f, t->series);
	}
}

static void write_host_row(void *to, const struct hlg_host_row *row, double share,
			   const char *series)
{
	struct text *t = to;
	struct hlg_value c[HLG_REPORT_COLUMNS];

	t->host = row;
	t->series = series;
	hlg_report_table_host(c, row, share, series);
	c[HLG_REPORT_NAME].tail = write_mapping;
	c[HLG_REPORT_NAME].of = t;
	hlg_table_text_row(t->f, &t->table, c, 0);
}

static int write_host(FILE *f, const struct hlg_report *r, struct hlg_err *err)
{
	static const unsigned char layout[] = {HLG_REPORT_PERCENT, HLG_REPORT_SAMPLES,
					       HLG_REPORT_PERIOD, HLG_REPORT_NAME};
	size_t shown = hlg_rows_host_shown(r);
	struct text t = {.f = f, .r = r};
	int rc;

	begin_table(&t, layout, sizeof(layout), "process (mapping)");
	t.columns[HLG_REPORT_PERCENT].heading = "of host";
	t.columns[HLG_REPORT_PERCENT].flags = 0;
	hlg_table_text_head(f, &t.table);
	rc = hlg_rows_each_host(&t, r, write_host_row, err);
	if (shown < r->host->n_rows)
		fprintf(f, "     ... and %zu more\n", r->host->n_rows - shown);
	fputc('\n', f);
	return rc;
}

static void write_not_read(FILE *f, const void *file)
{
	if (((const struct hlg_report_file *)file)->problem)
		fputs("  (not read)", f);
}

static void write_file(FILE *f, const struct hlg_table *table,
		       const struct hlg_report_file *file)
{
	double all = (double)file->samples;
	char base[32], trust[11];
	struct hlg_value c[] = {
		hlg_table_count_value(file->samples),
		hlg_table_count_value(file->guest),
		hlg_table_number_value(all > 0 ? (double)file->guest / all : 0),
		hlg_table_count_value(file->lost),
		hlg_table_text_value(file->fit.n_bases ? base : NULL),
		hlg_table_text_value(trust),
		{.is = true, .text = file->path, .tail = write_not_read, .of = file},
	};

	if (file->fit.n_bases > 1)
		snprintf(base, sizeof(base), "%zu bases", file->fit.n_bases);
	else
		snprintf(base, sizeof(base), "0x%" PRIx64, file->fit.base);
	/* "too few samples to tell" is long for a column. */
	snprintf(trust, sizeof(trust), "%.*s",
		 file->fit.verdict == HLG_TRUST_TOO_FEW ? 7 : 10,
		 hlg_verdict_word(file->fit.verdict));
	for (size_t i = 0; file->problem && i < 6; i++)
		c[i].is = false;
	hlg_table_text_row(f, table, c, 0);
}

static void write_files(FILE *f, const struct hlg_report *r)
{
	static const struct hlg_column columns[] = {
		{NULL, "samples", .type = HLG_VALUE_COUNT, 0, 12, .none = "-"},
		{NULL, "guest", .type = HLG_VALUE_COUNT, 1, 12, .none = "-"},
		{NULL, "share", .type = HLG_VALUE_PERCENT, 1, 10, .unit = " %",
		 .none = "-"},
		{NULL, "lost", .type = HLG_VALUE_COUNT, 1, 10, .none = "-"},
		{NULL, "base", .type = HLG_VALUE_WORD, 2, -18, .none = "-"},
		{NULL, "trust", .type = HLG_VALUE_WORD, 1, -10, .none = "-"},
		{NULL, "file", .type = HLG_VALUE_TEXT, 1},
	};
	static const struct hlg_table table = {columns,
					       .n = sizeof(columns) / sizeof(columns[0])};

	if (r->n_files < 2)
		return;
	hlg_table_text_head(f, &table);
	for (size_t i = 0; i < r->n_files; i++)
		write_file(f, &table, &r->files[i]);
	fputc('\n', f);
}

int hlg_text_write(FILE *f, const struct hlg_report *r, struct hlg_err *err)
{
	int rc;

	hlg_text_head(f, r);
	rc = hlg_text_head_stacks(f, r, err);
	write_files(f, r);
	rc = rc < 0 ? rc : hlg_rows_each_view(f, r, write_view, err);
	return rc < 0 || r->options->mode == HLG_SHOW_GUEST ? rc : write_host(f, r, err);
}
