/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How far a fleet is: which tasks have a whole part, and whether the sum is of these.
 */
#ifndef HLG_FLEET_STATUS_H
#define HLG_FLEET_STATUS_H

#include <stdbool.h>
#include <stddef.h>

#include "symtab/err.h"
#include "tools/fleet/plan.h"
#include "tools/pprof/pprof.h"

/* Tasks that are to be run. */
struct hlg_fleet_status_to_do {
	size_t *tasks; /* their numbers; freed by whom it is */
	size_t n;
	struct hlg_err why; /* the part of one, which is there, is not whole; or "" */
};

/* False without memory. */
bool hlg_fleet_status_add(struct hlg_fleet_status_to_do *to_do, size_t task);

/* Adds the tasks that have no whole part; *sums: what the parts of the others are of. */
int hlg_fleet_status_find(struct hlg_fleet_status_to_do *to_do,
			  const struct hlg_fleet_plan *plan, struct hlg_pprof_of *sums,
			  struct hlg_err *err);

/* Prints it, from the folder where the fleet was submitted. Returns the exit status: 1
 * where something is missing; or fails. */
int hlg_fleet_status_show(const struct hlg_fleet_plan *plan, struct hlg_err *err);

#endif
