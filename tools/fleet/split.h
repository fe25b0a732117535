/* SPDX-License-Identifier: GPL-2.0-only */
/* Which recordings does each task read? About as many bytes as any other. */
#ifndef HLG_TOOLS_FLEET_SPLIT_H
#define HLG_TOOLS_FLEET_SPLIT_H

#include "tools/fleet/plan.h"
#include "tools/inputs/list.h"

/* Recordings, and which task reads each. All zero at first. */
struct hlg_fleet_split {
	char **names; /* sorted, each once; not owned */
	uint64_t *bytes;
	size_t *tasks;
	size_t n;
};

/*
 * Divides the recordings of a list, whose names it sorts, among at most n_tasks: the
 * largest first, each to the task that has the least. Sets the plan's tasks, but not the
 * digests; one that is named twice counts once, and standard error says so. One that is
 * not there, or denied, has 0 bytes; if a size cannot be read otherwise, it fails. Finish
 * it in any case.
 */
int hlg_fleet_split(struct hlg_fleet_split *split, struct hlg_list *list, size_t n_tasks,
		    struct hlg_fleet_plan *plan, struct hlg_err *err);

/* Sets the digest of each task's list, and writes the list if that is wanted. */
int hlg_fleet_split_write(const struct hlg_fleet_split *split,
			  struct hlg_fleet_plan *plan, bool wanted, struct hlg_err *err);

void hlg_fleet_split_finish(struct hlg_fleet_split *split);

#endif
