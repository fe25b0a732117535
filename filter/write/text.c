// SPDX-License-Identifier: GPL-2.0-only
/*
 * The report for people: what was read, functions, regions, where all samples went. It is
 * fitted to the screen: columns that have no room are left out, long names cut, and on a
 * terminal there are as many rows as fit, but FEWEST at least.
 */
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "filter/output/memstream.h"
#include "filter/report/rows.h"
#include "filter/write/format.h"
#include "filter/write/report-table.h"
#include "filter/write/text-children.h"
#include "filter/write/text-details.h"
#include "filter/write/text-head.h"
#include "filter/write/text-line.h"
#include "filter/write/text-regions.h"
#include "filter/write/text-scale.h"
#include "filter/write/text-sums.h"
#include "symtab/escape.h"
#include "symtab/plural.h"

enum {
	MOST = 12,   /* columns of a table */
	NAME = 36,   /* cells for names, before columns are left out */
	APART = 40,  /* cells for what tells rows of one name apart */
	FEWEST = 10, /* functions, on however small a screen */
	FEWEST_REGIONS = 2,
	FILE_CELLS = 20,     /* of a file's name beside a function's */
	FEWEST_ADDRESSES = 3 /* instead of functions: why there are none counts more */
};

/* What a table shows of the report's columns, for the cells' tails, too. */
struct text {
	FILE *f;
	const struct hlg_report *r;
	const struct hlg_view *v;
	uint64_t most, most_regions; /* that the screen has room for; 0: any number */
	bool no_regions;             /* it has none for any */
	struct hlg_text_scale scale;
	struct hlg_column columns[HLG_REPORT_COLUMNS];
	unsigned char layout[MOST];
	struct hlg_table table;
	char no_room[64]; /* "size, regions": what the screen has no room for */
	/* At hand. */
	const struct hlg_row *row;
	const struct hlg_host_row *host;
	const char *series;
	char time[32], margin[32];
	bool lost; /* something, for want of memory */
};

static void begin_table(struct text *t, const unsigned char *layout, size_t n,
			const char *heading)
{
	memcpy(t->columns, hlg_report_table_columns, sizeof(t->columns));
	memcpy(t->layout, layout, n);
	t->columns[HLG_REPORT_NAME].heading = heading;
	t->table =
		(struct hlg_table){t->columns, t->layout, n, t->r->colours, t->r->screen};
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
	for (size_t i = 0; i < n && i < HLG_IMAGE_ALIASES; i++) {
		if (&first[i] == place->symbol)
			continue;
		fputs(" = ", f);
		hlg_escape_print(f, hlg_image_name(place->image, &first[i]));
	}
	if (n > HLG_IMAGE_ALIASES)
		fputs(" = ...", f);
}

/* What the name alone does not say. */
static void write_remark(FILE *f, const void *of)
{
	const struct text *t = of;
	const struct hlg_row *row = t->row;

	if (row->apart) {
		fputs("  (", f);
		hlg_table_cut(f, row->apart, APART, t->r->screen.ascii);
		fputc(')', f);
	}
	if (row->place.symbol && !row->misfit)
		write_aliases(f, t->r, &row->place);
	if (row->place.kind == HLG_LABEL)
		fputs("  (label, no function)", f);
	if (row->place.kind == HLG_GAP && row->padding.samples == 0)
		fputs("  (no symbol)", f);
	else if (row->place.kind == HLG_GAP && row->padding.samples == row->count.samples)
		fputs("  (padding)", f);
	else if (row->place.kind == HLG_GAP)
		fprintf(f, "  (%" PRIu64 " sample%s in padding)", row->padding.samples,
			hlg_plural_s(row->padding.samples));
	if (t->r->space->n_images > 1 && row->place.image) {
		const char *file = hlg_image_short_name(row->place.image);

		fputs("  [", f);
		hlg_table_cut(f, file, t->r->screen.columns ? FILE_CELLS : LONG_MAX,
			      t->r->screen.ascii);
		fputc(']', f);
	}
}

