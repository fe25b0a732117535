/* SPDX-License-Identifier: GPL-2.0-only */
/* The stacks that a flame graph draws of one side, as a report and as a tree. */
#ifndef HLG_TOOLS_FLAME_STACKS_H
#define HLG_TOOLS_FLAME_STACKS_H

#include "filter/stacks/tree.h"
#include "tools/inputs/sides.h"

struct hlg_flame_stacks {
	struct hlg_report report;
	struct hlg_tree tree;
};

/* Whole stacks are what a flame graph is for, where there are any: if samples have
 * callchains, and the words do not say what is wanted. */
bool hlg_flame_stacks_are_whole(const struct hlg_inputs *in);

/*
 * Builds report and tree of a side that was read. like, if not NULL, is another side:
 * images are called as its are, in their order, so that frames of two builds can be
 * compared. The caller finishes the stacks in any case; they are all zero before.
 */
int hlg_flame_stacks_build(struct hlg_flame_stacks *stacks, struct hlg_side *side,
			   const struct hlg_side *like, struct hlg_err *err);

/*
 * How many observations the tree's weight is worth (filter/stats/interval.h). Of the
 * host's periods only the sum is known: they are taken to vary as the guest's do.
 */
double hlg_flame_stacks_observations(const struct hlg_flame_stacks *stacks,
				     enum hlg_weight weight);

void hlg_flame_stacks_finish(struct hlg_flame_stacks *stacks);

#endif
