// SPDX-License-Identifier: GPL-2.0-only
/*
 * CSV (RFC 4180, with '\n'): one header, then records `recording`, `total`, `trust`,
 * `method`, `note`, `function` (with labels, gaps, data, outside; or guest addresses) and
 * `region`. Percentages have two decimals, as in a report; p and q four digits. A cell
 * that a spreadsheet would take for a formula gets a ' in front.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "config.h"
#include "filter/write/write.h"
#include "tools/diff/write.h"

enum {
	COLUMNS = 24
};

/* Ends a record of which n columns are written. */
static void end(FILE *f, int n)
{
	for (; n < COLUMNS; n++)
		fputc(',', f);
	fputc('\n', f);
}

static void write_line(FILE *f, const char *record, const char *name, const char *status)
{
	fprintf(f, "%s,", record);
	hlg_write_cell(f, name);
	fprintf(f, ",,,%s", status);
	end(f, 5);
}

static void write_counts(FILE *f, struct hlg_count before, struct hlg_count after)
{
	fprintf(f, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, before.samples,
		before.period, after.samples, after.period);
}

static void write_total(FILE *f, const char *name, struct hlg_count before,
			struct hlg_count after)
{
	fprintf(f, "total,\"%s\",,,,,,,,,", name);
	write_counts(f, before, after);
	end(f, 14);
}

static void write_changes(FILE *f, const struct hlg_diff_row *row)
{
	char buf[5][16];

	fprintf(f, ",%s,%s,%s,%s,%s,", hlg_write_percent(buf[0], row->share[0].share),
		hlg_write_percent(buf[1], row->share[1].share),
		hlg_diff_points(buf[2], row->compared.diff),
		hlg_diff_points(buf[3], row->compared.low),
		hlg_diff_points(buf[4], row->compared.high));
	if (isfinite(hlg_diff_growth(row)))
		fprintf(f, "%+.2f", 100 * hlg_diff_growth(row));
	fprintf(f, ",%.4g,%.4g,%d,%d\n", row->compared.p, row->q, row->significant,
		row->compared.exact);
}

/* addr_before, addr_after */
static void write_places(FILE *f, const struct hlg_diff_row *row)
{
	for (int s = 0; s < 2; s++) {
		if (row->row[s] && row->row[s]->place.image)
			fprintf(f, "0x%" PRIx64, row->row[s]->place.start);
		else if (row->region[s])
			fprintf(f, "0x%" PRIx64, row->region[s]->addr);
		fputc(',', f);
	}
}

static void write_row(FILE *f, const struct hlg_diff *diff,
		      const struct hlg_diff_row *row)
{
	const struct hlg_place *place = hlg_diff_place(row, row->n[1] ? 1 : 0);

	fputs("function,", f);
	hlg_write_cell(f, hlg_diff_name(row));
	fputc(',', f);
	if (place->symbol)
		hlg_write_cell(f, hlg_image_name(place->image, place->symbol));
	fputc(',', f);
	if (place->image)
		hlg_write_cell(f, place->image->path);
	fprintf(f, ",%s,%s,%zu,%zu,", hlg_diff_presence_word(row->presence),
		hlg_diff_kind(diff, row), row->n[0], row->n[1]);
	write_places(f, row);
	write_counts(f, row->count[0], row->count[1]);
	write_changes(f, row);
}

static void write_region(FILE *f, const struct hlg_diff *diff,
			 const struct hlg_diff_row *row)
{
	int s = row->n[1] ? 1 : 0;
	const struct hlg_view *view = &diff->side[s].all;
	const struct hlg_region *region = row->region[s];

	fputs("region,", f);
	hlg_write_cell(f, view->rows[view->parts[region->first_part].row].name);
	fputs(",,", f);
	if (region->image)
		hlg_write_cell(f, region->image->path);
	fprintf(f, ",%s,region,%zu,%zu,", hlg_diff_presence_word(row->presence),
		row->n[0], row->n[1]);
	write_places(f, row);
	write_counts(f, row->count[0], row->count[1]);
	write_changes(f, row);
}

static void write_rows(FILE *f, const struct hlg_diff *diff,
		       const struct hlg_diff_rows *rows)
{
	size_t shown = 0;

	for (size_t i = 0; i < rows->n; i++) {
		if (!hlg_diff_shows(diff, &rows->row[i], shown))
			continue;
		shown++;
		if (rows == &diff->regions)
			write_region(f, diff, &rows->row[i]);
		else
			write_row(f, diff, &rows->row[i]);
	}
}

static void write_csv(FILE *f, const struct hlg_diff *diff)
{
	static const char *const sides[2] = {"before", "after"};
	const struct hlg_view *a = &diff->side[0].all, *b = &diff->side[1].all;

	fputs("record,name,symbol,image,status,kind,names_before,names_after,"
	      "addr_before,addr_after,samples_before,period_before,samples_after,"
	      "period_after,percent_before,percent_after,points,low,high,change,p,q,"
	      "significant,exact\n",
	      f);
	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < diff->side[s].n_runs; i++)
			write_line(f, "recording", diff->side[s].paths[i], sides[s]);
	write_total(f, "guest", a->guest, b->guest);
	write_total(f, "dropped", a->dropped, b->dropped);
	for (int s = 0; s < 2; s++)
		write_line(f, "trust",
			   hlg_verdict_word(diff->side[s].report.trust.all.verdict),
			   sides[s]);
	write_line(f, "method", diff->matched, "matched");
	write_line(f, "method", diff->shares, "shares");
	write_line(f, "method", diff->test, "test");
	for (size_t i = 0; i < diff->n_notes; i++)
		write_line(f, "note", diff->notes[i], "");
	write_rows(f, diff, &diff->functions);
	write_rows(f, diff, &diff->regions);
}

int hlg_diff_write(FILE *f, const struct hlg_diff *diff, const struct hlg_colour *colours,
		   struct hlg_err *err)
{
	switch (diff->side[0].options->format) {
	case HLG_FORMAT_CSV:
		write_csv(f, diff);
		return 0;
#if HLG_HAVE_JANSSON
	case HLG_FORMAT_JSON:
		return hlg_diff_json(f, diff, err);
#endif
	default:
		(void)err; /* json is refused at the start where it is not built in */
		hlg_diff_text(f, diff, colours);
		return 0;
	}
}
