// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pairs as records, text and JSON. Records are `note`, `spread`, named by a figure of the
 * distributions of all columns, and `pair`.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filter/write/text-head.h"
#include "filter/write/text-line.h"
#include "symtab/escape.h"
#include "symtab/plural.h"
#include "tools/windows/notes.h"
#include "tools/windows/pairs.h"

#define SHOWN       20 /* outliers that the text lists */
#define SIZE(array) (sizeof(array) / sizeof((array)[0]))

enum {
	RECORD,
	NAME,
	START,
	END,
	PID,
	TID,
	CPU
};

static const struct hlg_column pair_columns[] = {
	[RECORD] = {"record", NULL, .type = HLG_VALUE_WORD},
	[NAME] = {"name", NULL, .type = HLG_VALUE_TEXT},
	[START] = {"start", NULL, .type = HLG_VALUE_SECONDS},
	[END] = {"end", NULL, .type = HLG_VALUE_SECONDS},
	[PID] = {"pid", NULL, .type = HLG_VALUE_COUNT},
	[TID] = {"tid", NULL, .type = HLG_VALUE_COUNT},
	[CPU] = {"cpu", NULL, .type = HLG_VALUE_COUNT},
};

static const struct hlg_column pair_ends[] = {
	{"outlier", NULL, .type = HLG_VALUE_LIST},
};

/* Of a column's distribution; records have them as rows. */
static const struct hlg_column spread_columns[] = {
	{"n", NULL, .type = HLG_VALUE_COUNT},
	{"min", NULL, .type = HLG_VALUE_COUNT},
	{"mean", NULL, .type = HLG_VALUE_REAL, .places = 2},
	{"max", NULL, .type = HLG_VALUE_COUNT},
	{"deviation", NULL, .type = HLG_VALUE_REAL, .places = 4},
	{"cov_percent", NULL, .type = HLG_VALUE_REAL, .places = 3},
	{"low", NULL, .type = HLG_VALUE_REAL, .places = 2},
	{"high", NULL, .type = HLG_VALUE_REAL, .places = 2},
	{"outliers", NULL, .type = HLG_VALUE_COUNT},
	{"median", NULL, .type = HLG_VALUE_REAL, .places = 2},
	{"median_low", NULL, .type = HLG_VALUE_REAL, .places = 2},
	{"median_high", NULL, .type = HLG_VALUE_REAL, .places = 2},
};

enum {
	FIGURES = SIZE(spread_columns),
	TEXT_VALUES = 6,
	TEXT_COLUMNS = TEXT_VALUES + 2
};

/* The same for people: times are in text. */
static const struct hlg_column text_columns[TEXT_COLUMNS] = {
	{NULL, "median", .type = HLG_VALUE_REAL, 0, 9, .none = "-"},
	{NULL, "95 % from", .type = HLG_VALUE_REAL, 1, 9, .none = "-"},
	{NULL, "to", .type = HLG_VALUE_REAL, 1, 9, .none = "-"},
	{NULL, "min", .type = HLG_VALUE_REAL, 1, 9, .none = "-"},
	{NULL, "mean", .type = HLG_VALUE_REAL, 1, 9, .none = "-"},
	{NULL, "max", .type = HLG_VALUE_REAL, 1, 9, .none = "-"},
	{NULL, "outliers", .type = HLG_VALUE_COUNT, 1, 8},
	{NULL, "event", .type = HLG_VALUE_TEXT, 2},
};

static void set_spread(struct hlg_value v[static FIGURES], const struct hlg_pairs *pairs,
		       size_t column)
{
	const struct hlg_spread *s = &pairs->spreads[column];
	/* None is neither the least nor the middle one. */
	const double median = s->n ? s->median : NAN;
	const struct hlg_value all[FIGURES] = {hlg_table_count_value(s->n),
					       {.is = s->n, .n = s->min},
					       hlg_table_number_value(s->mean),
					       {.is = s->n, .n = s->max},
					       hlg_table_number_value(s->deviation),
					       hlg_table_number_value(s->variation),
					       hlg_table_number_value(s->low),
					       hlg_table_number_value(s->high),
					       hlg_table_count_value(s->outliers),
					       hlg_table_number_value(median),
					       hlg_table_number_value(s->median_low),
					       hlg_table_number_value(s->median_high)};

	memcpy(v, all, sizeof(all));
}

