// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows and sums as records, text and JSON. Records are `note`, and `window`, named by the
 * function that it ends in, or `function` for the sums.
 */
#include "tools/windows/write.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "filter/report/banner.h"
#include "filter/write/text-head.h"
#include "filter/write/text-line.h"
#include "symtab/escape.h"
#include "symtab/plural.h"
#include "tools/windows/notes.h"

#define SHOWN       20 /* functions in text */
#define SIZE(array) (sizeof(array) / sizeof((array)[0]))

enum {
	RECORD,
	NAME,
	TIME,
	PID,
	TID,
	CPU,
	/* Of sums, behind the name. */
	SHARE = 2,
	WINDOWS,
	SHARE_PERCENT,
	/* Behind the counts. */
	ROW_WINDOWS = 0,
	MARK
};

static const struct hlg_column row_columns[] = {
	[RECORD] = {"record", NULL, .type = HLG_VALUE_WORD},
	[NAME] = {"name", NULL, .type = HLG_VALUE_TEXT},
	[TIME] = {"time", NULL, .type = HLG_VALUE_SECONDS},
	[PID] = {"pid", NULL, .type = HLG_VALUE_COUNT},
	[TID] = {"tid", NULL, .type = HLG_VALUE_COUNT},
	[CPU] = {"cpu", NULL, .type = HLG_VALUE_COUNT},
};

static const struct hlg_column row_ends[] = {
	[ROW_WINDOWS] = {"windows", NULL, .type = HLG_VALUE_COUNT,
			 .flags = HLG_COLUMN_OMIT},
	[MARK] = {"mark", NULL, .type = HLG_VALUE_WORD},
};

static const struct hlg_column sum_columns[] = {
	[RECORD] = {"record", NULL, .type = HLG_VALUE_WORD},
	[NAME] = {"name", NULL, .type = HLG_VALUE_TEXT},
	[SHARE] = {NULL, "share %", .type = HLG_VALUE_REAL, 0, 7, .places = 2},
	[WINDOWS] = {"windows", "windows", .type = HLG_VALUE_COUNT, 2, 9},
	[SHARE_PERCENT] = {"share_percent", NULL, .type = HLG_VALUE_REAL, .places = 2},
};

static const struct hlg_column sum_ends[] = {
	{NULL, "function", .type = HLG_VALUE_TEXT, 2},
};

/* What windows end in: where samples do not fit no function is named. */
static const char *place_word(const struct hlg_windows *w)
{
	return w->check && w->check->suppressed ? "guest address" : "function";
}

static const char *place_name(const struct hlg_windows *w,
			      const struct hlg_windows_row *row)
{
	return row->place == HLG_NO_PLACE ? NULL : w->places[row->place].name;
}

static const char *mark_words(uint8_t marks)
{
	static const char *const words[] = {"",           "first",          "last",
					    "first;last", "late",           "first;late",
					    "last;late",  "first;last;late"};

	return words[marks & 7];
}

/* Where windows are not added up there is no column of how many. */
static bool make_rows(struct hlg_windows_columns *c, const struct hlg_windows *w,
		      bool rates)
{
	bool ok = hlg_windows_columns_make(c, w, row_columns, SIZE(row_columns), row_ends,
					   SIZE(row_ends), rates);

	if (ok && !w->every)
		c->column[c->behind + ROW_WINDOWS].key = NULL;
	return ok;
}

static void set_row(struct hlg_windows_columns *c, const struct hlg_windows *w, size_t i)
{
	const struct hlg_windows_row *row = &w->rows[i];

	c->value[RECORD] = hlg_table_text_value("window");
	c->value[NAME] = hlg_table_text_value(place_name(w, row));
	c->value[TIME] = hlg_windows_time(row->time);
	c->value[PID] = hlg_table_id_value(row->pid);
	c->value[TID] = hlg_table_id_value(row->tid);
	c->value[CPU] = hlg_table_id_value(row->cpu);
	hlg_windows_columns_set(c, w, i);
	c->value[c->behind + ROW_WINDOWS] = hlg_table_count_value(row->windows);
	c->value[c->behind + MARK] = hlg_table_text_value(mark_words(row->marks));
}

static double share_of(const struct hlg_windows *sum, size_t row)
{
	double count = (double)hlg_windows_counts(sum, row)[0];

	return sum->leader > 0 ? 100 * count / sum->leader : 0;
}

static void set_sum(struct hlg_windows_columns *c, const struct hlg_windows *sum,
		    size_t i)
{
	const char *name = place_name(sum, &sum->rows[i]);

	c->value[RECORD] = hlg_table_text_value("function");
	c->value[NAME] = c->value[c->behind] = hlg_table_text_value(name);
	c->value[SHARE] = c->value[SHARE_PERCENT] =
		hlg_table_number_value(share_of(sum, i));
	c->value[WINDOWS] = hlg_table_count_value(sum->rows[i].windows);
	hlg_windows_columns_set(c, sum, i);
}

