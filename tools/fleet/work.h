/* SPDX-License-Identifier: GPL-2.0-only */
/* What an engine runs, on whichever machine: a task, and the sum of all. Each runs
 * hlguest itself, by fork and exec; nothing is searched, no shell. */
#ifndef HLG_TOOLS_FLEET_WORK_H
#define HLG_TOOLS_FLEET_WORK_H

#include "tools/fleet/command.h"
#include "tools/fleet/plan.h"
#include "tools/pprof/pprof.h"

/* Is the part of a task whole? Then *of is what it says of itself; else *err is why not.
 */
bool hlg_fleet_work_is_whole(const struct hlg_fleet_plan *plan, size_t task,
			     struct hlg_pprof_of *of, struct hlg_err *err);

/*
 * *c becomes the words with which a task runs report; the caller finishes it.
 */
void hlg_fleet_work_words(struct hlg_fleet_command *c, const struct hlg_fleet_plan *plan,
			  size_t task);

/* Runs a task, in the plan's folder. Returns the exit status: 0 if its part is whole,
 * whatever could not be read for it. */
int hlg_fleet_work_map(const struct hlg_fleet_plan *plan, size_t task);

/*
 * Sums all parts, if all are whole, and saves the sum by report, which tests it by its
 * addresses. Returns the exit status: that of report, or 1.
 */
int hlg_fleet_work_reduce(const struct hlg_fleet_plan *plan);

/* Both: tasks here, so many at a time, then the sum if none failed. */
int hlg_fleet_work_local(const struct hlg_fleet_plan *plan, const size_t *tasks,
			 size_t n);

#endif
