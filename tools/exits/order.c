// SPDX-License-Identifier: GPL-2.0-only
#include "tools/exits/order.h"
#include "symtab/hash-seed.h"

#include <stdlib.h>
#include <string.h>

void hlg_exits_order_init(struct hlg_exits_order *o, struct hlg_exits_sums *sums)
{
	o->pairing.sums = sums;
	o->pairing.stop = UINT64_MAX;
	o->limit = HLG_EXITS_HELD;
}

static size_t find_index(const struct hlg_exits_order *o, uint64_t thread)
{
	size_t mask = o->room_index - 1;
	size_t i = (thread * hlg_factor >> 32) & mask;

	while (o->index[i] && o->index[i]->id != thread)
		i = (i + 1) & mask;
	return i;
}

static bool grow(struct hlg_exits_order *o)
{
	size_t room = o->room_streams ? 2 * o->room_streams : 16;
	struct hlg_exits_stream **streams =
		reallocarray(o->streams, room, sizeof(*streams));
	struct hlg_exits_stream **index;

	if (!streams)
		return false;
	o->streams = streams;
	index = calloc(2 * room, sizeof(*index));
	if (!index)
		return false;
	free(o->index);
	o->index = index;
	o->room_index = 2 * room;
	o->room_streams = room;
	for (size_t i = 0; i < o->n_streams; i++)
		index[find_index(o, streams[i]->id)] = streams[i];
	return true;
}

/* NULL without memory. */
static struct hlg_exits_stream *find(struct hlg_exits_order *o, uint64_t thread)
{
	struct hlg_exits_stream *s;
	size_t at;

	if (o->n_streams == o->room_streams && !grow(o))
		return NULL;
	at = find_index(o, thread);
	if (!o->index[at]) {
		s = calloc(1, sizeof(*s));
		if (!s)
			return NULL;
		s->id = thread;
		s->sorted = true;
		hlg_exits_thread_init(&s->thread, (int32_t)(thread & UINT32_MAX),
				      (int32_t)(thread >> 32));
		o->streams[o->n_streams++] = o->index[at] = s;
	}
	return o->index[at];
}

/* Where the run that begins at from ends: each of its items is no older than the last. */
static size_t run_end(const struct hlg_exits_item *items, size_t from, size_t n)
{
	size_t i = from + 1;

	while (i < n && items[i].time >= items[i - 1].time)
		i++;
	return i < n ? i : n;
}

/* [from, middle) and [middle, to) into out; of two at one time the first comes first. */
static void merge(const struct hlg_exits_item *in, size_t from, size_t middle, size_t to,
		  struct hlg_exits_item *out)
{
	size_t a = from, b = middle;

	for (size_t i = from; i < to; i++) {
		if (b == to || (a < middle && in[a].time <= in[b].time))
			out[i] = in[a++];
		else
			out[i] = in[b++];
	}
}

/*
 * Buffers of a few CPUs, each in order: a merge sort of the runs that are there (Knuth,
 * volume 3, 5.2.4, algorithm N). Stable. False without memory.
 */
static bool sort(struct hlg_exits_order *o, struct hlg_exits_item *items, size_t n)
{
	struct hlg_exits_item *in = items, *out, *swap;
	bool merged = n > 0;

	if (n > o->room_scratch) {
		out = reallocarray(o->scratch, n, sizeof(*out));
		if (!out)
			return false;
		o->scratch = out;
		o->room_scratch = n;
	}
	for (out = o->scratch; merged; swap = in, in = out, out = swap) {
		merged = false;
		for (size_t from = 0; from < n;) {
			size_t middle = run_end(in, from, n);
			size_t to = middle < n ? run_end(in, middle, n) : n;

			merged |= from > 0 || to < n;
			merge(in, from, middle, to, out);
			from = to;
		}
	}
	if (in != items)
		memcpy(items, in, n * sizeof(*items));
	return true;
}

/* Lets go what is not newer than limit. */
static void release(struct hlg_exits_order *o, struct hlg_exits_stream *s, uint64_t limit)
{
	size_t n, from = s->from;

	if (!s->sorted && !sort(o, s->items + from, s->n - from)) {
		o->pairing.sums->no_memory = true;
		return;
	}
	s->sorted = true;
	n = hlg_exits_take(&o->pairing, &s->thread, s->items + from, s->n - from, limit);
	if (n == 0)
		return;
	s->from = from + n;
	s->released = s->items[s->from - 1].time;
	o->held -= n;
	/* The rest moves to the front when that is little work. */
	if (2 * s->from < s->n && s->from < s->n)
		return;
	memmove(s->items, s->items + s->from, (s->n - s->from) * sizeof(*s->items));
	s->n -= s->from;
	s->from = 0;
}

/* The time of the latest record there is. */
static uint64_t newest(const struct hlg_exits_order *o)
{
	uint64_t time = o->newest;

	for (size_t i = 0; i < o->n_waiting; i++)
		if (o->waiting[i]->latest > time)
			time = o->waiting[i]->latest;
	return time;
}

