/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Folded stacks, the input of flame graph tools: a line `frame;frame NUMBER` for each
 * stack of a tree, the caller of all others first. The number is the weight; stacks
 * without any have no line, and the lines sum to the weight of the root.
 */
#ifndef HLG_FILTER_WRITE_FOLDED_H
#define HLG_FILTER_WRITE_FOLDED_H

#include <stdio.h>

#include "filter/stacks/tree.h"

/* Fails if lines of stacks, which repeat the names of all frames, would be longer than
 * any names need: one long name can stand in each frame of a small recording. */
int hlg_folded_check(const struct hlg_tree *tree, enum hlg_weight weight,
		     struct hlg_err *err);

/* Names are escaped, a ';' in them is written as ':'. Fails as hlg_folded_check does;
 * errors of writing stay on the stream. */
int hlg_folded_write(FILE *f, const struct hlg_tree *tree, enum hlg_weight weight,
		     struct hlg_err *err);

/*
 * A frame, escaped. What ends a frame, ';', becomes ':'; and of a name that ends like a
 * count, as "pass 2", the last blank is written as \x20: flamegraph.pl takes a number
 * behind a blank for a second count, and cuts it off.
 */
void hlg_folded_frame(FILE *f, const char *name);

#endif
