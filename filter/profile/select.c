// SPDX-License-Identifier: GPL-2.0-only
#include "filter/profile/select.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "filter/profile/event.h"

__extension__ typedef unsigned __int128 hlg_wide;

static bool timed(const struct hlg_options *options)
{
	return options->start != 0 || options->stop != UINT64_MAX;
}

struct hlg_select_window hlg_select_window(const struct hlg_options *options)
{
	if (options->time_unit == HLG_TIME_PERF)
		return (struct hlg_select_window){options->start, options->stop, false};
	return (struct hlg_select_window){0, UINT64_MAX, timed(options)};
}

static uint64_t behind(uint64_t first, uint64_t ns)
{
	return ns > UINT64_MAX - first ? UINT64_MAX : first + ns;
}

/* Half a nanosecond is rounded up, as perf does. */
static uint64_t share_of(uint64_t span, uint64_t percent)
{
	return (uint64_t)(((hlg_wide)span * percent + UINT64_C(50000000000)) /
			  UINT64_C(100000000000));
}

struct hlg_select_window hlg_select_window_of(const struct hlg_options *o, uint64_t first,
					      uint64_t last)
{
	struct hlg_select_window w = hlg_select_window(o);

	w.open = false;
	if (o->time_unit == HLG_TIME_OFFSET) {
		/* What comes a little before the first one is not left out by +0. */
		w.start = o->start ? behind(first, o->start) : 0;
		w.stop = behind(first, o->stop);
	} else if (o->time_unit == HLG_TIME_PERCENT) {
		w.start = behind(first, share_of(last - first, o->start));
		w.stop = behind(first, share_of(last - first, o->stop));
		/* The last sample is of the last slice. */
		w.stop += o->stop == UINT64_C(100000000000);
	}
	return w;
}

bool hlg_select_restricts(const struct hlg_options *options)
{
	return options->pid.n || options->tid.n || options->cpu.n || options->sandbox.n ||
	       timed(options);
}

bool hlg_select_is(const struct hlg_options *options)
{
	return options->event || hlg_select_restricts(options);
}

struct hlg_options hlg_select_all(const struct hlg_options *options)
{
	struct hlg_options all = *options;

	all.pid = all.tid = all.cpu = all.sandbox = (struct hlg_number_list){0};
	all.start = 0;
	all.stop = UINT64_MAX;
	all.event = all.selection = all.selected_by = NULL;
	return all;
}

bool hlg_select_whole_sandboxes(const struct hlg_options *options)
{
	return options->sandbox.n && !options->pid.n && !options->tid.n &&
	       !options->cpu.n && !options->event && !timed(options);
}

bool hlg_select_keeps(const struct hlg_options *options,
		      const struct hlg_select_window *window,
		      const struct hlg_sample *sample)
{
	if (options->pid.n && !hlg_number_list_has(&options->pid, sample->pid))
		return false;
	if (options->tid.n && !hlg_number_list_has(&options->tid, sample->tid))
		return false;
	if (options->cpu.n && !hlg_number_list_has(&options->cpu, sample->cpu))
		return false;
	if (options->sandbox.n &&
	    !hlg_number_list_has(&options->sandbox, sample->sandbox))
		return false;
	if (!timed(options))
		return true;
	return sample->time != HLG_NO_TIME && sample->time >= window->start &&
	       sample->time < window->stop;
}

bool hlg_select_lacks(const struct hlg_options *options, const struct hlg_sample *sample)
{
	return (options->cpu.n && sample->cpu < 0) ||
	       (options->pid.n && sample->pid < 0) ||
	       (options->tid.n && sample->tid < 0) ||
	       (timed(options) && sample->time == HLG_NO_TIME);
}

bool hlg_select_by_terms(const struct hlg_options *options)
{
	char *plain = options->event ? hlg_event_plain(options->event) : NULL;
	bool is = plain && strcmp(plain, options->event) != 0;

	free(plain);
	return is;
}

bool hlg_select_event(const struct hlg_options *options, const char *name)
{
	const char *pattern = options->event;
	char *plain, *of_pattern;
	bool is;

	if (!pattern || fnmatch(pattern, name, 0) == 0)
		return true;
	plain = hlg_event_plain(name);
	of_pattern = hlg_event_plain(pattern);
	if (!plain || !of_pattern)
		is = false;
	else if (strcmp(of_pattern, pattern) == 0)
		is = fnmatch(pattern, plain, 0) == 0;
	else /* of a saved profile */
		is = strcmp(plain, name) == 0 && fnmatch(of_pattern, name, 0) == 0;
	free(plain);
	free(of_pattern);
	return is;
}
