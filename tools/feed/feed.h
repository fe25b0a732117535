/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The second feed: a recording read without perf, counted into a profile exactly as the
 * filter does under perf script.
 */
#ifndef HLG_TOOLS_FEED_FEED_H
#define HLG_TOOLS_FEED_FEED_H

#include "filter/profile/count.h"
#include "filter/profile/host.h"
#include "filter/profile/profile.h"
#include "filter/stacks/stacks.h"
#include "tools/cli/progress.h"
#include "tools/feed/hostsyms.h"

/*
 * Reads path ("-" is standard input) into profile, and host samples into host if that is
 * not NULL: by process and mapping, see tasks.h and timeline.h; stacks into how->stacks.
 * Memory is bounded by distinct addresses and events, and with host by what timeline.h
 * and tasks.h say. With how->threads > 1 a large file is read by two at once, where its
 * format lets a second one begin in the middle.
 */
struct hlg_feed_how {
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
