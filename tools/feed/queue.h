/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A queue that puts the records of a recording in the order of time.
 *
 * perf writes what each CPU's buffer holds one after the other, so a record can stand in
 * the file behind records that came after it. A FINISHED_ROUND record says that all
 * buffers were emptied once: what comes later is no older than the newest record before
 * the round before. So only what is newer than that waits, as in perf
 * (tools/perf/util/ordered-events.c; "PERF_RECORD_FINISHED_ROUND" in
 * tools/perf/Documentation/perf.data-file-format.txt).
 *
 * In: items of one size in the order of the file, each of which begins with its time, a
 * uint64_t (ns); rounds; the end. Out: the items, each once, through take(); those of one
 * call of round, end or grow in the order of time, and of one time in the order of the
 * file. An item that breaks the promise of a round comes out late, behind newer ones.
 *
 * Bounds: an item waits for at most two rounds, and is looked at once for each; at most
 * limit items wait: at that the older half goes out. Time: items that come in order make
 * a run, as each buffer does, and k runs are merged in O(n log k). Memory: the items of
 * two rounds, and 24 bytes for each of their runs.
 */
#ifndef HLG_TOOLS_FEED_QUEUE_H
#define HLG_TOOLS_FEED_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HLG_QUEUE_LIMIT ((size_t)1 << 21) /* of who has no other */

/* The item is the callee's from then on. False: something went wrong, which is passed on;
 * nothing more is taken, and what was not stays in the queue. */
typedef bool hlg_queue_take_fn(void *ctx, void *item);

struct hlg_queue_run;

struct hlg_queue {
	size_t size, limit;
	hlg_queue_take_fn *take;
	void *ctx;
	uint8_t *items; /* as they came in */
	size_t n, room;
	uint64_t newest;   /* time of the newest item that ever came in */
	uint64_t out;      /* time of the newest item that went out */
	uint64_t late;     /* items that went out behind newer ones */
	uint64_t complete; /* what is not newer than that goes out at the next round */
	struct hlg_queue_run *runs; /* only while some go out */
	size_t n_runs;
	bool failed; /* take has: it is not called again */
};

/* Allocates nothing. ctx is take's, and not owned. */
void hlg_queue_init(struct hlg_queue *queue, size_t size, hlg_queue_take_fn *take,
		    void *ctx);

/* Frees the queue, and nothing that its items own: see hlg_queue_item. */
void hlg_queue_finish(struct hlg_queue *queue);

/* The item of a number below queue->n. */
static inline void *hlg_queue_item(const struct hlg_queue *queue, size_t i)
{
	return queue->items + i * queue->size;
}

/* Makes room, for which items may go out. NULL without memory, or if take failed. */
void *hlg_queue_grow(struct hlg_queue *queue);

/*
 * An item comes in two steps: it is written where hlg_queue_next says (NULL: see
 * hlg_queue_grow), then hlg_queue_pushed, without which nothing has happened.
 */
static inline void *hlg_queue_next(struct hlg_queue *queue)
{
	return queue->n < queue->room ? hlg_queue_item(queue, queue->n)
				      : hlg_queue_grow(queue);
}

static inline void hlg_queue_pushed(struct hlg_queue *queue, uint64_t time)
{
	if (time > queue->newest)
		queue->newest = time;
	queue->n++;
}

/* A FINISHED_ROUND, and the end of the recording. False without memory, or if take
 * failed, now or before. */
bool hlg_queue_round(struct hlg_queue *queue);
bool hlg_queue_end(struct hlg_queue *queue);

#endif
