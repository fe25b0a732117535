// SPDX-License-Identifier: GPL-2.0-only
/* Pairs as CSV, text and JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "filter/write/write.h"
#include "symtab/escape.h"
#include "tools/windows/pairs.h"

#define SHOWN 20 /* outliers that the text lists */

static char *notes_of(const struct hlg_pairs *pairs, const struct hlg_windows *w)
{
	char *notes = hlg_windows_notes(w), *all = NULL;

	if (notes &&
	    asprintf(&all,
		     "%s%zu pairs; %" PRIu64 " markers without their other half; "
		     "%" PRIu64 " pairs left out that moved between counters\n"
		     "interval: of the mean at 95 %%, Student's t; outliers: past "
		     "Tukey's fences (1.5 times the quartiles' distance); they "
		     "count in all figures\n",
		     notes, pairs->table.n_rows, pairs->alone, pairs->moved) < 0)
		all = NULL;
	free(notes);
	return all;
}

/* A number of a distribution; none where there is none. */
static void put_double(FILE *f, double value, int width, int places, const char *none)
{
	if (isnan(value))
		fprintf(f, "%*s", width, none);
	else
		fprintf(f, "%*.*f", width, places, value);
}

static void put_outliers(FILE *f, const struct hlg_pairs *pairs, size_t row,
			 void (*put)(FILE *f, const char *text), const char *between)
{
	const struct hlg_windows *t = &pairs->table;
	const char *first = "";

	for (size_t c = 0; c < t->n_columns; c++)
		if (hlg_pairs_is_outlier(pairs, c, hlg_windows_counts(t, row)[c])) {
			fputs(first, f);
			put(f, t->columns[c].name);
			first = between;
		}
}

static const char *first_outlier(const struct hlg_pairs *pairs, size_t row)
{
	const struct hlg_windows *t = &pairs->table;

	for (size_t c = 0; c < t->n_columns; c++)
		if (hlg_pairs_is_outlier(pairs, c, hlg_windows_counts(t, row)[c]))
			return t->columns[c].name;
	return "";
}

/* Inside a cell. */
static void put_quoted(FILE *f, const char *text)
{
	hlg_write_escaped(f, text, '"', "\"\"");
}

/* Rates of a row, each behind before; empty or none where undefined. */
static void put_rates(FILE *f, const struct hlg_windows *t, size_t row, bool json)
{
	for (size_t i = 0; i < HLG_N_RATES; i++) {
		double rate = hlg_rate_of(t, &hlg_rates[i], hlg_windows_counts(t, row));

		if (!hlg_rate_known(t, &hlg_rates[i]))
			continue;
		if (json)
			fprintf(f, ", \"%s\": ", hlg_rates[i].name);
		else
			fputc(',', f);
		put_double(f, rate, 0, hlg_rates[i].places, json ? "null" : "");
	}
}

static void put_spread_line(FILE *f, const struct hlg_pairs *pairs, size_t c)
{
	const struct hlg_spread *s = &pairs->spreads[c];

	fputs("# ", f);
	hlg_windows_put_comment(f, pairs->table.columns[c].name);
	fprintf(f, ": n %zu, min %" PRIu64 ", mean ", s->n, s->min);
	put_double(f, s->mean, 0, 2, "-");
	fprintf(f, ", max %" PRIu64 ", cov ", s->max);
	put_double(f, s->variation, 0, 3, "-");
	fputs(" %, interval ", f);
	put_double(f, s->low, 0, 2, "-");
	fputs(" to ", f);
	put_double(f, s->high, 0, 2, "-");
	fprintf(f, ", outliers %zu\n", s->outliers);
}

static void put_id(FILE *f, int32_t number, const char *none)
{
	if (number < 0)
		fputs(none, f);
	else
		fprintf(f, "%" PRId32, number);
}

static void put_csv_row(FILE *f, const struct hlg_pairs *pairs, size_t i, bool rates)
{
	const struct hlg_windows_row *row = &pairs->table.rows[i];
	const uint64_t *counts = hlg_windows_counts(&pairs->table, i);

	hlg_windows_put_time(f, row->time - counts[0], "");
	fputc(',', f);
	hlg_windows_put_time(f, row->time, "");
	fputc(',', f);
	put_id(f, row->pid, "");
	fputc(',', f);
	put_id(f, row->tid, "");
	fputc(',', f);
	put_id(f, row->cpu, "");
	for (size_t c = 0; c < pairs->table.n_columns; c++)
		fprintf(f, ",%" PRIu64, counts[c]);
	if (rates)
		put_rates(f, &pairs->table, i, false);
	fputc(',', f);
	hlg_write_cell_begin(f, first_outlier(pairs, i));
	put_outliers(f, pairs, i, put_quoted, ";");
	fputs("\"\n", f);
}

bool hlg_pairs_write_csv(FILE *f, const struct hlg_pairs *pairs,
			 const struct hlg_windows *w,
			 const struct hlg_windows_style *style)
{
	const struct hlg_windows *t = &pairs->table;

	if (!hlg_windows_put_comments(f, notes_of(pairs, w)))
		return false;
	for (size_t c = 0; c < t->n_columns; c++)
		put_spread_line(f, pairs, c);
	fputs("start,end,pid,tid,cpu", f);
	for (size_t c = 0; c < t->n_columns; c++) {
		fputc(',', f);
		hlg_windows_put_cell(f, t->columns[c].name);
	}
	for (size_t i = 0; style->rates && i < HLG_N_RATES; i++)
		if (hlg_rate_known(t, &hlg_rates[i]))
			fprintf(f, ",%s", hlg_rates[i].name);
	fputs(",outlier\n", f);
	for (size_t i = 0; i < t->n_rows; i++)
		put_csv_row(f, pairs, i, style->rates);
	return true;
}

