// SPDX-License-Identifier: GPL-2.0-only
/* Rows chosen, and rows added up by time or place. */
#include <stdlib.h>
#include <string.h>

#include "filter/profile/select.h"
#include "tools/perfdata/sum.h"
#include "tools/windows/windows.h"

void hlg_windows_rows_select(struct hlg_windows *w, const struct hlg_options *options,
			     const struct hlg_select_window *window)
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
		if (hlg_select_keeps(options, window, &sample))
			w->rows[n++] = *row;
	}
	w->n_rows = n;
}

/* A row, and what it is added up by. */
struct bin {
	uint64_t key; /* interval or place */
	size_t row;
	int32_t pid, tid; /* of intervals */
};

static int compare_keys(const struct bin *x, const struct bin *y)
{
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

static int compare_bins(const void *a, const void *b)
{
	const struct bin *x = a, *y = b;
	int order = compare_keys(x, y);

	return order ? order : (x->row > y->row) - (x->row < y->row);
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

/* Makes rows and counts of *sum: a row of w's for each key, with the time of the first.
 */
static bool add_up(struct hlg_windows *sum, const struct hlg_windows *w, struct bin *bins)
{
	sum->rows = calloc(w->n_rows + 1, sizeof(*sum->rows));
	sum->counts = calloc(w->n_rows + 1, w->n_columns * sizeof(*sum->counts));
	sum->n_rows = 0;
	if (!sum->rows || !sum->counts) {
		free(sum->rows);
		free(sum->counts);
		return false;
	}
	qsort(bins, w->n_rows, sizeof(*bins), compare_bins);
	for (size_t i = 0; i < w->n_rows; i++) {
		const struct hlg_windows_row *row = &w->rows[bins[i].row];
		const uint64_t *from = hlg_windows_counts(w, bins[i].row);
		uint64_t *to;

		if (i == 0 || compare_keys(&bins[i - 1], &bins[i]) != 0) {
			sum->rows[sum->n_rows] = *row;
			sum->rows[sum->n_rows].at = sum->n_rows;
			sum->n_rows++;
		} else {
			add_row(&sum->rows[sum->n_rows - 1], row);
		}
		to = sum->counts + (sum->n_rows - 1) * w->n_columns;
		for (size_t c = 0; c < w->n_columns; c++)
			to[c] += from[c];
	}
	return true;
}

bool hlg_windows_rows_bin(struct hlg_windows *w, uint64_t every)
{
	struct bin *bins = calloc(w->n_rows + 1, sizeof(*bins));
	uint64_t start = w->n_rows ? w->rows[0].time : 0;
	struct hlg_windows sum = *w;
	bool ok = bins;

	for (size_t i = 0; ok && i < w->n_rows; i++)
		bins[i] = (struct bin){(w->rows[i].time - start) / every, i,
				       w->rows[i].pid, w->rows[i].tid};
	ok = ok && add_up(&sum, w, bins);
	free(bins);
	if (!ok)
		return false;
	for (size_t i = 0; i < sum.n_rows; i++) {
		uint64_t begin = (sum.rows[i].time - start) / every * every;

		/* At most the end of time. */
		sum.rows[i].time = hlg_sum(start + begin, every);
	}
	free(w->rows);
	free(w->counts);
	*w = sum;
	w->every = every;
	return true;
}

/* Most of the leader's counts first. */
static int compare_leader(const void *a, const void *b, void *sum)
{
	const struct hlg_windows_row *x = a, *y = b;
	const struct hlg_windows *s = sum;
	uint64_t m = s->counts[x->at * s->n_columns], n = s->counts[y->at * s->n_columns];

	if (m != n)
		return m > n ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

bool hlg_windows_rows_by_place(struct hlg_windows *sum, const struct hlg_windows *w)
{
	struct bin *bins = calloc(w->n_rows + 1, sizeof(*bins));
	bool ok = bins;

	for (size_t i = 0; ok && i < w->n_rows; i++)
		bins[i] = (struct bin){.key = w->rows[i].place, .row = i};
	ok = ok && add_up(sum, w, bins);
	free(bins);
	if (!ok)
		return false;
	sum->columns = w->columns;
	sum->n_columns = w->n_columns;
	sum->places = w->places;
	sum->n_places = w->n_places;
	for (size_t i = 0; i < sum->n_rows; i++)
		sum->leader += (double)hlg_windows_counts(sum, i)[0];
	qsort_r(sum->rows, sum->n_rows, sizeof(*sum->rows), compare_leader, sum);
	return true;
}