/* Those that the screen has room for, besides the longest name or NAME cells of it. */
static void fit_columns(struct text *t, size_t shown)
{
	static const unsigned char in_order[] = {HLG_REPORT_BAR, HLG_REPORT_SIZE,
						 HLG_REPORT_SAMPLES, HLG_REPORT_TIME,
						 HLG_REPORT_MARGIN};
	const size_t heading = strlen(t->columns[HLG_REPORT_NAME].heading);
	size_t name = 0;

	for (size_t i = 0; i < shown; i++) {
		size_t n = (size_t)hlg_table_cells(t->v->rows[i].name);

		name = n > name ? n : name;
	}
	name = name < NAME ? name : NAME;
	name = name > heading ? name : heading;
	for (size_t i = 0; i < sizeof(in_order); i++) {
		size_t n = strlen(t->no_room);

		if (hlg_table_front(&t->table) + name <= t->r->screen.columns ||
		    !hlg_table_leave_out(&t->table, t->layout, in_order[i]) ||
		    in_order[i] == HLG_REPORT_BAR)
			continue;
		snprintf(t->no_room + n, sizeof(t->no_room) - n, "%s%s", n ? ", " : "",
			 t->columns[in_order[i]].heading);
	}
	if (t->no_regions && t->v->n_regions)
		snprintf(t->no_room + strlen(t->no_room),
			 sizeof(t->no_room) - strlen(t->no_room), "%sregions",
			 t->no_room[0] ? ", " : "");
}

/* Those of rows: without edges and bars where there are none. */
static void begin_rows(struct text *t, size_t shown)
{
	static const unsigned char usual[] = {HLG_REPORT_PERCENT, HLG_REPORT_MARGIN,
					      HLG_REPORT_TIME,    HLG_REPORT_SAMPLES,
					      HLG_REPORT_SIZE,    HLG_REPORT_EDGE,
					      HLG_REPORT_BAR,     HLG_REPORT_NAME};
	static const unsigned char wide[] = {
		HLG_REPORT_PERCENT, HLG_REPORT_MARK,    HLG_REPORT_INTERVAL,
		HLG_REPORT_TIME,    HLG_REPORT_SAMPLES, HLG_REPORT_SIZE,
		HLG_REPORT_EDGE,    HLG_REPORT_BAR,     HLG_REPORT_NAME};
	const char *name = t->r->suppressed ? "guest address" : "function";

	t->no_room[0] = '\0';
	if (t->r->options->wide)
		begin_table(t, wide, sizeof(wide), name);
	else
		begin_table(t, usual, sizeof(usual), name);
	t->columns[HLG_REPORT_TIME].heading = t->scale.time ? "time" : "period";
	if (!t->r->options->skid)
		hlg_table_leave_out(&t->table, t->layout, HLG_REPORT_EDGE);
	if (!t->r->colours.on)
		hlg_table_leave_out(&t->table, t->layout, HLG_REPORT_BAR);
	if (t->r->screen.columns)
		fit_columns(t, shown);
}

static void write_row(struct text *t, const struct hlg_row *row)
{
	struct hlg_value c[HLG_REPORT_COLUMNS];

	t->row = row;
	hlg_report_table_row(c, t->r, row, NULL);
	hlg_interval_margin(t->margin, &row->share, row->few, t->r->screen.ascii);
	hlg_text_scale_period(t->time, &t->scale, row->count.period);
	c[HLG_REPORT_MARGIN] = hlg_table_text_value(t->margin);
	c[HLG_REPORT_TIME] = hlg_table_text_value(t->time);
	c[HLG_REPORT_BAR] = hlg_table_share_value((struct hlg_share){
		.share = row->share.share, .high = t->v->rows[0].share.share});
	c[HLG_REPORT_NAME].tail = write_remark;
	c[HLG_REPORT_NAME].of = t;
	t->lost |= !hlg_table_text_row(t->f, &t->table, c, row->share.share);
}

/* "(292 more rows, 9.20 %: --top=0; --wide has size)" under the names, for n rows of this
 * share that are not shown, from next on, and for columns; further to the left where it
 * has no room there. */
