/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Selection: which samples the user asked for. What was not recorded (cpu, time, pid)
 * cannot be selected: such a sample is deselected when that thing is asked for.
 */
#ifndef HLG_FILTER_PROFILE_SELECT_H
#define HLG_FILTER_PROFILE_SELECT_H

#include "filter/options/options.h"
#include "filter/profile/sample.h"

/* When samples are wanted: ns of perf's clock, [start, stop). */
struct hlg_select_window {
	uint64_t start, stop;
	bool open; /* it is not known yet: when the recording began is needed */
};

/* What the options say of time, where that needs nothing of the recording. */
struct hlg_select_window hlg_select_window(const struct hlg_options *options);

/* The same of a recording whose samples are from first to last. last matters to slices
 * only. */
struct hlg_select_window hlg_select_window_of(const struct hlg_options *options,
					      uint64_t first, uint64_t last);

/* Do options restrict anything but the event? Only then ask hlg_select_keeps. */
bool hlg_select_restricts(const struct hlg_options *options);

/* Do options restrict anything? */
bool hlg_select_is(const struct hlg_options *options);

/* The same options without what selects samples; what they point to stays the others'. */
struct hlg_options hlg_select_all(const struct hlg_options *options);

/* Do options ask for some sandboxes, and all that there is of them? */
bool hlg_select_whole_sandboxes(const struct hlg_options *options);

/* Is the sample one of the pid, tid, cpu and time asked for? */
bool hlg_select_keeps(const struct hlg_options *options,
		      const struct hlg_select_window *window,
		      const struct hlg_sample *sample);

/* Does the sample not tell one of these, though it is asked for? */
bool hlg_select_lacks(const struct hlg_options *options, const struct hlg_sample *sample);

/* Does event= say how often an event is sampled, so that it selects by that? */
bool hlg_select_by_terms(const struct hlg_options *options);

/*
 * Is an event asked for that is called so (event-names.h)? Its plain name is what event=
 * matches; where that has terms, its name with terms, if it has any. Asked once per
 * event, not per sample.
 */
bool hlg_select_event(const struct hlg_options *options, const char *name);

#endif
