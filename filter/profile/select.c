// SPDX-License-Identifier: GPL-2.0-only
#include "filter/profile/select.h"

#include <fnmatch.h>

static bool timed(const struct hlg_options *options)
{
	return options->start != 0 || options->stop != UINT64_MAX;
}

bool hlg_select_restricts(const struct hlg_options *options)
{
	return options->pid.n || options->tid.n || options->cpu.n || timed(options);
}

bool hlg_select_keeps(const struct hlg_options *options, const struct hlg_sample *sample)
{
	if (options->pid.n && !hlg_number_list_has(&options->pid, sample->pid))
		return false;
	if (options->tid.n && !hlg_number_list_has(&options->tid, sample->tid))
		return false;
	if (options->cpu.n && !hlg_number_list_has(&options->cpu, sample->cpu))
		return false;
	if (!timed(options))
		return true;
	return sample->time != HLG_NO_TIME && sample->time >= options->start &&
	       sample->time < options->stop;
}

bool hlg_select_lacks(const struct hlg_options *options, const struct hlg_sample *sample)
{
	return (options->cpu.n && sample->cpu < 0) ||
	       (options->pid.n && sample->pid < 0) ||
	       (options->tid.n && sample->tid < 0) ||
	       (timed(options) && sample->time == HLG_NO_TIME);
}

bool hlg_select_event(const struct hlg_options *options, const char *name)
{
	return !options->event || fnmatch(options->event, name, 0) == 0;
}