void hlg_pairs_write_notes(struct hlg_note_list *notes, const struct hlg_pairs *pairs,
			   const struct hlg_windows *w)
{
	hlg_windows_notes(notes, w);
	(pairs->alone || pairs->moved ? hlg_note_list_add : hlg_note_list_detail)(
		notes,
		"%zu pair%s; %" PRIu64 " marker%s other half; %" PRIu64
		" pair%s left out that moved between counters",
		pairs->table.n_rows, hlg_plural_s(pairs->table.n_rows), pairs->alone,
		hlg_plural_word(pairs->alone, " without its", "s without their"),
		pairs->moved, hlg_plural_s(pairs->moved));
	hlg_note_list_detail(
		notes, "interval: of the median at 95 %%, by ranks (low and high: of "
		       "the mean, Student's t); outliers: past "
		       "Tukey's fences (1.5 times the quartiles' distance); they "
		       "count in all figures");
}

/* The columns in which a pair is an outlier. */
struct outliers {
	const struct hlg_pairs *pairs;
	size_t row;
};

static const char *next_outlier(const void *of, size_t *i)
{
	const struct outliers *o = of;
	const struct hlg_windows *t = &o->pairs->table;

	for (; *i < t->n_columns; ++*i)
		if (hlg_pairs_is_outlier(o->pairs, *i, hlg_windows_counts(t, o->row)[*i]))
			return t->columns[(*i)++].name;
	return NULL;
}

static void set_pair(struct hlg_windows_columns *c, const struct outliers *o)
{
	const struct hlg_windows *t = &o->pairs->table;
	const struct hlg_windows_row *row = &t->rows[o->row];

	c->value[RECORD] = hlg_table_text_value("pair");
	c->value[NAME] = hlg_table_text_value(NULL);
	c->value[START] = hlg_windows_time(row->time - hlg_windows_counts(t, o->row)[0]);
	c->value[END] = hlg_windows_time(row->time);
	c->value[PID] = hlg_table_id_value(row->pid);
	c->value[TID] = hlg_table_id_value(row->tid);
	c->value[CPU] = hlg_table_id_value(row->cpu);
	hlg_windows_columns_set(c, t, o->row);
	c->value[c->behind] = (struct hlg_value){.is = true, .list = {next_outlier, o}};
}

/* A row for each figure: in every column of counts it is the figure of these. */
static void write_spreads(struct hlg_records *to, struct hlg_windows_columns *c,
			  const struct hlg_pairs *pairs)
{
	struct hlg_value v[FIGURES];

	for (size_t k = 0; k < FIGURES; k++) {
		memset(c->value, 0, c->n * sizeof(*c->value));
		c->value[RECORD] = hlg_table_text_value("spread");
		c->value[NAME] = hlg_table_text_value(spread_columns[k].key);
		for (size_t i = 0; i < pairs->table.n_columns; i++) {
			set_spread(v, pairs, i);
			c->column[c->counts + i].type = spread_columns[k].type;
			c->column[c->counts + i].places = spread_columns[k].places;
			c->value[c->counts + i] = v[k];
		}
		hlg_format_record(to, c->value);
	}
	for (size_t i = 0; i < pairs->table.n_columns; i++)
		c->column[c->counts + i].type = HLG_VALUE_COUNT;
}

void hlg_windows_shown_notes(struct hlg_note_list *notes,
			     const struct hlg_windows_shown *s)
{
	if (s->pairs)
		hlg_pairs_write_notes(notes, s->pairs, s->w);
	else
		hlg_windows_notes(notes, s->w);
}

