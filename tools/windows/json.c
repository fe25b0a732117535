// SPDX-License-Identifier: GPL-2.0-only
/* Rows and sums as JSON, written as they come: there may be millions. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "filter/write/write.h"
#include "tools/windows/write.h"

static void put_number(FILE *f, const char *key, int32_t number)
{
	if (number < 0)
		fprintf(f, "\"%s\": null, ", key);
	else
		fprintf(f, "\"%s\": %" PRId32 ", ", key, number);
}

static void put_counts(FILE *f, const struct hlg_windows *w, size_t row, bool rates)
{
	const uint64_t *counts = hlg_windows_counts(w, row);

	fputs("\"counts\": [", f);
	for (size_t i = 0; i < w->n_columns; i++)
		fprintf(f, "%s%" PRIu64, i ? ", " : "", counts[i]);
	fputc(']', f);
	for (size_t i = 0; rates && i < HLG_N_RATES; i++) {
		double rate = hlg_rate_of(w, &hlg_rates[i], counts);

		if (!hlg_rate_known(w, &hlg_rates[i]))
			continue;
		fprintf(f, ", \"%s\": ", hlg_rates[i].name);
		if (isnan(rate))
			fputs("null", f);
		else
			fprintf(f, "%.*f", hlg_rates[i].places, rate);
	}
}

static void put_place(FILE *f, const struct hlg_windows *w, uint32_t place)
{
	fputs(", \"function\": ", f);
	if (place == HLG_NO_PLACE)
		fputs("null", f);
	else
		hlg_write_string(f, w->places[place].name);
}

static void put_row(FILE *f, const struct hlg_windows *w, size_t i, bool rates)
{
	const struct hlg_windows_row *row = &w->rows[i];

	fprintf(f, "%s    {\"time\": ", i ? ",\n" : "\n");
	hlg_windows_put_time(f, row->time, "null");
	fputs(", ", f);
	put_number(f, "pid", row->pid);
	put_number(f, "tid", row->tid);
	put_number(f, "cpu", row->cpu);
	if (w->every)
		fprintf(f, "\"windows\": %" PRIu64 ", ", row->windows);
	put_counts(f, w, i, rates);
	put_place(f, w, row->place);
	fputs(", \"mark\": \"", f);
	hlg_windows_put_marks(f, row->marks);
	fputs("\"}", f);
}

static bool put_sums(FILE *f, const struct hlg_windows *w)
{
	struct hlg_windows sum = {0};

	if (!hlg_windows_rows_by_place(&sum, w))
		return false;
	for (size_t i = 0; i < sum.n_rows; i++) {
		fprintf(f, "%s    {\"windows\": %" PRIu64 ", ", i ? ",\n" : "\n",
			sum.rows[i].windows);
		put_counts(f, &sum, i, true);
		put_place(f, &sum, sum.rows[i].place);
		fputc('}', f);
	}
	free(sum.rows);
	free(sum.counts);
	return true;
}

bool hlg_windows_write_json(FILE *f, const struct hlg_windows *w,
			    const struct hlg_windows_style *style)
{
	char *notes = hlg_windows_notes(w);

	if (!notes)
		return false;
	fputs("{\n  \"notes\": ", f);
	hlg_windows_put_strings(f, notes);
	free(notes);
	fputs(",\n  \"events\": [", f);
	for (size_t i = 0; i < w->n_columns; i++) {
		fputs(i ? ", " : "", f);
		hlg_write_string(f, w->columns[i].name);
	}
	fprintf(f,
		"],\n  \"period\": %" PRIu64 ",\n  \"every\": %" PRIu64
		",\n  \"recorded\": %" PRIu64 ",\n  \"windows\": [",
		w->period, w->every, w->read);
	for (size_t i = 0; i < w->n_rows; i++)
		put_row(f, w, i, style->rates);
	fputs("\n  ]", f);
	/* An interval may hold windows of several functions. */
	if (!w->every) {
		fputs(",\n  \"functions\": [", f);
		if (!put_sums(f, w))
			return false;
		fputs("\n  ]", f);
	}
	fputs("\n}\n", f);
	return true;
}
