/* SPDX-License-Identifier: GPL-2.0-only */
/* One side of a flame graph: its recordings, from words to a tree of stacks. */
#ifndef HLG_TOOLS_FLAME_SIDE_H
#define HLG_TOOLS_FLAME_SIDE_H

#include "filter/stacks/tree.h"
#include "tools/inputs/inputs.h"

/* All zero before start; it must not move afterwards. */
struct hlg_flame_side {
	struct hlg_run run;
	struct hlg_batch batch;
	struct hlg_report report;
	struct hlg_tree tree;
};

/*
 * From the words of inputs, with images instead of its own if there are any. Host and
 * guest are shown unless the words say otherwise, and all rows. The caller finishes the
 * side in any case.
 */
int hlg_flame_side_start(struct hlg_flame_side *side, const struct hlg_inputs *in,
			 char *const *images, size_t n_images, struct hlg_err *err);

/* As hlg_inputs_read, from these files; they outlive the side. */
int hlg_flame_side_read(struct hlg_flame_side *side, const struct hlg_inputs *in,
			char **files, size_t n_files, int *status, struct hlg_err *err);

/*
 * Builds report and tree. like, if not NULL, is another side: images are called as its
 * are, in their order, so that frames of two builds can be compared.
 */
int hlg_flame_side_build(struct hlg_flame_side *side, const struct hlg_flame_side *like,
			 struct hlg_err *err);

/*
 * How many observations the tree's weight is worth (filter/stats/interval.h). Of the
 * host's periods only the sum is known: they are taken to vary as the guest's do.
 */
double hlg_flame_side_observations(const struct hlg_flame_side *side,
				   enum hlg_weight weight);

void hlg_flame_side_finish(struct hlg_flame_side *side);

#endif