int hlg_pairs_write_records(struct hlg_records *to, const struct hlg_pairs *pairs,
			    const struct hlg_windows_style *style, struct hlg_err *err)
{
	struct hlg_windows_columns c;
	bool ok = hlg_windows_columns_make(&c, &pairs->table, pair_columns,
					   SIZE(pair_columns), pair_ends, SIZE(pair_ends),
					   style->rates);
	const struct hlg_table table = {c.column, .n = c.n};

	if (ok) {
		hlg_format_begin(to, &table);
		write_spreads(to, &c, pairs);
	}
	for (size_t i = 0; ok && i < pairs->table.n_rows; i++) {
		const struct outliers o = {pairs, i};

		set_pair(&c, &o);
		hlg_format_record(to, c.value);
	}
	hlg_windows_columns_finish(&c);
	return ok ? 0 : hlg_err_memory(err, "pairs");
}

/* When it was, and what it counted where that is unusual. */
static void put_outlier(FILE *f, const struct outliers *o)
{
	const struct hlg_windows *t = &o->pairs->table;
	const uint64_t *counts = hlg_windows_counts(t, o->row);
	const char *between = "";
	char time[24];

	if (t->rows[o->row].time == HLG_NO_TIME)
		fputc('-', f);
	else
		fprintf(f, "%" PRIu64 ".%09" PRIu64, t->rows[o->row].time / 1000000000,
			t->rows[o->row].time % 1000000000);
	fprintf(f, "  tid %" PRId32 "  ", t->rows[o->row].tid);
	for (size_t i = 0; i < t->n_columns; i++) {
		if (!hlg_pairs_is_outlier(o->pairs, i, counts[i]))
			continue;
		fputs(between, f);
		between = ", ";
		hlg_escape_print(f, t->columns[i].name);
		if (t->columns[i].counter == HLG_COUNTER_TIME)
			fprintf(f, " %s", hlg_table_ns(time, counts[i]));
		else
			fprintf(f, " %" PRIu64, counts[i]);
	}
	fputc('\n', f);
}

static void put_outliers(FILE *f, const struct hlg_pairs *pairs)
{
	size_t n = 0;

	for (size_t i = 0; i < pairs->table.n_rows; i++) {
		const struct outliers o = {pairs, i};
		size_t first = 0;

		if (!next_outlier(&o, &first) || n++ >= SHOWN)
			continue;
		fputs(n == 1 ? "\noutliers\n  " : "  ", f);
		put_outlier(f, &o);
	}
	if (n > SHOWN)
		fprintf(f, "  and %zu more (--format=csv marks all)\n", n - SHOWN);
}

/* The figures of a column: times as times, counts as counts. */
static void set_text(struct hlg_column columns[static TEXT_COLUMNS],
		     struct hlg_value v[static TEXT_COLUMNS],
		     const struct hlg_pairs *pairs, size_t i)
{
	const struct hlg_spread *s = &pairs->spreads[i];
	const struct hlg_windows_column *of = &pairs->table.columns[i];
	const double all[TEXT_VALUES] = {s->median,      s->median_low, s->median_high,
					 (double)s->min, s->mean,       (double)s->max};

	for (size_t k = 0; k < TEXT_VALUES; k++) {
		v[k] = hlg_table_number_value(s->n ? all[k] : NAN);
		columns[k].type = HLG_VALUE_REAL;
		columns[k].places = all[k] < 1e5 && all[k] != floor(all[k]) ? 2 : 0;
		if (of->counter == HLG_COUNTER_TIME) {
			columns[k].type = HLG_VALUE_NS;
			v[k].n = v[k].is ? (uint64_t)llround(all[k]) : 0;
		}
	}
	v[TEXT_VALUES] = hlg_table_count_value(s->outliers);
	v[TEXT_VALUES + 1] = hlg_table_text_value(of->name);
}

/* Columns are as wide as the longest figure. */
static void widen(struct hlg_column columns[static TEXT_COLUMNS],
		  const struct hlg_pairs *pairs)
{
	struct hlg_value v[TEXT_COLUMNS];
	char buf[HLG_TABLE_NUMBER];

	for (size_t i = 0; i < pairs->table.n_columns; i++) {
		set_text(columns, v, pairs, i);
		for (size_t k = 0; k < TEXT_VALUES; k++) {
			size_t n = v[k].is ? strlen(hlg_table_number(buf, &columns[k],
								     &v[k]))
					   : 0;

			if (n > (size_t)columns[k].width)
				columns[k].width = (signed char)n;
		}
	}
}

