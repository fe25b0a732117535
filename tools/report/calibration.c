// SPDX-License-Identifier: GPL-2.0-only
#include "tools/report/calibration.h"

#include <string.h>

#include "filter/options/options.h"
#include "tools/perfdata/perfdata.h"

/* Only what samples by time or by a counter can be late. */
static bool can_skid(const struct hlg_event *event)
{
	return event->selected && !event->member &&
	       (event->kind == HLG_EVENT_TIMER || event->kind == HLG_EVENT_COUNTER ||
		event->kind == HLG_EVENT_UNKNOWN);
}

/* The largest window of the events; false if none is known. */
static bool find_window(struct hlg_run *run,
			const struct hlg_calibration_file *calibrated, uint64_t *window)
{
	const struct hlg_profile *profile = &run->profile;
	bool any = false;
	char within[48];

	*window = 0;
	for (uint32_t i = 0; i < profile->n_events; i++) {
		const struct hlg_event *event = &profile->events[i];
		const struct hlg_calibration_file_event *found;

		if (!can_skid(event))
			continue;
		found = hlg_calibration_file_find(calibrated, event->name,
						  event->precise_ip);
		if (!found || !found->known) {
			hlg_run_remark(run, "calibration: it has no figures for %s",
				       event->name);
			continue;
		}
		hlg_run_remark(run, "calibration: how late samples of %s land: %s",
			       event->name,
			       hlg_calibration_file_within(within, found->window));
		*window = found->window > *window ? found->window : *window;
		any = true;
	}
	return any;
}

/* A recording tells its processor; one that cannot be opened again tells nothing. */
static void compare_processors(struct hlg_run *run,
			       const struct hlg_calibration_file *calibrated,
			       char *const *paths, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct hlg_perfdata *pd = NULL;
		struct hlg_err err;
		const char *cpu;

		if (strcmp(paths[i], "-") == 0 ||
		    hlg_perfdata_open(&pd, paths[i], &err) < 0)
			continue;
		cpu = hlg_perfdata_host(pd)->cpu;
		if (cpu &&
		    strncmp(cpu, calibrated->cpu, sizeof(calibrated->cpu) - 1) != 0)
			hlg_run_remark(run,
				       "calibration: it is of another processor (%s) "
				       "than %s (%s)",
				       calibrated->cpu, paths[i], cpu);
		hlg_perfdata_close(pd);
	}
}

int hlg_report_calibration_apply(struct hlg_run *run,
				 const struct hlg_calibration_file *calibrated,
				 const char *file, char *const *paths, size_t n,
				 struct hlg_err *err)
{
	uint64_t window;

	if (!calibrated->holds)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: known results were measured wrongly, so its "
				   "figures mean nothing (calibrate again)",
				   file);
	hlg_run_remark(run, "calibration: %s, %s, %s", calibrated->date, calibrated->cpu,
		       calibrated->kernel);
	compare_processors(run, calibrated, paths, n);
	if (!find_window(run, calibrated, &window))
		return 0;
	if (hlg_options_given(&run->options, "skid"))
		hlg_run_remark(run, "calibration: not used, because skid= is given");
	else
		run->options.skid = window;
	return 0;
}