/* Sums of the windows that end in a place, and their columns. Finish them in any case. */
static bool make_sums(struct hlg_windows *sum, struct hlg_windows_columns *c,
		      const struct hlg_windows *w)
{
	*sum = (struct hlg_windows){0};
	*c = (struct hlg_windows_columns){0};
	if (!hlg_windows_rows_by_place(sum, w)) {
		*sum = (struct hlg_windows){0};
		return false;
	}
	if (!hlg_windows_columns_make(c, sum, sum_columns, SIZE(sum_columns), sum_ends,
				      SIZE(sum_ends), true))
		return false;
	c->column[c->behind].heading = place_word(w);
	return true;
}

static void finish_sums(struct hlg_windows *sum, struct hlg_windows_columns *c)
{
	hlg_windows_columns_finish(c);
	free(sum->rows);
	free(sum->counts);
}

/* The columns of HPCTool: nothing but counts, by names of its own. */
static bool write_hpctool(struct hlg_records *to, const struct hlg_windows *w)
{
	static const char *const first[] = {"ins", "l_cycle", "ref_cycle"};
	struct hlg_windows_columns c;
	struct hlg_note_list names = {0};
	bool ok = hlg_windows_columns_make(&c, w, NULL, 0, NULL, 0, false);
	const struct hlg_table table = {c.column, .n = c.n};

	for (size_t i = 0; i < w->n_columns; i++)
		if (i < SIZE(first))
			hlg_note_list_add(&names, "%s", first[i]);
		else
			hlg_note_list_add(&names, "event%zu", i - 2);
	ok = ok && !names.lost;
	for (size_t i = 0; ok && i < w->n_columns; i++)
		c.column[i].key = names.line[i];
	if (ok)
		hlg_format_begin(to, &table);
	for (size_t i = 0; ok && i < w->n_rows; i++) {
		hlg_windows_columns_set(&c, w, i);
		hlg_format_record(to, c.value);
	}
	hlg_windows_columns_finish(&c);
	hlg_note_list_finish(&names);
	return ok;
}

typedef void (*set_values)(struct hlg_windows_columns *c, const struct hlg_windows *w,
			   size_t i);

static void write_records(struct hlg_records *to, const struct hlg_windows *w,
			  struct hlg_windows_columns *c, set_values set)
{
	const struct hlg_table table = {c->column, .n = c->n};

	hlg_format_begin(to, &table);
	for (size_t i = 0; i < w->n_rows; i++) {
		set(c, w, i);
		hlg_format_record(to, c->value);
	}
}

int hlg_windows_records(struct hlg_records *to, const struct hlg_windows *w,
			const struct hlg_windows_style *style, struct hlg_err *err)
{
	struct hlg_windows_columns c;
	struct hlg_windows sum = {0};
	bool ok;

	if (style->hpctool)
		return write_hpctool(to, w) ? 0 : hlg_err_memory(err, "windows");
	ok = style->summary ? make_sums(&sum, &c, w) : make_rows(&c, w, style->rates);
	if (ok && style->summary)
		write_records(to, &sum, &c, set_sum);
	else if (ok)
		write_records(to, w, &c, set_row);
	finish_sums(&sum, &c);
	return ok ? 0 : hlg_err_memory(err, "windows");
}

/* What is below the rows that are shown. */
static void write_rest(FILE *f, const struct hlg_windows *sum, size_t shown)
{
	double share = 0;
	char percent[16];

	for (size_t i = shown; i < sum->n_rows; i++)
		share += share_of(sum, i);
	if (shown < sum->n_rows)
		fprintf(f, "  (%zu more, %s %%: --summary has all, as CSV)\n",
			sum->n_rows - shown, hlg_interval_percent(percent, share / 100));
}

/*
 * The columns of a table in text that a screen has room for, the function's name last;
 * *dropped is how many are left out.
 */
static void fit_columns(unsigned char *layout, struct hlg_table *table,
			const struct hlg_windows_columns *c,
			const struct hlg_screen *screen, size_t *dropped)
{
	enum {
		NAME_CELLS = 18
	};
	size_t cells = NAME_CELLS, n = 0;

	*dropped = 0;
	for (size_t i = 0; i < c->n; i++) {
		const struct hlg_column *column = &c->column[i];
		bool counted = i >= c->counts && i < c->behind;

		cells += column->heading ? column->gap + (size_t)abs(column->width) : 0;
		if (counted && screen->columns && i > c->counts &&
		    (*dropped || cells > screen->columns))
			++*dropped;
		else
			layout[n++] = (unsigned char)i;
	}
	table->layout = layout;
	table->n = n;
	table->screen = *screen;
}

