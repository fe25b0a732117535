/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the frames of a tree lie in a flame graph: side by side above their parent, each
 * as wide as its weight. What is too narrow to be seen is left out, with all above it,
 * and counted.
 */
#ifndef HLG_TOOLS_FLAME_LAYOUT_H
#define HLG_TOOLS_FLAME_LAYOUT_H

#include "filter/stacks/tree.h"

#define HLG_LAYOUT_WIDTH 1000000 /* of the whole, in the units of left and right */

struct hlg_box {
	uint32_t node;
	uint64_t at;          /* weight to the left of it */
	uint32_t left, right; /* a child's lie within its parent's */
};

struct hlg_layout {
	/* As the nodes of the tree: parents before children; [0] is the root. */
	struct hlg_box *boxes;
	uint32_t n;
	uint32_t depth; /* of the highest box */
	uint64_t total; /* weight of the root */
	uint32_t n_hidden;
	struct hlg_count hidden; /* of the lowest that are left out: each sample once */
};

/*
 * Boxes for the nodes of a settled tree that have at least such a share of its weight,
 * and any weight; the root in any case. False without memory; the caller finishes the
 * layout in any case.
 */
bool hlg_layout_make(struct hlg_layout *layout, const struct hlg_tree *tree,
		     enum hlg_weight weight, double least);
void hlg_layout_finish(struct hlg_layout *layout);

#endif
