// SPDX-License-Identifier: GPL-2.0-only
#include "tools/feed/queue.h"

#include <stdlib.h>
#include <string.h>

#include "symtab/grow.h"

#define FIRST 256 /* items there is room for at first */

/* Items in the order of time: [at, end), which is not empty. */
struct hlg_queue_run {
	uint64_t time; /* of the item at */
	size_t at, end;
};

void hlg_queue_init(struct hlg_queue *q, size_t size, hlg_queue_take_fn *take, void *ctx)
{
	*q = (struct hlg_queue){
		.size = size, .limit = HLG_QUEUE_LIMIT, .take = take, .ctx = ctx};
}

void hlg_queue_finish(struct hlg_queue *q)
{
	free(q->items);
	free(q->runs);
	*q = (struct hlg_queue){0};
}

static uint64_t time_of(const struct hlg_queue *q, size_t i)
{
	uint64_t time;

	memcpy(&time, hlg_queue_item(q, i), sizeof(time));
	return time;
}

/* Of two items of one time the first comes first. */
static bool is_before(const struct hlg_queue_run *a, const struct hlg_queue_run *b)
{
	return a->time < b->time || (a->time == b->time && a->at < b->at);
}

/* A heap: no run is before the one at (i - 1) / 2. The run at i may be behind others. */
static void sift(struct hlg_queue *q, size_t i)
{
	struct hlg_queue_run *runs = q->runs, run = runs[i];

	for (size_t child; (child = 2 * i + 1) < q->n_runs; i = child) {
		if (child + 1 < q->n_runs && is_before(&runs[child + 1], &runs[child]))
			child++;
		if (!is_before(&runs[child], &run))
			break;
		runs[i] = runs[child];
	}
	runs[i] = run;
}

static bool add_run(struct hlg_queue *q, size_t at, size_t end)
{
	if (!HLG_GROW(q->runs, q->n_runs))
		return false;
	q->runs[q->n_runs++] = (struct hlg_queue_run){time_of(q, at), at, end};
	return true;
}

/* Behind the run that begins with item i. */
static size_t run_end(const struct hlg_queue *q, size_t i)
{
	uint64_t last = time_of(q, i), time;

	while (++i < q->n && (time = time_of(q, i)) >= last)
		last = time;
	return i;
}

/* The runs that begin no later than limit, as a heap. False without memory. */
static bool find_runs(struct hlg_queue *q, uint64_t limit)
{
	q->n_runs = 0;
	for (size_t end, i = 0; i < q->n; i = end) {
		end = run_end(q, i);
		if (time_of(q, i) <= limit && !add_run(q, i, end))
			return false;
	}
	for (size_t i = q->n_runs / 2; i > 0; i--)
		sift(q, i - 1);
	return true;
}

/* Up to which time the first run goes on before another one's turn comes. */
static uint64_t turn_ends(const struct hlg_queue *q)
{
	const struct hlg_queue_run *next = &q->runs[1];

	if (q->n_runs < 2)
		return UINT64_MAX;
	if (q->n_runs > 2 && is_before(&q->runs[2], next))
		next = &q->runs[2];
	return next->time - (next->at < q->runs[0].at);
}

/*
 * What the first run has up to a time goes out, or its first item, if that is newer: at
 * most n. False, and all is over, if it is not taken.
 */
static bool take_turn(struct hlg_queue *q, uint64_t until, size_t n)
{
	struct hlg_queue_run *run = q->runs;

	do {
		uint64_t time = time_of(q, run->at);

		if (time < q->out)
			q->late++;
		else
			q->out = time;
		q->failed = !q->take(q->ctx, hlg_queue_item(q, run->at));
		if (++run->at == run->end) {
			*run = q->runs[--q->n_runs];
			break;
		}
		run->time = time_of(q, run->at);
	} while (!q->failed && run->time <= until && --n);
	sift(q, 0);
	return !q->failed;
}

/* Forgets what is not newer than limit. */
static void keep_newer(struct hlg_queue *q, uint64_t limit)
{
	size_t n = 0;

	for (size_t end, i = 0; i < q->n; i = end + 1) {
		for (end = i; end < q->n && time_of(q, end) > limit;)
			end++;
		if (end > i)
			memmove(hlg_queue_item(q, n), hlg_queue_item(q, i),
				(end - i) * q->size);
		n += end - i;
	}
	q->n = n;
}

static int compare_ends(const void *a, const void *b)
{
	const struct hlg_queue_run *x = a, *y = b;

	return x->end < y->end ? -1 : x->end > y->end;
}

/* After a failure: what was taken is the callee's, the rest of the runs that begin no
 * later than limit stays, and all others. */
static void keep_untaken(struct hlg_queue *q, uint64_t limit)
{
	size_t n = 0, k = 0;

	if (q->n_runs)
		qsort(q->runs, q->n_runs, sizeof(*q->runs), compare_ends);
	for (size_t at, end, i = 0; i < q->n; i = end) {
		uint64_t first = time_of(q, i);

		end = run_end(q, i);
		at = first <= limit ? end : i;
		if (k < q->n_runs && q->runs[k].end == end)
			at = q->runs[k++].at;
		if (at < end)
			memmove(hlg_queue_item(q, n), hlg_queue_item(q, at),
				(end - at) * q->size);
		n += end - at;
	}
	q->n = n;
	q->n_runs = 0;
}

/* What is not newer than limit goes out. */
static bool let_go(struct hlg_queue *q, uint64_t limit)
{
	if (q->failed || !find_runs(q, limit))
		return false;
	if (!q->n_runs)
		return true;
	while (q->n_runs && q->runs[0].time <= limit) {
		uint64_t until = turn_ends(q);

		if (!take_turn(q, until < limit ? until : limit, SIZE_MAX)) {
			keep_untaken(q, limit);
			return false;
		}
	}
	keep_newer(q, limit);
	return true;
}

/* The older half goes out, and what is of the time of its last one. */
static bool relieve(struct hlg_queue *q)
{
	uint64_t time = 0;

	if (q->failed || !find_runs(q, UINT64_MAX))
		return false;
	for (size_t i = 0; q->n_runs && (i < q->n / 2 || q->runs[0].time == time); i++) {
		time = q->runs[0].time;
		if (!take_turn(q, time, 1)) {
			keep_untaken(q, UINT64_MAX);
			return false;
		}
	}
	keep_newer(q, time);
	return true;
}

void *hlg_queue_grow(struct hlg_queue *q)
{
	size_t room = q->room ? 2 * q->room : FIRST;
	uint8_t *more;

	if (q->n == q->limit)
		return relieve(q) ? hlg_queue_item(q, q->n) : NULL;
	if (room > q->limit)
		room = q->limit;
	more = reallocarray(q->items, room, q->size);
	if (!more)
		return NULL;
	q->items = more;
	q->room = room;
	return hlg_queue_item(q, q->n);
}

bool hlg_queue_round(struct hlg_queue *q)
{
	bool ok = let_go(q, q->complete);

	q->complete = q->newest;
	return ok;
}

bool hlg_queue_end(struct hlg_queue *q)
{
	return let_go(q, UINT64_MAX);
}