static void write_rest(const struct text *t, size_t n, double rest, double next)
{
	size_t under = hlg_table_front(&t->table), columns = t->r->screen.columns,
	       length = 0, first;
	char percent[16], line[160] = "";

	if (n)
		length = (size_t)snprintf(
			line, sizeof(line), "(%zu more row%s, %s %%: --%s=0%s", n,
			n > 1 ? "s" : "", hlg_interval_percent(percent, rest),
			hlg_rows_limit(t->r, next, "top"), t->no_room[0] ? "; " : ")");
	first = length;
	if (t->no_room[0])
		length += (size_t)snprintf(line + first, sizeof(line) - first,
					   "%s--wide has %s)", n ? "" : "(", t->no_room);
	if (t->no_room[0] && columns && length > columns)
		length = first + (size_t)snprintf(line + first, sizeof(line) - first,
						  "%s--wide has more columns)",
						  n ? "" : "(");
	if (columns && under + length > columns)
		under = columns > length ? columns - length : 0;
	fprintf(t->f, "%*s%s\n", (int)under, "", line);
}

static void write_rows(struct text *t)
{
	const struct hlg_view *v = t->v;
	size_t shown = hlg_rows_shown(t->r, v->n_rows, hlg_rows_share, v);
	double rest = 0;
	bool unsure = false;

	if (t->most && t->most < shown)
		shown = t->most;
	begin_rows(t, shown);
	hlg_table_text_head(t->f, &t->table);
	for (size_t k = 0; k < v->n_rows; k++) {
		const struct hlg_row *row = &v->rows[hlg_rows_at(v, k)];

		if (hlg_rows_at(v, k) >= shown) {
			rest += row->share.share;
			continue;
		}
		write_row(t, row);
		unsure |= row->unsure;
	}
	if (shown < v->n_rows || t->no_room[0])
		write_rest(t, v->n_rows - shown, rest,
			   shown < v->n_rows ? v->rows[shown].share.share : 0);
	if (unsure && t->r->options->wide)
		fputs("         ~ this row and the next may be in either order\n", t->f);
	fputc('\n', t->f);
}

/* The calls of a group's sandbox: none where it is split further, as by threads. */
static void put_calls_of(FILE *f, const struct text *t)
{
	const struct hlg_group *group =
		(const void *)((const char *)t->v - offsetof(struct hlg_group, view));
	const struct hlg_report *r = t->r;
	const int32_t number = r->profile->series[group->series].sandbox;
	struct hlg_calls calls;
	char text[64];

	if ((r->by & ~(unsigned)HLG_BY_EVENT) != HLG_BY_SANDBOX || number < 1 ||
	    (uint32_t)number > r->profile->sandboxes.n ||
	    !hlg_calls_of_sandbox(&calls, r->space, r->profile, (uint32_t)number))
		return;
	hlg_text_head_calls(text, &calls);
	fprintf(f, ", %s", text);
}

/* "== sandbox=2 (123 guest samples, 4 at VM exits, 2 guest + 0 host calls)" */
static void write_heading(struct text *t, const char *of)
{
	const struct hlg_view *v = t->v;
	struct hlg_memstream m;
	FILE *f = hlg_memstream_open(&m);
	char *line;

	if (f) {
		fprintf(f, "%s (%" PRIu64 " guest sample%s", of, v->guest.samples,
			v->guest.samples == 1 ? "" : "s");
		if (v->border.samples) /* which no function has */
			fprintf(f, ", %" PRIu64 " at VM exits", v->border.samples);
		put_calls_of(f, t);
		fputc(')', f);
	}
	line = f ? hlg_memstream_close(&m) : NULL;
	t->lost |= !line;
	hlg_text_line_wrap(t->f, &t->r->screen, "== ", line ? line : "");
	fputc('\n', t->f);
	free(line);
}

static void write_view(void *to, const struct hlg_report *r, const struct hlg_view *v,
		       const char *of)
{
	struct text *t = to;
	struct hlg_err err;

	t->v = v;
	t->scale = hlg_text_scale_for(r, hlg_text_scale_event(r, v), v->kept.period);
	if (of)
		write_heading(t, of);
	if (!v->n_rows)
		return;
	if (r->options->children && r->callers.stacks) {
		t->lost |= hlg_text_children_write(t->f, r, v, t->most, &err) < 0;
		return;
	}
	write_rows(t);
	if (!t->no_regions)
		t->lost |= !hlg_text_regions_write(t->f, r, v, t->most_regions);
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
	t->lost |= !hlg_table_text_row(t->f, &t->table, c, 0);
}

