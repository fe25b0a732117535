/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records on their way from who reads them to who puts them in order and pairs them: at
 * once, or in batches through a thread of its own. Both get to the same sums, as all that
 * comes is taken in the order it came in.
 *
 * From start to finish the order, its sums, and what these fold with, are the relay's;
 * one thread at a time has it. What it takes: at most HLG_EXITS_BATCHES * HLG_EXITS_BATCH
 * entries of 40 bytes (5 MiB), however long the recording is.
 */
#ifndef HLG_TOOLS_EXITS_RELAY_H
#define HLG_TOOLS_EXITS_RELAY_H

#include <pthread.h>

#include "tools/exits/order.h"

/*
 * More than the caches of one processor hold: what it has just written another one would
 * have to fetch from there, which takes longer than from a cache they share. The first
 * batches are small, and so is what a short recording takes.
 */
#define HLG_EXITS_BATCH   32768
#define HLG_EXITS_BATCHES 4
#define HLG_EXITS_FIRST   1024

#define HLG_EXITS_AHEAD 24 /* entries fetched before they are needed */

/* What comes between records, as kinds of items; time and cpu as order.h says. */
enum hlg_exits_mark {
	HLG_EXITS_MARK_LOST = HLG_EXITS_RECORDS, /* see hlg_exits_lose */
	HLG_EXITS_MARK_BAD,                      /* a record that lacks fields */
	HLG_EXITS_MARK_ROUND,
	HLG_EXITS_MARK_RUNS /* the recording has KVM_RUN */
};

struct hlg_exits_entry {
	uint64_t thread; /* see hlg_exits_stream */
	struct hlg_exits_item item;
};

struct hlg_exits_batch {
	size_t n;
	struct hlg_exits_entry entries[HLG_EXITS_BATCH];
};

struct hlg_exits_relay {
	struct hlg_exits_order *order;
	struct hlg_exits_batch *here;    /* which is being filled; NULL: all at once */
	struct hlg_exits_batch *batches; /* in turn */
	pthread_t thread;
	bool started;
	size_t room;          /* of the batch that is being filled */
	pthread_mutex_t lock; /* for what follows, and for handing batches over */
	pthread_cond_t changed;
	size_t filled, taken; /* batches */
	bool end;
};

/*
 * threads: with 1, or without memory, all goes to the order at once. The thread starts
 * with the first full batch; if there can be none, batches are taken here. *relay is the
 * caller's and does not move.
 */
void hlg_exits_relay_start(struct hlg_exits_relay *relay, struct hlg_exits_order *order,
			   unsigned threads);

/* All has been taken when this returns, and the order is the caller's again. */
void hlg_exits_relay_finish(struct hlg_exits_relay *relay);

/* The batch is full. */
void hlg_exits_relay_hand(struct hlg_exits_relay *relay);

/* A record, if relay->here: to be written here, and nothing happens without sending it.
 */
static inline struct hlg_exits_entry *hlg_exits_relay_next(
	const struct hlg_exits_relay *relay)
{
	return &relay->here->entries[relay->here->n];
}

static inline void hlg_exits_relay_sent(struct hlg_exits_relay *relay)
{
	__builtin_prefetch(hlg_exits_relay_next(relay) + HLG_EXITS_AHEAD, 1);
	if (++relay->here->n == relay->room)
		hlg_exits_relay_hand(relay);
}

/* A record or a mark, either way. */
void hlg_exits_relay_send(struct hlg_exits_relay *relay, uint64_t thread,
			  const struct hlg_exits_item *item);
void hlg_exits_relay_mark(struct hlg_exits_relay *relay, enum hlg_exits_mark mark,
			  uint64_t time, uint16_t cpu);

#endif
