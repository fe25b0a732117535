/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The second feed: a recording read without perf, counted into a profile exactly as the
 * filter does under perf script.
 */
#ifndef HLG_TOOLS_FEED_FEED_H
#define HLG_TOOLS_FEED_FEED_H

#include "filter/profile/host.h"
#include "filter/profile/profile.h"
#include "filter/stacks/stacks.h"
#include "symtab/image/space.h"
#include "tools/cli/progress.h"
#include "tools/feed/hostsyms.h"

/* What one recording held. */
struct hlg_feed_sums {
	uint64_t samples, guest, host, deselected;
	uint64_t lost;      /* LOST records' sum, or LOST_SAMPLES' if larger */
	uint64_t throttled; /* THROTTLE records */
	uint64_t skipped;   /* samples of no known event, or malformed: not counted */
	uint64_t left;      /* bytes that could not be read: the recording was cut off */
};

/*
 * Reads path ("-" is standard input) into profile, and host samples into host if that is
 * not NULL: by process and mapping, see tasks.h and queue.h; stacks into how->stacks.
 * Memory is bounded by distinct addresses and events, and with host by what queue.h and
 * tasks.h say. With how->threads > 1 a large file is read by two at once, where its
 * format lets a second one begin in the middle.
 */
struct hlg_feed_how {
	unsigned threads;
	struct hlg_progress *progress; /* NULL: not shown */
	const struct hlg_space *space; /* settled, for saved profiles; NULL: none read */
	struct hlg_stacks *stacks;     /* NULL: not wanted */
	struct hlg_hostsyms *syms;     /* for stacks; NULL: frames are named by mapping */
};

int hlg_feed_read(const char *path, const struct hlg_feed_how *how,
		  struct hlg_profile *profile, struct hlg_host *host,
		  struct hlg_feed_sums *sums, struct hlg_err *err);

/* Only counts. */
int hlg_feed_count(const char *path, struct hlg_feed_sums *sums, struct hlg_err *err);

#endif
