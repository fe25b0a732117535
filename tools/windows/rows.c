// SPDX-License-Identifier: GPL-2.0-only
/* Rows chosen, and rows added up over time. */
#include <stdlib.h>
#include <string.h>

#include "filter/profile/select.h"
#include "tools/perfdata/sum.h"
#include "tools/windows/windows.h"

void hlg_windows_rows_select(struct hlg_windows *w, const struct hlg_options *options)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n_rows; i++) {
		const struct hlg_windows_row *row = &w->rows[i];
		const struct hlg_sample sample = {.time = row->time,
						  .pid = row->pid,
						  .tid = row->tid,
						  .cpu = row->cpu};

		if (options->mode != HLG_SHOW_ALL &&
		    row->guest != (options->mode == HLG_SHOW_GUEST))
			continue;
		if (hlg_select_keeps(options, &sample))
			w->rows[n++] = *row;
	}
	w->n_rows = n;
}

/* A row of an interval: which, and whose. */
struct bin {
	uint64_t interval;
	size_t row;
	int32_t pid, tid;
};

static int compare_bins(const void *a, const void *b)
{
	const struct bin *x = a, *y = b;

	if (x->interval != y->interval)
		return x->interval < y->interval ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static void add_counts(const struct hlg_windows *w, uint64_t *to, size_t row)
{
	const uint64_t *from = hlg_windows_counts(w, row);

	for (size_t i = 0; i < w->n_columns; i++)
		to[i] += from[i];
}

/* Adds row to a sum of rows. */
static void add_row(struct hlg_windows_row *sum, const struct hlg_windows_row *row)
{
	sum->windows += row->windows;
	sum->marks |= row->marks;
	if (sum->cpu != row->cpu)
		sum->cpu = -1;
	if (sum->place != row->place)
		sum->place = HLG_NO_PLACE;
}

bool hlg_windows_rows_bin(struct hlg_windows *w, uint64_t every)
{
	struct bin *bins = calloc(w->n_rows + 1, sizeof(*bins));
	struct hlg_windows_row *rows = calloc(w->n_rows + 1, sizeof(*rows));
	uint64_t *counts = calloc(w->n_rows + 1, w->n_columns * sizeof(*counts));
	uint64_t start = w->n_rows ? w->rows[0].time : 0;
	size_t n = 0;

	if (!bins || !rows || !counts) {
		free(bins);
		free(rows);
		free(counts);
		return false;
	}
	for (size_t i = 0; i < w->n_rows; i++)
		bins[i] = (struct bin){(w->rows[i].time - start) / every, i,
				       w->rows[i].pid, w->rows[i].tid};
	qsort(bins, w->n_rows, sizeof(*bins), compare_bins);
	for (size_t i = 0; i < w->n_rows; i++) {
		const struct bin *bin = &bins[i];

		if (i == 0 || bin->interval != bin[-1].interval ||
		    bin->pid != bin[-1].pid || bin->tid != bin[-1].tid) {
			rows[n] = w->rows[bin->row];
			/* At most the end of time. */
			rows[n].time = hlg_sum(start + bin->interval * every, every);
			rows[n].at = n;
			n++;
		} else {
			add_row(&rows[n - 1], &w->rows[bin->row]);
		}
		add_counts(w, counts + (n - 1) * w->n_columns, bin->row);
	}
	free(bins);
	free(w->rows);
	free(w->counts);
	w->rows = rows;
	w->counts = counts;
	w->n_rows = n;
	w->every = every;
	return true;
}

/* The rows of a place. Most of the leader's counts come first. */
struct total {
	uint64_t leader;
	struct hlg_windows_row row;
};

static int compare_totals(const void *a, const void *b)
{
	const struct total *x = a, *y = b;

	if (x->leader != y->leader)
		return x->leader > y->leader ? -1 : 1;
	return x->row.place < y->row.place ? -1 : x->row.place > y->row.place;
}

/* Sums over rows, at counts and rows of the place's number. */
static size_t sum_places(struct hlg_windows *sum, const struct hlg_windows *w,
			 struct total *totals)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n_rows; i++) {
		const struct hlg_windows_row *row = &w->rows[i];
		struct total *total = &totals[row->place];

		if (total->row.windows == 0) {
			total->row = *row;
			total->row.at = row->place;
		} else {
			add_row(&total->row, row);
		}
		add_counts(w, sum->counts + row->place * w->n_columns, i);
	}
	for (size_t i = 0; i < w->n_places; i++) {
		if (totals[i].row.windows == 0)
			continue;
		totals[n] = totals[i];
		totals[n++].leader = sum->counts[i * w->n_columns];
	}
	return n;
}

bool hlg_windows_rows_by_place(struct hlg_windows *sum, const struct hlg_windows *w)
{
	struct total *totals = calloc(w->n_places + 1, sizeof(*totals));

	sum->counts = calloc(w->n_places + 1, w->n_columns * sizeof(*sum->counts));
	sum->rows = calloc(w->n_places + 1, sizeof(*sum->rows));
	if (!totals || !sum->counts || !sum->rows) {
		free(totals);
		free(sum->counts);
		free(sum->rows);
		return false;
	}
	sum->columns = w->columns;
	sum->n_columns = w->n_columns;
	sum->places = w->places;
	sum->n_places = w->n_places;
	sum->n_rows = sum_places(sum, w, totals);
	qsort(totals, sum->n_rows, sizeof(*totals), compare_totals);
	for (size_t i = 0; i < sum->n_rows; i++)
		sum->rows[i] = totals[i].row;
	free(totals);
	return true;
}
