/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Selection: which samples the user asked for. What was not recorded (cpu, time, pid)
 * cannot be selected: such a sample is deselected when that thing is asked for.
 */
#ifndef HLG_FILTER_PROFILE_SELECT_H
#define HLG_FILTER_PROFILE_SELECT_H

#include "filter/options/options.h"
#include "filter/profile/sample.h"

/* True when options restrict anything but the event: hlg_select_keeps must be asked. */
bool hlg_select_restricts(const struct hlg_options *options);

/* pid, tid, cpu and time. */
bool hlg_select_keeps(const struct hlg_options *options, const struct hlg_sample *sample);

/* True when the sample does not tell something that is asked for. */
bool hlg_select_lacks(const struct hlg_options *options, const struct hlg_sample *sample);

/* The event's name, asked once per event. */
bool hlg_select_event(const struct hlg_options *options, const char *name);

#endif