bool hlg_windows_sums(FILE *f, const struct hlg_windows *w,
		      const struct hlg_screen *screen, size_t shown,
		      const struct hlg_table_sink *sink)
{
	struct hlg_windows_columns c;
	struct hlg_windows sum;
	bool ok = make_sums(&sum, &c, w);
	unsigned char layout[UCHAR_MAX + 1];
	struct hlg_table table = {c.column, .n = c.n};
	size_t dropped = 0;

	if (ok && c.n <= sizeof(layout))
		fit_columns(layout, &table, &c, screen, &dropped);
	if (ok)
		sink->head(f, &table);
	for (size_t i = 0; ok && i < sum.n_rows && i < shown; i++) {
		set_sum(&c, &sum, i);
		ok = sink->row(f, &table, c.value, 0);
	}
	if (ok)
		write_rest(f, &sum, sum.n_rows < shown ? sum.n_rows : shown);
	if (dropped)
		fprintf(f, "  (%zu more column%s: --wide)\n", dropped,
			dropped > 1 ? "s" : "");
	finish_sums(&sum, &c);
	return ok;
}

int hlg_windows_text(FILE *f, const struct hlg_windows *w,
		     const struct hlg_windows_style *style, struct hlg_err *err)
{
	struct hlg_note_list notes = {0};
	char sampled[HLG_WINDOWS_SAMPLED];
	bool fits = w->check && hlg_banner_is_ok(w->check);
	bool ok;

	hlg_windows_notes(&notes, w);
	if (w->check && w->check->banner)
		hlg_text_line_wrap(f, &style->screen, "!! ", w->check->banner);
	fprintf(f, "%zu window%s, ", w->n_rows, hlg_plural_s(w->n_rows));
	hlg_escape_print(f, hlg_windows_notes_sampled(sampled, w));
	fputs(fits ? ", check OK\n" : "\n", f);
	hlg_text_head_selected(f, style->selection, &style->screen);
	if (w->check && !fits)
		hlg_text_head_check(f, w->check, &style->screen);
	fprintf(f, "by the %s that they end in; share of ", place_word(w));
	hlg_escape_print(f, w->columns[0].name);
	fputc('\n', f);
	hlg_text_line_notes(f, &style->screen, &notes, HLG_NOTE_WARNING);
	fputc('\n', f);
	ok = !notes.lost &&
	     hlg_windows_sums(f, w, &style->screen, SHOWN, &hlg_table_text);
	hlg_text_line_notes_behind(f, &style->screen, &notes, style->verbose);
	hlg_note_list_finish(&notes);
	return ok ? 0 : hlg_err_memory(err, "windows");
}

#if HLG_HAVE_JANSSON
/* The columns from first on, and what the row is called. */
static void put_rows(struct hlg_json *json, const char *key, const struct hlg_windows *w,
		     struct hlg_windows_columns *c, set_values set, size_t first)
{
	hlg_json_open_list(json, key);
	for (size_t i = 0; i < w->n_rows && !hlg_json_lost(); i++) {
		json_t *row;

		set(c, w, i);
		row = hlg_windows_json_row(c, w, i, first);
		json_object_set_new(row, "function",
				    hlg_json_text(place_name(w, &w->rows[i])));
		hlg_json_put_line(json, NULL, row);
	}
	hlg_json_close(json);
}

int hlg_windows_json(FILE *f, const struct hlg_windows *w,
		     const struct hlg_windows_style *style, struct hlg_err *err)
{
	struct hlg_note_list notes = {0};
	struct hlg_windows_columns c, sums;
	struct hlg_windows sum;
	struct hlg_json json;
	bool ok = make_rows(&c, w, style->rates);

	ok = make_sums(&sum, &sums, w) && ok;
	hlg_windows_notes(&notes, w);
	hlg_json_begin(&json, f, 1);
	hlg_json_put_selected(&json, style->selection);
	hlg_windows_json_head(&json, &notes, w);
	if (w->check)
		hlg_json_put(&json, "check", hlg_json_check(w->check));
	hlg_json_put(&json, "period", hlg_json_number(w->period));
	hlg_json_put(&json, "every", hlg_json_number(w->every));
	hlg_json_put(&json, "recorded", hlg_json_number(w->read));
	if (ok)
		put_rows(&json, "windows", w, &c, set_row, TIME);
	/* An interval may hold windows of several functions. */
	if (ok && !w->every)
		put_rows(&json, "functions", &sum, &sums, set_sum, WINDOWS);
	ok = ok && !notes.lost;
	hlg_note_list_finish(&notes);
	hlg_windows_columns_finish(&c);
	finish_sums(&sum, &sums);
	return ok ? hlg_json_end(&json, err) : hlg_err_memory(err, "windows");
}
#endif