bool hlg_pairs_write_spreads(FILE *f, const struct hlg_pairs *pairs,
			     const struct hlg_screen *screen,
			     const struct hlg_table_sink *sink)
{
	struct hlg_column columns[TEXT_COLUMNS];
	const struct hlg_table table = {columns, .n = TEXT_COLUMNS, .screen = *screen};
	struct hlg_value v[TEXT_COLUMNS];
	bool ok = true;

	memcpy(columns, text_columns, sizeof(columns));
	widen(columns, pairs);
	sink->head(f, &table);
	for (size_t i = 0; ok && i < pairs->table.n_columns; i++) {
		set_text(columns, v, pairs, i);
		ok = sink->row(f, &table, v, 0);
	}
	return ok;
}

int hlg_pairs_write_text(FILE *f, const struct hlg_pairs *pairs,
			 const struct hlg_windows *w,
			 const struct hlg_windows_style *style, struct hlg_err *err)
{
	struct hlg_note_list notes = {0};
	bool ok;

	hlg_pairs_write_notes(&notes, pairs, w);
	fprintf(f, "%zu pair%s; the median, and its interval at 95 %%\n",
		pairs->table.n_rows, hlg_plural_s(pairs->table.n_rows));
	hlg_text_head_selected(f, style->selection, &style->screen);
	hlg_text_line_notes(f, &style->screen, &notes, HLG_NOTE_WARNING);
	fputc('\n', f);
	ok = hlg_pairs_write_spreads(f, pairs, &style->screen, &hlg_table_text);
	put_outliers(f, pairs);
	hlg_text_line_notes_behind(f, &style->screen, &notes, style->verbose);
	ok = ok && !notes.lost;
	hlg_note_list_finish(&notes);
	return !ok ? hlg_err_memory(err, "pairs") : 0;
}

#if HLG_HAVE_JANSSON
static void put_spreads(struct hlg_json *json, const struct hlg_pairs *pairs)
{
	static const struct hlg_table table = {spread_columns, .n = FIGURES};
	struct hlg_value v[FIGURES];

	hlg_json_open_list(json, "spread");
	for (size_t i = 0; i < pairs->table.n_columns; i++) {
		json_t *o = json_object();

		set_spread(v, pairs, i);
		json_object_set_new(o, "event",
				    hlg_json_text(pairs->table.columns[i].name));
		hlg_json_row(o, &table, v);
		hlg_json_put_line(json, NULL, o);
	}
	hlg_json_close(json);
}

int hlg_pairs_write_json(FILE *f, const struct hlg_pairs *pairs,
			 const struct hlg_windows *w,
			 const struct hlg_windows_style *style, struct hlg_err *err)
{
	struct hlg_note_list notes = {0};
	struct hlg_windows_columns c;
	struct hlg_json json;
	bool ok = hlg_windows_columns_make(&c, &pairs->table, pair_columns,
					   SIZE(pair_columns), pair_ends, SIZE(pair_ends),
					   style->rates);

	hlg_pairs_write_notes(&notes, pairs, w);
	hlg_json_begin(&json, f, 1);
	hlg_json_put_selected(&json, style->selection);
	hlg_windows_json_head(&json, &notes, &pairs->table);
	hlg_json_put(&json, "alone", hlg_json_number(pairs->alone));
	hlg_json_put(&json, "moved", hlg_json_number(pairs->moved));
	put_spreads(&json, pairs);
	hlg_json_open_list(&json, "pairs");
	for (size_t i = 0; ok && i < pairs->table.n_rows && !hlg_json_lost(); i++) {
		const struct outliers o = {pairs, i};

		set_pair(&c, &o);
		hlg_json_put_line(&json, NULL,
				  hlg_windows_json_row(&c, &pairs->table, i, START));
	}
	hlg_json_close(&json);
	ok = ok && !notes.lost;
	hlg_note_list_finish(&notes);
	hlg_windows_columns_finish(&c);
	return ok ? hlg_json_end(&json, err) : hlg_err_memory(err, "pairs");
}
#endif
