// SPDX-License-Identifier: GPL-2.0-only
/* What the formats share: notes, and the columns that there are of a group of counters.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filter/report/banner.h"
#include "filter/report/notes.h"
#include "symtab/escape.h"
#include "symtab/plural.h"
#include "tools/feed/lacks.h"
#include "tools/windows/notes.h"
#include "tools/windows/rate.h"

/* In the largest unit of which it is a whole number: 500000 is 500 us. */
static const char *whole_time(char buf[static 32], uint64_t ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	unsigned unit = 0;

	while (unit < 3 && ns % 1000 == 0) {
		ns /= 1000;
		unit++;
	}
	snprintf(buf, 32, "%" PRIu64 " %s", ns, units[unit]);
	return buf;
}

const char *hlg_windows_notes_sampled(char buf[static HLG_WINDOWS_SAMPLED],
				      const struct hlg_windows *w)
{
	const char *name = w->columns[0].name;
	char time[32];

	if (w->period == 0)
		snprintf(buf, HLG_WINDOWS_SAMPLED, "sampled by %s", name);
	else if (w->period == 1)
		snprintf(buf, HLG_WINDOWS_SAMPLED, "sampled at every %s", name);
	else if (w->columns[0].counter == HLG_COUNTER_TIME)
		snprintf(buf, HLG_WINDOWS_SAMPLED, "sampled every %s of %s",
			 whole_time(time, w->period), name);
	else
		snprintf(buf, HLG_WINDOWS_SAMPLED, "sampled every %" PRIu64 " of %s",
			 w->period, name);
	return buf;
}

static void note_reading(struct hlg_note_list *notes, const struct hlg_windows *w)
{
	char sampled[HLG_WINDOWS_SAMPLED];

	hlg_note_list_detail(notes, "%" PRIu64 " window%s recorded, %s", w->read,
			     hlg_plural_word(w->read, " was", "s were"),
			     hlg_windows_notes_sampled(sampled, w));
	hlg_note_list_detail(
		notes,
		"counts are as read, not scaled; the recording does not show whether the "
		"kernel multiplexed the counters");
	hlg_note_list_detail(
		notes, "first: counted since the counters were enabled; last: what was "
		       "counted after it is in no window");
}

void hlg_windows_notes(struct hlg_note_list *notes, const struct hlg_windows *w)
{
	note_reading(notes, w);
	if (w->check && w->check->suppressed)
		hlg_note_list_warn(notes, "%s", hlg_banner_suppressed(w->check));
	if (w->check)
		hlg_notes_tell_outside(w->check, notes);
	if (w->every)
		hlg_note_list_add(notes,
				  "a window counts in the interval that it ends in; time "
				  "is the interval's end");
	if (w->one_thread)
		hlg_note_list_add(
			notes,
			"the counters were those of the command's first thread: "
			"threads it made later are in no window (perf before 6.13; "
			"record with -p or -a once they run)");
	hlg_lacks_note(&w->lacks, "", ": a window after a loss holds several", notes);
	if (w->other_groups)
		hlg_note_list_add(notes,
				  "%" PRIu64 " window%s not here (--event=%s shows some)",
				  w->other_groups,
				  hlg_plural_word(w->other_groups, " of another group is",
						  "s of other groups are"),
				  w->other ? w->other : "?");
	if (w->plain)
		hlg_note_list_add(notes, "%" PRIu64 " sample%s", w->plain,
				  hlg_plural_word(w->plain,
						  " belongs to no group and is no window",
						  "s belong to no group and are no "
						  "windows"));
	if (w->back)
		hlg_note_list_warn(notes,
				   "%" PRIu64
				   " count%s shown as 0: what counts ran backwards, "
				   "which is impossible",
				   w->back, hlg_plural_word(w->back, " is", "s are"));
	if (w->overflow)
		hlg_note_list_warn(notes,
				   "COUNTS ADD UP TO MORE THAN 2^64: sums of them are "
				   "wrong");
	if (w->strangers)
		hlg_note_list_add(
			notes,
			"%" PRIu64 " count%s of events that the first window lacks: left "
			"out",
			w->strangers, hlg_plural_word(w->strangers, " is", "s are"));
}

/* Text has time as time; CSV and JSON have ns. */
static enum hlg_value_type type_of(const struct hlg_windows_column *column)
{
	return column->counter == HLG_COUNTER_TIME ? HLG_VALUE_NS : HLG_VALUE_COUNT;
}

