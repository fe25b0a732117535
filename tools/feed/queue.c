// SPDX-License-Identifier: GPL-2.0-only
#include "tools/feed/queue.h"

#include <stdlib.h>
#include <string.h>

#define FIRST 256 /* items there is room for at first */

struct hlg_queue_key {
	uint64_t time;
	size_t at; /* number of the item */
};

void hlg_queue_init(struct hlg_queue *q, size_t size, hlg_queue_take_fn *take, void *ctx)
{
	*q = (struct hlg_queue){.size = size,
				.limit = HLG_QUEUE_LIMIT,
				.take = take,
				.ctx = ctx,
				.sorted = true};
}

void hlg_queue_finish(struct hlg_queue *q)
{
	free(q->items);
	free(q->keys);
	*q = (struct hlg_queue){0};
}

static uint64_t time_of(const struct hlg_queue *q, size_t i)
{
	uint64_t time;

	memcpy(&time, hlg_queue_item(q, i), sizeof(time));
	return time;
}

/* Where the run that begins at from ends: each of its keys is no older than the last. */
static size_t run_end(const struct hlg_queue_key *keys, size_t from, size_t n)
{
	size_t i = from + 1;

	while (i < n && keys[i].time >= keys[i - 1].time)
		i++;
	return i < n ? i : n;
}

/* [from, middle) and [middle, to) into out; of two at one time the first comes first. */
static void merge(const struct hlg_queue_key *in, size_t from, size_t middle, size_t to,
		  struct hlg_queue_key *out)
{
	const struct hlg_queue_key *a = in + from, *b = in + middle;
	const struct hlg_queue_key *a_end = b, *b_end = in + to;

	out += from;
	while (a < a_end && b < b_end) {
		bool second = b->time < a->time;

		*out++ = *(second ? b : a);
		a += !second;
		b += second;
	}
	memcpy(out, a, (size_t)(a_end - a) * sizeof(*a));
	memcpy(out + (a_end - a), b, (size_t)(b_end - b) * sizeof(*b));
}

/*
 * A merge sort of the runs that are there (Knuth, volume 3, 5.2.4, algorithm N): buffers
 * of a few CPUs, each in order, make few. keys has room for 2 * n; returns where the
 * sorted ones are.
 */
static struct hlg_queue_key *sort(struct hlg_queue_key *keys, size_t n)
{
	struct hlg_queue_key *in = keys, *out = keys + n, *swap;

	while (run_end(in, 0, n) < n) {
		for (size_t from = 0; from < n;) {
			size_t middle = run_end(in, from, n);
			size_t to = middle < n ? run_end(in, middle, n) : n;

			merge(in, from, middle, to, out);
			from = to;
		}
		swap = in;
		in = out;
		out = swap;
	}
	return in;
}

/* Keys of what is not newer than limit, in the order of time; NULL without memory. */
static struct hlg_queue_key *sort_keys(struct hlg_queue *q, uint64_t limit, size_t *n)
{
	struct hlg_queue_key *more = q->keys;

	if (q->room_keys < 2 * q->n) {
		free(q->keys);
		q->room_keys = 0;
		more = q->keys = reallocarray(NULL, q->room, 2 * sizeof(*more));
		if (!more)
			return NULL;
		q->room_keys = 2 * q->room;
	}
	*n = 0;
	for (size_t i = 0; i < q->n; i++) {
		more[*n] = (struct hlg_queue_key){time_of(q, i), i};
		*n += more[*n].time <= limit;
	}
	return sort(more, *n);
}

/* Forgets what is not newer than limit. */
static void keep_newer(struct hlg_queue *q, uint64_t limit)
{
	size_t n = 0;
	uint64_t last = 0;

	q->sorted = true;
	for (size_t i = 0; i < q->n; i++) {
		uint64_t time = time_of(q, i);

		if (time <= limit)
			continue;
		q->sorted = q->sorted && time >= last;
		last = time;
		memcpy(hlg_queue_item(q, n++), hlg_queue_item(q, i), q->size);
	}
	q->n = n;
}

static bool take_sorted(struct hlg_queue *q, uint64_t limit)
{
	bool ok = true;
	size_t n;

	for (n = 0; n < q->n && time_of(q, n) <= limit; n++)
		ok = q->take(q->ctx, hlg_queue_item(q, n)) && ok;
	q->n -= n;
	if (n)
		memmove(q->items, hlg_queue_item(q, n), q->n * q->size);
	return ok;
}

/* What is not newer than limit goes out. */
static bool let_go(struct hlg_queue *q, uint64_t limit)
{
	const struct hlg_queue_key *keys;
	bool ok = true;
	size_t n;

	if (q->sorted)
		return take_sorted(q, limit);
	keys = sort_keys(q, limit, &n);
	if (!keys)
		return false;
	for (size_t i = 0; i < n; i++)
		ok = q->take(q->ctx, hlg_queue_item(q, keys[i].at)) && ok;
	if (n)
		keep_newer(q, limit);
	return ok;
}

/* The older half goes out. */
static bool relieve(struct hlg_queue *q)
{
	const struct hlg_queue_key *keys;
	size_t n;

	if (q->sorted)
		return let_go(q, time_of(q, (q->n - 1) / 2));
	keys = sort_keys(q, UINT64_MAX, &n);
	return keys && let_go(q, keys[(n - 1) / 2].time);
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
