/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Engines: who finds machines for tasks, begins them, and tries again. Slurm gets a job
 * array and a job that waits for all of it; GNU parallel a list of commands. Both run
 * `hlguest fleet map` and `fleet reduce`, by the path that this program has here.
 */
#ifndef HLG_TOOLS_FLEET_ENGINE_H
#define HLG_TOOLS_FLEET_ENGINE_H

#include "tools/fleet/plan.h"

/* Fails if the plan's engine would not take a name as it is. */
int hlg_fleet_engine_check(const struct hlg_fleet_plan *plan, struct hlg_err *err);

/*
 * Prints the commands by which hlg_fleet_engine_submit would hand over n tasks, for a
 * shell, and what the first task runs; of local, where there is no command, what each
 * task runs; and the sum. Does nothing: what is sent stands in files (plan.h) that are
 * not written here.
 */
int hlg_fleet_engine_print(const struct hlg_fleet_plan *plan, const size_t *tasks,
			   size_t n, struct hlg_err *err);

/*
 * Hands n tasks, and then the sum, to the plan's engine. Slurm has them when this
 * returns, the others have run them. Returns the exit status.
 */
int hlg_fleet_engine_submit(const struct hlg_fleet_plan *plan, const size_t *tasks,
			    size_t n);

/* Prints what the engine says of its jobs, if it says anything. */
void hlg_fleet_engine_status(const struct hlg_fleet_plan *plan);

#endif