/* How wide a column of counts must be: for the largest, and its head. */
static signed char width_of(const struct hlg_windows *w, size_t column)
{
	size_t head = hlg_escape(NULL, 0, w->columns[column].name);
	uint64_t max = 0;
	int width;

	for (size_t i = 0; i < w->n_rows; i++)
		if (hlg_windows_counts(w, i)[column] > max)
			max = hlg_windows_counts(w, i)[column];
	width = snprintf(NULL, 0, "%" PRIu64, max);
	if (w->columns[column].counter == HLG_COUNTER_TIME)
		width = 11; /* "12345.6 ms" */
	return (signed char)(head > (size_t)width && head < 64 ? (int)head : width);
}

/* The same of rates; some rows may have none. */
static signed char rate_width(const struct hlg_windows *w, const struct hlg_rate *rate)
{
	enum {
		LEAST = 8
	};
	int head = (int)strlen(rate->name), width;
	double max = 0;

	for (size_t i = 0; i < w->n_rows; i++)
		max = fmax(max, hlg_windows_rate_of(w, rate, hlg_windows_counts(w, i)));
	width = snprintf(NULL, 0, "%.*f", rate->places, max);
	head = head > LEAST ? head : LEAST;
	return (signed char)(width > head ? width : head);
}

bool hlg_windows_columns_make(struct hlg_windows_columns *c, const struct hlg_windows *w,
			      const struct hlg_column *before, size_t n_before,
			      const struct hlg_column *behind, size_t n_behind,
			      bool rates)
{
	size_t n = n_before;

	*c = (struct hlg_windows_columns){.counts = n_before};
	c->column = calloc(n_before + w->n_columns + HLG_N_RATES + n_behind,
			   sizeof(*c->column));
	c->value = calloc(n_before + w->n_columns + HLG_N_RATES + n_behind,
			  sizeof(*c->value));
	if (!c->column || !c->value)
		return false;
	if (n_before)
		memcpy(c->column, before, n_before * sizeof(*before));
	for (size_t i = 0; i < w->n_columns; i++)
		c->column[n++] = (struct hlg_column){.key = w->columns[i].name,
						     .heading = w->columns[i].name,
						     .type = type_of(&w->columns[i]),
						     .gap = 2,
						     .width = width_of(w, i)};
	c->rates = n;
	for (size_t i = 0; rates && i < HLG_N_RATES; i++)
		if (hlg_windows_rate_known(w, &hlg_rates[i]))
			c->column[n++] = (struct hlg_column){
				.key = hlg_rates[i].name,
				.heading = hlg_rates[i].name,
				.type = HLG_VALUE_REAL,
				.gap = 2,
				.width = rate_width(w, &hlg_rates[i]),
				.places = (unsigned char)hlg_rates[i].places,
				.none = "-"};
	c->behind = n;
	if (n_behind)
		memcpy(c->column + n, behind, n_behind * sizeof(*behind));
	c->n = n + n_behind;
	return true;
}

void hlg_windows_columns_finish(struct hlg_windows_columns *c)
{
	free(c->column);
	free(c->value);
}

void hlg_windows_columns_set(struct hlg_windows_columns *c, const struct hlg_windows *w,
			     size_t row)
{
	const uint64_t *counts = hlg_windows_counts(w, row);
	size_t at = c->rates;

	for (size_t i = 0; i < w->n_columns; i++)
		c->value[c->counts + i] = hlg_table_count_value(counts[i]);
	for (size_t i = 0; at < c->behind; i++)
		if (hlg_windows_rate_known(w, &hlg_rates[i]))
			c->value[at++] = hlg_table_number_value(
				hlg_windows_rate_of(w, &hlg_rates[i], counts));
}

struct hlg_value hlg_windows_time(uint64_t time)
{
	return (struct hlg_value){.is = time != HLG_NO_TIME, .n = time};
}

#if HLG_HAVE_JANSSON
void hlg_windows_json_head(struct hlg_json *json, const struct hlg_note_list *notes,
			   const struct hlg_windows *w)
{
	json_t *events = json_array();

	for (size_t i = 0; i < w->n_columns; i++)
		json_array_append_new(events, hlg_json_text(w->columns[i].name));
	hlg_json_put(json, "notes", hlg_json_lines(notes->line, notes->n));
	hlg_json_put(json, "events", events);
}

json_t *hlg_windows_json_row(const struct hlg_windows_columns *c,
			     const struct hlg_windows *w, size_t row, size_t first)
{
	const struct hlg_table before = {c->column + first, .n = c->counts - first};
	const struct hlg_table behind = {c->column + c->rates, .n = c->n - c->rates};
	json_t *o = json_object();

	hlg_json_row(o, &before, c->value + first);
	json_object_set_new(o, "counts",
			    hlg_json_numbers(hlg_windows_counts(w, row), w->n_columns));
	hlg_json_row(o, &behind, c->value + c->rates);
	return o;
}
#endif
