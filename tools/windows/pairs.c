// SPDX-License-Identifier: GPL-2.0-only
#include "tools/windows/pairs.h"

#include <stdlib.h>
#include <string.h>

static int by_thread(const void *a, const void *b)
{
	const struct hlg_windows_row *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

/*
 * Counts become what the counter stood at, so that those between two samples are a
 * difference, whoever else had samples in between.
 */
static void add_up(struct hlg_windows *w)
{
	hlg_windows_read_sort_by_counter(w);
	for (size_t i = 1; i < w->n_rows; i++) {
		uint64_t *counts = hlg_windows_counts(w, i);
		const uint64_t *before = hlg_windows_counts(w, i - 1);

		if (w->rows[i].counter != w->rows[i - 1].counter ||
		    w->rows[i].thread != w->rows[i - 1].thread)
			continue;
		for (size_t c = 0; c < w->n_columns; c++)
			counts[c] += before[c];
	}
	qsort(w->rows, w->n_rows, sizeof(*w->rows), by_thread);
}

static bool set_columns(struct hlg_windows *to, const struct hlg_windows *from)
{
	to->columns = calloc(from->n_columns + 1, sizeof(*to->columns));
	if (!to->columns)
		return false;
	to->n_columns = from->n_columns + 1;
	to->columns[0] = (struct hlg_windows_column){
		.name = strdup("ns"), .event = UINT32_MAX, .counter = HLG_COUNTER_TIME};
	for (size_t i = 0; i < from->n_columns; i++) {
		to->columns[i + 1] = from->columns[i];
		to->columns[i + 1].name = strdup(from->columns[i].name);
	}
	for (size_t i = 0; i < to->n_columns; i++)
		if (!to->columns[i].name)
			return false;
	return true;
}

static void add_pair(struct hlg_pairs *pairs, const struct hlg_windows *w, size_t from,
		     size_t to)
{
	const struct hlg_windows_row *a = &w->rows[from], *b = &w->rows[to];
	struct hlg_windows *table = &pairs->table;
	uint64_t *counts;

	if (a->counter != b->counter || a->thread != b->thread ||
	    (a->marks | b->marks) & HLG_WINDOW_LATE || b->sequence < a->sequence) {
		pairs->moved++;
		return;
	}
	table->rows[table->n_rows] = *b;
	table->rows[table->n_rows].at = table->n_rows;
	if (a->cpu != b->cpu)
		table->rows[table->n_rows].cpu = -1;
	counts = hlg_windows_counts(table, table->n_rows++);
	counts[0] = b->time - a->time;
	for (size_t c = 0; c < w->n_columns; c++)
		counts[c + 1] =
			hlg_windows_counts(w, to)[c] - hlg_windows_counts(w, from)[c];
}

/* Rows are in the order of threads, then of time. */
static void pair_up(struct hlg_pairs *pairs, const struct hlg_windows *w)
{
	size_t open = SIZE_MAX;
	bool ended = false; /* open is the end of a pair, too: of two markers alike */

	for (size_t i = 0; i < w->n_rows; i++) {
		const struct hlg_windows_row *row = &w->rows[i];
		bool ends = false;

		if (open != SIZE_MAX &&
		    (w->rows[open].tid != row->tid || w->rows[open].pid != row->pid)) {
			pairs->alone += !ended;
			open = SIZE_MAX;
		}
		if (row->marks & HLG_WINDOW_TO && open != SIZE_MAX) {
			add_pair(pairs, w, open, i);
			open = SIZE_MAX;
			ends = true;
		} else if (row->marks & HLG_WINDOW_TO &&
			   !(row->marks & HLG_WINDOW_FROM)) {
			pairs->alone++;
		}
		if (row->marks & HLG_WINDOW_FROM) {
			pairs->alone += open != SIZE_MAX && !ended;
			open = i;
			ended = ends;
		}
	}
	pairs->alone += open != SIZE_MAX && !ended;
}

bool hlg_pairs_make(struct hlg_pairs *pairs, struct hlg_windows *w)
{
	struct hlg_windows *table = &pairs->table;

	if (!set_columns(table, w))
		return false;
	table->rows = calloc(w->n_rows + 1, sizeof(*table->rows));
	table->counts = calloc(w->n_rows + 1, table->n_columns * sizeof(*table->counts));
	if (!table->rows || !table->counts)
		return false;
	add_up(w);
	pair_up(pairs, w);
	hlg_windows_read_sort(table);
	return true;
}

bool hlg_pairs_measure(struct hlg_pairs *pairs)
{
	const struct hlg_windows *table = &pairs->table;
	uint64_t *values = calloc(table->n_rows + 1, sizeof(*values));

	pairs->spreads = calloc(table->n_columns, sizeof(*pairs->spreads));
	if (!values || !pairs->spreads) {
		free(values);
		return false;
	}
	for (size_t c = 0; c < table->n_columns; c++) {
		for (size_t i = 0; i < table->n_rows; i++)
			values[i] = hlg_windows_counts(table, i)[c];
		hlg_spread_of(&pairs->spreads[c], values, table->n_rows);
	}
	free(values);
	return true;
}

bool hlg_pairs_is_outlier(const struct hlg_pairs *pairs, size_t column, uint64_t count)
{
	const struct hlg_spread *s = &pairs->spreads[column];

	return (double)count < s->from || (double)count > s->to;
}

void hlg_pairs_finish(struct hlg_pairs *pairs)
{
	hlg_windows_read_finish(&pairs->table);
	free(pairs->spreads);
	*pairs = (struct hlg_pairs){0};
}