static void release_all(struct hlg_exits_order *o, uint64_t limit)
{
	size_t n = 0;

	o->newest = newest(o);
	for (size_t i = 0; i < o->n_waiting; i++) {
		struct hlg_exits_stream *s = o->waiting[i];

		release(o, s, limit);
		s->waits = s->n > s->from;
		if (s->waits)
			o->waiting[n++] = s;
	}
	o->n_waiting = n;
}

/* Adds a stream to those that have records. */
static bool add_waiting(struct hlg_exits_order *o, struct hlg_exits_stream *s)
{
	if (o->n_waiting == o->room_waiting) {
		size_t room = o->room_waiting ? 2 * o->room_waiting : 64;
		struct hlg_exits_stream **more =
			reallocarray(o->waiting, room, sizeof(struct hlg_exits_stream *));

		if (!more)
			return false;
		o->waiting = more;
		o->room_waiting = room;
	}
	o->waiting[o->n_waiting++] = s;
	s->waits = true;
	return true;
}

/* Too many are held: the older half goes, by time. */
static void relieve(struct hlg_exits_order *o)
{
	uint64_t from = o->complete;

	release_all(o, from);
	while (o->held > o->limit / 2 && !o->pairing.sums->no_memory) {
		from += (newest(o) - from) / 2 + 1;
		release_all(o, from);
	}
}

static bool make_room(struct hlg_exits_stream *s)
{
	size_t room = s->room ? 2 * s->room : 64;
	struct hlg_exits_item *more = reallocarray(s->items, room, sizeof(*more));

	if (!more)
		return false;
	s->items = more;
	s->room = room;
	return true;
}

/* Remembers when a CPU's buffer was written to last. */
static __attribute__((noinline)) bool add_cpu(struct hlg_exits_order *o, uint16_t cpu)
{
	size_t n = (size_t)cpu + 1;
	uint64_t *more = reallocarray(o->cpus, n, sizeof(*more));

	if (!more)
		return false;
	memset(more + o->n_cpus, 0, (n - o->n_cpus) * sizeof(*more));
	o->cpus = more;
	o->n_cpus = n;
	return true;
}

void hlg_exits_lose_at(struct hlg_exits_order *o, uint64_t time)
{
	if (time && !hlg_exits_gap(&o->pairing.gaps, time - 1, time, HLG_ANY_CPU))
		o->pairing.sums->no_memory = true;
}

struct hlg_exits_stream *hlg_exits_find(struct hlg_exits_order *o, uint64_t thread)
{
	struct hlg_exits_stream *s = find(o, thread);

	if (!s || (s->n == s->room && !make_room(s))) {
		o->pairing.sums->no_memory = true;
		return NULL;
	}
	o->recent[(thread >> 32) % HLG_EXITS_RECENT] = s;
	return s;
}

/*
 * A CPU that is new or not known, a record out of order, too many, the first since a
 * round: all that is rare.
 */
void hlg_exits_look(struct hlg_exits_order *o, struct hlg_exits_stream *s,
		    const struct hlg_exits_item *item)
{
	if (item->cpu != HLG_ANY_CPU) {
		if (item->cpu >= o->n_cpus && !add_cpu(o, item->cpu)) {
			o->pairing.sums->no_memory = true;
			return;
		}
		o->cpus[item->cpu] = item->time;
	}
	if (item->time < s->released) {
		o->pairing.sums->lone.late++;
		hlg_exits_lose_at(o, item->time);
		return;
	}
	if (!s->waits && !add_waiting(o, s)) {
		o->pairing.sums->no_memory = true;
		return;
	}
	if (item->time < s->latest)
		s->sorted = false;
	else
		s->latest = item->time;
	s->n++;
	if (++o->held > o->limit)
		relieve(o);
}

void hlg_exits_lose(struct hlg_exits_order *o, uint64_t time, uint16_t cpu)
{
	uint64_t start = o->complete;

	if (cpu != HLG_ANY_CPU && cpu < o->n_cpus && o->cpus[cpu])
		start = o->cpus[cpu];
	if (!hlg_exits_gap(&o->pairing.gaps, start, time, cpu))
		o->pairing.sums->no_memory = true;
}

void hlg_exits_round(struct hlg_exits_order *o)
{
	release_all(o, o->complete);
	o->complete = newest(o);
}

void hlg_exits_order_end(struct hlg_exits_order *o)
{
	release_all(o, UINT64_MAX);
	for (size_t i = 0; i < o->n_streams; i++)
		hlg_exits_thread_end(&o->pairing, &o->streams[i]->thread);
	hlg_exits_count(o->pairing.sums);
}

void hlg_exits_order_finish(struct hlg_exits_order *o)
{
	for (size_t i = 0; i < o->n_streams; i++) {
		free(o->streams[i]->thread.turns);
		free(o->streams[i]->items);
		free(o->streams[i]);
	}
	free(o->streams);
	free(o->waiting);
	free(o->index);
	free(o->cpus);
	free(o->scratch);
	hlg_exits_gaps_finish(&o->pairing.gaps);
	*o = (struct hlg_exits_order){0};
}
