// SPDX-License-Identifier: GPL-2.0-only
/* Rows and sums as CSV, text and JSON. */
#include "tools/windows/write.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/escape.h"

/* Rates, each behind a comma; there is none where nothing can be divided by. */
static void put_rates(FILE *f, const struct hlg_windows *w, const uint64_t *counts)
{
	for (size_t i = 0; i < HLG_N_RATES; i++) {
		double rate = hlg_rate_of(w, &hlg_rates[i], counts);

		if (!hlg_rate_known(w, &hlg_rates[i]))
			continue;
		fputc(',', f);
		if (!isnan(rate))
			fprintf(f, "%.*f", hlg_rates[i].places, rate);
	}
}

static void put_counts(FILE *f, const struct hlg_windows *w, const uint64_t *counts)
{
	for (size_t i = 0; i < w->n_columns; i++)
		fprintf(f, "%s%" PRIu64, i ? "," : "", counts[i]);
}

static void put_names(FILE *f, const struct hlg_windows *w, bool rates)
{
	for (size_t i = 0; i < w->n_columns; i++) {
		if (i)
			fputc(',', f);
		hlg_windows_put_cell(f, w->columns[i].name);
	}
	for (size_t i = 0; rates && i < HLG_N_RATES; i++)
		if (hlg_rate_known(w, &hlg_rates[i]))
			fprintf(f, ",%s", hlg_rates[i].name);
}

static void put_number(FILE *f, int32_t number)
{
	if (number >= 0)
		fprintf(f, "%" PRId32, number);
	fputc(',', f);
}

static const char *place_name(const struct hlg_windows *w,
			      const struct hlg_windows_row *row)
{
	return row->place == HLG_NO_PLACE ? "" : w->places[row->place].name;
}

static bool write_hpctool(FILE *f, const struct hlg_windows *w)
{
	fputs("ins,l_cycle,ref_cycle", f);
	for (size_t i = 3; i < w->n_columns; i++)
		fprintf(f, ",event%zu", i - 2);
	fputc('\n', f);
	for (size_t i = 0; i < w->n_rows; i++) {
		put_counts(f, w, hlg_windows_counts(w, i));
		fputc('\n', f);
	}
	return true;
}

static bool put_notes(FILE *f, const struct hlg_windows *w, const char *prefix)
{
	char *notes = hlg_windows_notes(w);

	if (notes)
		hlg_windows_put_lines(f, notes, prefix);
	free(notes);
	return notes != NULL;
}

static double share_of(const struct hlg_windows *sum, size_t row)
{
	double all = 0;

	for (size_t i = 0; i < sum->n_rows; i++)
		all += (double)hlg_windows_counts(sum, i)[0];
	return all > 0 ? 100 * (double)hlg_windows_counts(sum, row)[0] / all : 0;
}

static bool write_sums_csv(FILE *f, const struct hlg_windows *w)
{
	struct hlg_windows sum = {0};

	if (!hlg_windows_rows_by_place(&sum, w))
		return false;
	fputs("function,windows,share_percent,", f);
	put_names(f, w, true);
	fputc('\n', f);
	for (size_t i = 0; i < sum.n_rows; i++) {
		hlg_windows_put_cell(f, place_name(&sum, &sum.rows[i]));
		fprintf(f, ",%" PRIu64 ",%.2f,", sum.rows[i].windows, share_of(&sum, i));
		put_counts(f, &sum, hlg_windows_counts(&sum, i));
		put_rates(f, &sum, hlg_windows_counts(&sum, i));
		fputc('\n', f);
	}
	free(sum.rows);
	free(sum.counts);
	return true;
}

