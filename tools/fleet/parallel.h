/* SPDX-License-Identifier: GPL-2.0-only */
/* GNU parallel: one command with all tasks, which it runs here or on other machines, with
 * a shared file system or by sending what a task reads (engine.h). */
#ifndef HLG_TOOLS_FLEET_PARALLEL_H
#define HLG_TOOLS_FLEET_PARALLEL_H

#include "tools/fleet/command.h"
#include "tools/fleet/plan.h"

/* Fails if a name has what parallel replaces. */
int hlg_fleet_parallel_check(const struct hlg_fleet_plan *plan, struct hlg_err *err);

/* The command for n tasks; parallel is its first word. */
void hlg_fleet_parallel_make(struct hlg_fleet_command *c,
			     const struct hlg_fleet_plan *plan, const char *parallel,
			     const size_t *tasks, size_t n);

/* Runs n tasks, then the sum, whose exit status *status becomes. Fails if not all tasks
 * have run. */
int hlg_fleet_parallel_submit(const struct hlg_fleet_plan *plan, const size_t *tasks,
			      size_t n, int *status, struct hlg_err *err);

#endif