static void put_spread_row(FILE *f, const struct hlg_pairs *pairs, size_t c)
{
	const struct hlg_spread *s = &pairs->spreads[c];

	fprintf(f, "%14" PRIu64 " ", s->min);
	put_double(f, s->mean, 16, 2, "-");
	fprintf(f, " %14" PRIu64 " ", s->max);
	put_double(f, s->variation, 9, 3, "-");
	fputs("  ", f);
	put_double(f, s->low, 15, 2, "-");
	put_double(f, s->high, 16, 2, "-");
	fprintf(f, " %9zu  ", s->outliers);
	hlg_escape_print(f, pairs->table.columns[c].name);
	fputc('\n', f);
}

static void put_outlier_rows(FILE *f, const struct hlg_pairs *pairs)
{
	const struct hlg_windows *t = &pairs->table;
	size_t n = 0;

	for (size_t i = 0; i < t->n_rows; i++) {
		bool any = false;

		for (size_t c = 0; c < t->n_columns; c++)
			any |= hlg_pairs_is_outlier(pairs, c,
						    hlg_windows_counts(t, i)[c]);
		if (!any || n++ >= SHOWN)
			continue;
		fputs(n == 1 ? "\noutliers\n  " : "  ", f);
		hlg_windows_put_time(f, t->rows[i].time, "-");
		fprintf(f, "  tid %" PRId32 " ", t->rows[i].tid);
		for (size_t c = 0; c < t->n_columns; c++)
			fprintf(f, " %" PRIu64, hlg_windows_counts(t, i)[c]);
		fputs("  (", f);
		put_outliers(f, pairs, i, hlg_escape_print, ", ");
		fputs(")\n", f);
	}
	if (n > SHOWN)
		fprintf(f, "  and %zu more (--format=csv marks all)\n", n - SHOWN);
}

bool hlg_pairs_write_text(FILE *f, const struct hlg_pairs *pairs,
			  const struct hlg_windows *w,
			  const struct hlg_windows_style *style)
{
	char *notes = notes_of(pairs, w);

	(void)style;
	if (!notes)
		return false;
	hlg_windows_put_lines(f, notes, "# ");
	free(notes);
	fprintf(f, "\n%14s %16s %14s %9s  %15s%16s %9s  %s\n", "min", "mean", "max",
		"cov %", "95 % from", "to", "outliers", "event");
	for (size_t c = 0; c < pairs->table.n_columns; c++)
		put_spread_row(f, pairs, c);
	put_outlier_rows(f, pairs);
	return true;
}

static void put_json_spread(FILE *f, const struct hlg_pairs *pairs, size_t c)
{
	const struct hlg_spread *s = &pairs->spreads[c];

	fputs(c ? ",\n    {\"event\": " : "\n    {\"event\": ", f);
	hlg_write_string(f, pairs->table.columns[c].name);
	fprintf(f, ", \"n\": %zu, \"min\": %" PRIu64 ", \"mean\": ", s->n, s->min);
	put_double(f, s->mean, 0, 2, "null");
	fprintf(f, ", \"max\": %" PRIu64 ", \"deviation\": ", s->max);
	put_double(f, s->deviation, 0, 4, "null");
	fputs(", \"cov_percent\": ", f);
	put_double(f, s->variation, 0, 4, "null");
	fputs(", \"low\": ", f);
	put_double(f, s->low, 0, 2, "null");
	fputs(", \"high\": ", f);
	put_double(f, s->high, 0, 2, "null");
	fprintf(f, ", \"outliers\": %zu}", s->outliers);
}

static void put_json_pair(FILE *f, const struct hlg_pairs *pairs, size_t i, bool rates)
{
	const struct hlg_windows_row *row = &pairs->table.rows[i];
	const uint64_t *counts = hlg_windows_counts(&pairs->table, i);

	fputs(i ? ",\n    {\"start\": " : "\n    {\"start\": ", f);
	hlg_windows_put_time(f, row->time - counts[0], "null");
	fputs(", \"end\": ", f);
	hlg_windows_put_time(f, row->time, "null");
	fputs(", \"pid\": ", f);
	put_id(f, row->pid, "null");
	fputs(", \"tid\": ", f);
	put_id(f, row->tid, "null");
	fputs(", \"cpu\": ", f);
	put_id(f, row->cpu, "null");
	fputs(", \"counts\": [", f);
	for (size_t c = 0; c < pairs->table.n_columns; c++)
		fprintf(f, "%s%" PRIu64, c ? ", " : "", counts[c]);
	fputc(']', f);
	if (rates)
		put_rates(f, &pairs->table, i, true);
	fputs(", \"outlier\": [", f);
	put_outliers(f, pairs, i, hlg_write_string, ", ");
	fputs("]}", f);
}

bool hlg_pairs_write_json(FILE *f, const struct hlg_pairs *pairs,
			  const struct hlg_windows *w,
			  const struct hlg_windows_style *style)
{
	char *notes = notes_of(pairs, w);

	if (!notes)
		return false;
	fputs("{\n  \"notes\": ", f);
	hlg_windows_put_strings(f, notes);
	free(notes);
	fprintf(f,
		",\n  \"alone\": %" PRIu64 ",\n  \"moved\": %" PRIu64
		",\n  \"spread\": [",
		pairs->alone, pairs->moved);
	for (size_t c = 0; c < pairs->table.n_columns; c++)
		put_json_spread(f, pairs, c);
	fputs("\n  ],\n  \"pairs\": [", f);
	for (size_t i = 0; i < pairs->table.n_rows; i++)
		put_json_pair(f, pairs, i, style->rates);
	fputs("\n  ]\n}\n", f);
	return true;
}
