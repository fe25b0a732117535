/* SPDX-License-Identifier: GPL-2.0-only */
/* When was it? By perf's clock, what time= asks for; by people's, what is saved. */
#ifndef HLG_TOOLS_FEED_WINDOW_H
#define HLG_TOOLS_FEED_WINDOW_H

#include "filter/profile/count.h"
#include "filter/profile/sample.h"
#include "filter/profile/select.h"
#include "tools/perfdata/perfdata.h"

/*
 * When the samples of a recording are wanted: as time= says, by the span of this one
 * where that is relative: as perf record noted it, else of its samples. What can be read
 * but once has none.
 */
int hlg_feed_window(struct hlg_select_window *window, const char *path,
		    const struct hlg_options *options, struct hlg_err *err);

/*
 * Sets sums' began and took of a recording that is read, whose samples reach over span:
 * by the clock that perf record -k noted; else it ended when the file was last written
 * (perf calls that "captured on"), and what comes through a pipe ends now.
 */
int hlg_feed_when(const struct hlg_perfdata *pd, const char *path,
		  const struct hlg_sample_span *span, struct hlg_recording_sums *sums,
		  struct hlg_err *err);

#endif
