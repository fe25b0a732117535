/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Host samples and the records that name them, in the order of time (queue.h); for
 * stacks, guest samples and KVM_RUNs as well. Else guest samples do not come here. What
 * has no time, or 0 as what perf itself makes up of /proc, counts at once.
 *
 * Memory: that of the queue, for items of 48 bytes, and what tasks.h says.
 */
#ifndef HLG_TOOLS_FEED_TIMELINE_H
#define HLG_TOOLS_FEED_TIMELINE_H

#include "filter/profile/host.h"
#include "filter/stacks/stacks.h"
#include "tools/feed/hostsyms.h"
#include "tools/feed/queue.h"
#include "tools/feed/tasks.h"

struct hlg_timeline {
	struct hlg_tasks tasks;
	struct hlg_host *host;     /* the rows; not owned, as the next two */
	struct hlg_stacks *stacks; /* NULL: none wanted; set by who wants them */
	struct hlg_hostsyms *syms; /* names their frames; NULL: only by mapping */
	struct hlg_buildids ids;   /* of what the recording maps */
	struct hlg_queue queue;    /* told of rounds and the end by who feeds */
};

/* What a sample is for. */
enum {
	HLG_TIMELINE_ROW = 1,   /* a row of the host */
	HLG_TIMELINE_STACK = 2, /* a stack, of the host or of a guest as its mode says */
	HLG_TIMELINE_ENTER = 4, /* a KVM_RUN, or */
	HLG_TIMELINE_ENTRY = 8  /* beside that a kvm_entry */
};

/* Returns false without memory. To be finished in any case. host may be NULL without
 * rows. */
bool hlg_timeline_init(struct hlg_timeline *timeline, struct hlg_host *host);
void hlg_timeline_finish(struct hlg_timeline *timeline);

/* A record about a process, which is copied. False without memory. */
bool hlg_timeline_task(struct hlg_timeline *timeline,
		       const struct hlg_perfdata_task *task);

/*
 * A sample for all that what says. chain is of stacks->chains. Without memory its row is
 * unnamed, and its stack missing.
 */
void hlg_timeline_add(struct hlg_timeline *timeline, const struct hlg_sample *sample,
		      uint32_t series, uint32_t chain, unsigned what);

#endif