bool hlg_windows_write_csv(FILE *f, const struct hlg_windows *w,
			   const struct hlg_windows_style *style)
{
	if (style->hpctool)
		return write_hpctool(f, w);
	if (!hlg_windows_put_comments(f, hlg_windows_notes(w)))
		return false;
	if (style->summary)
		return write_sums_csv(f, w);
	fputs("time,pid,tid,cpu,", f);
	put_names(f, w, style->rates);
	fputs(w->every ? ",windows,function,mark\n" : ",function,mark\n", f);
	for (size_t i = 0; i < w->n_rows; i++) {
		const struct hlg_windows_row *row = &w->rows[i];

		hlg_windows_put_time(f, row->time, "");
		fputc(',', f);
		put_number(f, row->pid);
		put_number(f, row->tid);
		put_number(f, row->cpu);
		put_counts(f, w, hlg_windows_counts(w, i));
		if (style->rates)
			put_rates(f, w, hlg_windows_counts(w, i));
		fputc(',', f);
		if (w->every)
			fprintf(f, "%" PRIu64 ",", row->windows);
		hlg_windows_put_cell(f, place_name(w, row));
		fputc(',', f);
		hlg_windows_put_marks(f, row->marks);
		fputc('\n', f);
	}
	return true;
}

/* How wide a column of numbers with this head must be. */
static int width_of(const struct hlg_windows *sum, size_t column)
{
	uint64_t max = 0;
	int digits;

	for (size_t i = 0; i < sum->n_rows; i++)
		if (hlg_windows_counts(sum, i)[column] > max)
			max = hlg_windows_counts(sum, i)[column];
	digits = snprintf(NULL, 0, "%" PRIu64, max);
	return digits > 12 ? digits : 12;
}

/* A head of several words' length, to the right of width columns. */
static void put_head(FILE *f, const char *name, int width)
{
	size_t n = hlg_escape(NULL, 0, name);

	for (; n < (size_t)width; n++)
		fputc(' ', f);
	hlg_escape_print(f, name);
	fputs("  ", f);
}

/* Heads may be wider than the numbers below them. */
static int full_width(const struct hlg_windows *sum, size_t column)
{
	size_t n = hlg_escape(NULL, 0, sum->columns[column].name);
	int width = width_of(sum, column);

	return n > (size_t)width && n < 64 ? (int)n : width;
}

static void write_sum(FILE *f, const struct hlg_windows *sum, size_t i)
{
	const uint64_t *counts = hlg_windows_counts(sum, i);

	fprintf(f, "%7.2f  %9" PRIu64 "  ", share_of(sum, i), sum->rows[i].windows);
	for (size_t c = 0; c < sum->n_columns; c++)
		fprintf(f, "%*" PRIu64 "  ", full_width(sum, c), counts[c]);
	for (size_t r = 0; r < HLG_N_RATES; r++) {
		double rate = hlg_rate_of(sum, &hlg_rates[r], counts);
		int width = (int)strlen(hlg_rates[r].name);

		if (!hlg_rate_known(sum, &hlg_rates[r]))
			continue;
		width = width > 8 ? width : 8;
		if (isnan(rate))
			fprintf(f, "%*s  ", width, "-");
		else
			fprintf(f, "%*.*f  ", width, hlg_rates[r].places, rate);
	}
	hlg_escape_print(f, place_name(sum, &sum->rows[i]));
	fputc('\n', f);
}

bool hlg_windows_write_text(FILE *f, const struct hlg_windows *w,
			    const struct hlg_windows_style *style)
{
	struct hlg_windows sum = {0};

	(void)style;
	if (!put_notes(f, w, "# "))
		return false;
	if (!hlg_windows_rows_by_place(&sum, w))
		return false;
	fprintf(f, "\n%zu windows, by the function that they end in; shares are of ",
		w->n_rows);
	hlg_escape_print(f, w->columns[0].name);
	fputs("\n\nshare %    windows  ", f);
	for (size_t i = 0; i < w->n_columns; i++)
		put_head(f, w->columns[i].name, full_width(&sum, i));
	for (size_t i = 0; i < HLG_N_RATES; i++)
		if (hlg_rate_known(w, &hlg_rates[i]))
			put_head(f, hlg_rates[i].name, 8);
	fputs("function\n", f);
	for (size_t i = 0; i < sum.n_rows; i++)
		write_sum(f, &sum, i);
	free(sum.rows);
	free(sum.counts);
	return true;
}
