/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two trees of stacks compared, frame by frame: a frame is the same one where its kind,
 * its name and all below it are. Shares are of each tree's whole weight, tested as
 * filter/stats/compare.h says, samples against samples; what is called significant holds
 * its false discovery rate over all frames of both trees.
 */
#ifndef HLG_TOOLS_FLAME_CHANGES_H
#define HLG_TOOLS_FLAME_CHANGES_H

#include "filter/stacks/tree.h"
#include "filter/stats/compare.h"

struct hlg_change {
	double before, after; /* shares */
	struct hlg_compared compared;
	bool significant;
};

/* A frame that only the tree before has, though it has the one below. */
struct hlg_gone {
	const char *name; /* the tree's */
	struct hlg_change change;
};

struct hlg_changes {
	struct hlg_change *nodes; /* of each node of the tree after */
	struct hlg_gone *gone;    /* the largest first */
	uint32_t n_gone;
	uint32_t n_significant; /* of nodes and gone */
};

/* A side: its tree, settled, and the effective observations that it holds. */
struct hlg_change_side {
	const struct hlg_tree *tree;
	double observations;
};

/*
 * Both trees outlive *changes. False without memory; the caller finishes it in any case.
 */
bool hlg_changes_make(struct hlg_changes *changes, const struct hlg_change_side *before,
		      const struct hlg_change_side *after, enum hlg_weight weight);
void hlg_changes_finish(struct hlg_changes *changes);

#endif
