/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Each thread's records in the order of time. A thread moves between CPUs, and the file
 * has what each CPU's buffer held one after the other; what order.h says of rounds holds
 * here, but threads are kept apart: most never move, and then nothing is sorted.
 *
 * Memory: the records of two rounds, 32 bytes each, at most HLG_EXITS_HELD; at that the
 * older half is let go, and what belongs in front of it is late: counted, never paired.
 * A recording in several files has no rounds, and all its records are held.
 */
#ifndef HLG_TOOLS_EXITS_ORDER_H
#define HLG_TOOLS_EXITS_ORDER_H

#include "tools/exits/pair.h"

#define HLG_EXITS_HELD   ((size_t)1 << 21)
#define HLG_EXITS_RECENT 16

struct hlg_exits_stream {
	uint64_t id; /* of the thread; see hlg_exits_stream */
	struct hlg_exits_thread thread;
	struct hlg_exits_item *items; /* [from, n) wait */
	size_t from, n, room;
	uint64_t latest;    /* of those, or released */
	uint64_t released;  /* time of the last one that was let go */
	bool sorted, waits; /* waits: it is in the order's list of those that do */
};

struct hlg_exits_order {
	struct hlg_exits_pairing pairing;
	struct hlg_exits_stream **streams;
	size_t n_streams, room_streams;
	struct hlg_exits_stream **index; /* hash by thread, at most half used */
	size_t room_index;
	/* Those that have records: the others cost nothing, a round being 8 bytes. */
	struct hlg_exits_stream **waiting;
	size_t n_waiting, room_waiting;
	uint64_t newest; /* time of the latest record that was let go */
	/* By tid: threads take turns within a buffer. */
	struct hlg_exits_stream *recent[HLG_EXITS_RECENT];
	uint64_t *cpus; /* time of each CPU's latest record */
	size_t n_cpus;
	size_t held, limit;
	struct hlg_exits_item *scratch; /* for sorting */
	size_t room_scratch;
	uint64_t complete; /* see hlg_order_round */
};

/* *order is all zero before; the sums are not owned. Finish in any case. */
void hlg_exits_order_init(struct hlg_exits_order *order, struct hlg_exits_sums *sums);

/* What the two below do when it is not simple. */
struct hlg_exits_stream *hlg_exits_find(struct hlg_exits_order *order, uint64_t thread);
void hlg_exits_look(struct hlg_exits_order *order, struct hlg_exits_stream *stream,
		    const struct hlg_exits_item *item);

/*
 * A record comes in three steps: the stream of its thread, with room for one more; the
 * record, written where hlg_exits_next says; hlg_exits_pushed, without which nothing has
 * happened. NULL without memory, which is sums->no_memory. A thread is called what
 * PERF_SAMPLE_TID has in eight bytes: its pid, and its tid in the upper half.
 * hlg_exits_recent is for who can do without: NULL if it would take a search, or room.
 */
static inline struct hlg_exits_stream *hlg_exits_recent(
	const struct hlg_exits_order *order, uint64_t thread)
{
	struct hlg_exits_stream *s = order->recent[(thread >> 32) % HLG_EXITS_RECENT];

	return s && s->id == thread && s->n < s->room ? s : NULL;
}

static inline struct hlg_exits_stream *hlg_exits_stream(struct hlg_exits_order *order,
							uint64_t thread)
{
	struct hlg_exits_stream *s = hlg_exits_recent(order, thread);

	return s ? s : hlg_exits_find(order, thread);
}

static inline struct hlg_exits_item *hlg_exits_next(const struct hlg_exits_stream *stream)
{
	return &stream->items[stream->n];
}

static inline void hlg_exits_pushed(struct hlg_exits_order *o, struct hlg_exits_stream *s,
				    const struct hlg_exits_item *item)
{
	uint64_t time = item->time;

	if (item->cpu >= o->n_cpus || time < s->latest || o->held >= o->limit ||
	    !s->waits) {
		hlg_exits_look(o, s, item);
		return;
	}
	o->cpus[item->cpu] = s->latest = time;
	s->n++;
	o->held++;
}

/* Records of a CPU's buffer (HLG_ANY_CPU: not known) were lost before time. */
void hlg_exits_lose(struct hlg_exits_order *order, uint64_t time, uint16_t cpu);

/* One record of this time makes no sense: who it is of is not known. */
void hlg_exits_lose_at(struct hlg_exits_order *order, uint64_t time);

void hlg_exits_round(struct hlg_exits_order *order);

/* The end of the recording: everything is paired, or counted as alone. */
void hlg_exits_order_end(struct hlg_exits_order *order);
void hlg_exits_order_finish(struct hlg_exits_order *order);

#endif
