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

#include "pair.h"

#define HLG_EXITS_HELD ((size_t)1 << 21)

struct hlg_exits_stream {
	struct hlg_exits_thread thread;
	struct hlg_exits_item *items; /* [from, n) wait */
	size_t from, n, room;
	uint64_t latest;   /* of those */
	uint64_t released; /* time of the last one that was let go */
	bool sorted;
};

struct hlg_exits_order {
	struct hlg_exits_pairing pairing;
	struct hlg_exits_stream **streams;
	size_t n_streams, room_streams;
	struct hlg_exits_stream **index; /* hash by thread, at most half used */
	size_t room_index;
	struct hlg_exits_stream *last; /* asked for */
	uint64_t *cpus;                /* time of each CPU's latest record */
	size_t n_cpus;
	size_t held, limit;
	struct hlg_exits_item *scratch; /* for sorting */
	size_t room_scratch;
	uint64_t newest, complete; /* see hlg_order_round */
};

/* *order is all zero before; the sums are not owned. Finish in any case. */
void hlg_exits_order_init(struct hlg_exits_order *order, struct hlg_exits_sums *sums);

/* A record, which is copied. Without memory, sums->no_memory. */
void hlg_exits_push(struct hlg_exits_order *order, int32_t pid, int32_t tid,
		    const struct hlg_exits_item *item);

/* Records of a CPU's buffer (HLG_ANY_CPU: not known) were lost before time. */
void hlg_exits_lose(struct hlg_exits_order *order, uint64_t time, uint16_t cpu);

/* One record of this time makes no sense: who it is of is not known. */
void hlg_exits_lose_at(struct hlg_exits_order *order, uint64_t time);

void hlg_exits_round(struct hlg_exits_order *order);

/* The end of the recording: everything is paired, or counted as alone. */
void hlg_exits_order_end(struct hlg_exits_order *order);
void hlg_exits_order_finish(struct hlg_exits_order *order);

#endif
