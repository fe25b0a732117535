/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The second feed: a recording read without perf, counted into a profile exactly as the
 * filter does under perf script.
 */
#ifndef HLG_TOOLS_FEED_FEED_H
#define HLG_TOOLS_FEED_FEED_H

#include <sys/types.h>

#include "filter/profile/count.h"
#include "filter/profile/host.h"
#include "filter/profile/profile.h"
#include "filter/stacks/stacks.h"
#include "tools/cli/progress.h"
#include "tools/feed/hostsyms.h"

/*
 * A recording that is being made, in pipe mode. Whoever has its bytes is asked for more
 * when all records so far are counted; meanwhile he may look at what is counted, and
 * change nothing of it. Of what has to wait for the order of time, host rows and stacks,
 * what is of the last two rounds is not there yet (queue.h).
 */
struct hlg_feed_live {
	/* Up to n bytes into to; 0 at the end; -1 with errno. sums: so far; whole: how
	 * many bytes of the stream they are of, up to the end of a record. */
	ssize_t (*read)(void *ctx, void *to, size_t n,
			const struct hlg_recording_sums *sums, uint64_t whole);
	void *ctx;
};

/*
 * Reads path ("-" is standard input) into profile, and host samples into host if that is
 * not NULL: by process and mapping, see tasks.h and timeline.h; stacks into how->stacks.
 * path is opened up to five times, each time for itself: for the span of its samples
 * (window.h), if time= is relative; for its sandboxes (turns-read.h, tails.h); for
 * callchains that were deferred (deferred.h), with stacks; and to be counted. What is
 * live, or cannot be read twice (hlg_perfdata_is_kept), is only counted.
 * Memory is bounded by distinct addresses and events, and with host by what timeline.h
 * and tasks.h say. With how->threads > 1 a large file is read by two at once, where its
 * format lets a second one begin in the middle.
 */
struct hlg_feed_how {
	const struct hlg_feed_live *live; /* NULL: path is read; else it is a name only */
	unsigned threads;
	struct hlg_progress *progress; /* NULL: not shown */
	struct hlg_stacks *stacks;     /* NULL: not wanted */
	struct hlg_hostsyms *syms;     /* for stacks; NULL: frames are named by mapping */
	bool no_sandboxes; /* they are not wanted: that reads some files twice */
};

int hlg_feed_read(const char *path, const struct hlg_feed_how *how,
		  struct hlg_profile *profile, struct hlg_host *host,
		  struct hlg_recording_sums *sums, struct hlg_err *err);

/* Only counts. */
int hlg_feed_count(const char *path, struct hlg_recording_sums *sums,
		   struct hlg_err *err);

#endif