static int write_host(FILE *f, const struct hlg_report *r, struct hlg_err *err)
{
	static const unsigned char layout[] = {HLG_REPORT_PERCENT, HLG_REPORT_SAMPLES,
					       HLG_REPORT_NAME};
	size_t shown = hlg_rows_host_shown(r);
	struct text t = {.f = f, .r = r};
	int rc;

	if (r->n_host == 0)
		return 0;
	begin_table(&t, layout, sizeof(layout), "process (mapping)");
	t.columns[HLG_REPORT_PERCENT].heading = "of host";
	t.columns[HLG_REPORT_PERCENT].flags = 0;
	hlg_table_text_head(f, &t.table);
	rc = hlg_rows_each_host(&t, r, write_host_row, err);
	if (rc == 0 && t.lost)
		rc = hlg_err_memory(err, "report");
	if (shown < r->n_host)
		fprintf(f, "%*s(%zu more: --top=0)\n", (int)hlg_table_front(&t.table), "",
			r->n_host - shown);
	fputc('\n', f);
	return rc;
}

/* As many rows as fit with everything else, which takes so many lines. */
static void fit_rows(struct text *t, unsigned lines)
{
	const struct hlg_options *o = t->r->options;
	/* Headings, what is said of the rest, empty lines, and the prompt behind. */
	unsigned used = lines + 6, left;
	unsigned fewest = t->r->suppressed ? FEWEST_ADDRESSES : FEWEST;
	unsigned regions = (unsigned)hlg_rows_regions_shown(t->r, &t->r->all);

	if (t->r->screen.lines == 0 || o->wide || t->r->n_groups)
		return;
	left = t->r->screen.lines > used ? t->r->screen.lines - used : 0;
	if (o->top == HLG_UNSET)
		t->most = left > fewest + regions ? left - regions : fewest;
	left = left > t->most ? left - (unsigned)t->most : 0;
	if (o->regions == HLG_UNSET && left < regions)
		t->most_regions = left > FEWEST_REGIONS ? left : FEWEST_REGIONS;
	t->no_regions = o->regions == HLG_UNSET && left < FEWEST_REGIONS;
}

static unsigned count_lines(const char *text)
{
	unsigned n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static int write_head(FILE *f, const struct hlg_report *r, struct hlg_err *err)
{
	(void)err;
	hlg_text_head_write(f, r);
	return 0;
}

/* What write writes, to be freed. */
static int keep(char **text, const struct hlg_report *r,
		int (*write)(FILE *f, const struct hlg_report *r, struct hlg_err *err),
		struct hlg_err *err)
{
	struct hlg_memstream m;
	FILE *f = hlg_memstream_open(&m);
	int rc = f ? write(f, r, err) : hlg_err_memory(err, "report");

	*text = hlg_memstream_close(&m);
	if (!*text && rc == 0)
		rc = hlg_err_memory(err, "report");
	return rc;
}

int hlg_text_write(FILE *f, const struct hlg_report *report, struct hlg_err *err)
{
	char *head = NULL, *tail = NULL;
	int rc;
	struct hlg_report fitted = *report;
	struct text t = {.f = f, .r = &fitted};

	if (report->options->wide)
		fitted.screen.columns = 0;
	rc = keep(&head, &fitted, write_head, err);
	if (rc == 0)
		rc = keep(&tail, &fitted, hlg_text_sums_write, err);
	if (rc == 0) {
		fit_rows(&t, count_lines(head) + count_lines(tail));
		fputs(head, f);
		rc = hlg_rows_each_view(&t, &fitted, write_view, err);
	}
	if (rc == 0 && t.lost)
		rc = hlg_err_memory(err, "report");
	if (rc == 0 && fitted.options->mode != HLG_SHOW_GUEST)
		rc = write_host(f, &fitted, err);
	if (rc == 0) {
		fputs(tail, f);
		rc = hlg_text_files_write(f, &fitted, err);
		if (fitted.options->verbose)
			hlg_text_details_write(f, &fitted);
	}
	free(head);
	free(tail);
	return rc;
}
