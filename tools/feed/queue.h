/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Host samples and the records that name them, in the order of time; for stacks, guest
 * samples and KVM_RUNs as well.
 *
 * perf writes what each CPU's buffer holds one after the other, so a mapping can stand in
 * the file behind samples that came after it. A FINISHED_ROUND record says that all
 * buffers were emptied once: what comes later is no older than the newest before the
 * round before. So only what is newer than that is kept back and sorted, as perf does
 * (tools/perf/util/ordered-events.c; "PERF_RECORD_FINISHED_ROUND" in
 * tools/perf/Documentation/perf.data-file-format.txt). What has no time, or 0 as what
 * perf itself makes up of /proc, counts at once.
 *
 * Else guest samples do not come here. Memory: the samples of two rounds, 56 bytes each,
 * at most HLG_ORDER_MAX; at that the older half is let go, as perf does at its limit.
 */
#ifndef HLG_TOOLS_FEED_QUEUE_H
#define HLG_TOOLS_FEED_QUEUE_H

#include "filter/profile/host.h"
#include "filter/stacks/stacks.h"
#include "tools/feed/hostsyms.h"
#include "tools/feed/tasks.h"

#define HLG_ORDER_MAX ((size_t)1 << 21)

struct hlg_order_item;

struct hlg_order {
	struct hlg_tasks tasks;
	struct hlg_host *host;        /* the rows; not owned, as the next two */
	struct hlg_stacks *stacks;    /* NULL: none wanted; set by who wants them */
	struct hlg_hostsyms *syms;    /* names their frames; NULL: only by mapping */
	struct hlg_buildids ids;      /* of what the recording maps */
	struct hlg_order_item *items; /* in the order of the file, or sorted */
	size_t n, room;
	uint64_t sequence;         /* how many there were */
	uint64_t newest, complete; /* times; see hlg_order_round */
};

/* What a sample is for. */
enum {
	HLG_ORDER_ROW = 1,   /* a row of the host */
	HLG_ORDER_STACK = 2, /* a stack, of the host or of a guest as its mode says */
	HLG_ORDER_ENTER = 4  /* a KVM_RUN */
};

/* Returns false without memory. To be finished in any case. host may be NULL without
 * rows. */
bool hlg_order_init(struct hlg_order *order, struct hlg_host *host);
void hlg_order_finish(struct hlg_order *order);

/* A record about a process, which is copied. False without memory. */
bool hlg_order_task(struct hlg_order *order, const struct hlg_perfdata_task *task);

/* A host sample of a series. Without memory it counts as unnamed. */
void hlg_order_sample(struct hlg_order *order, const struct hlg_sample *sample,
		      uint32_t series);

/*
 * A sample for all that what says. chain is of stacks->chains. Without memory its stack
 * is missing.
 */
void hlg_order_add(struct hlg_order *order, const struct hlg_sample *sample,
		   uint32_t series, uint32_t chain, unsigned what);

/* A FINISHED_ROUND, and the end of the recording. False without memory. */
bool hlg_order_round(struct hlg_order *order);
bool hlg_order_end(struct hlg_order *order);

#endif
