/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A flame graph as one SVG: frames as wide as their weight, each above the one that
 * called it; coloured by what they are, or, of two recordings, by what changed. Titles
 * tell of each frame what it holds. It needs nothing from elsewhere, is complete without
 * its script, and follows the reader's colours (prefers-color-scheme).
 *
 * The script zooms, searches and goes by keys. It reads the elements alone: no name is in
 * the script's text (flame.js says what it expects).
 */
#ifndef HLG_TOOLS_FLAME_GRAPH_H
#define HLG_TOOLS_FLAME_GRAPH_H

#include <stdio.h>

#include "symtab/err.h"
#include "tools/flame/changes.h"
#include "tools/flame/layout.h"

#define HLG_GRAPH_COLUMNS 140 /* of a line of text, about */

enum hlg_graph_line {
	HLG_GRAPH_HEAD, /* under the title */
	HLG_GRAPH_WARN, /* the same, not to be missed */
	HLG_GRAPH_NOTE  /* under the frames */
};

struct hlg_graph_text {
	enum hlg_graph_line line;
	char *text; /* not escaped; broken between words */
};

struct hlg_graph {
	const struct hlg_tree *tree;     /* settled */
	const struct hlg_layout *layout; /* of it */
	enum hlg_weight weight;          /* that the layout has */
	double observations;             /* effective, of the whole weight */
	bool inverted;                   /* the root above */
	const char *title;
	const struct hlg_graph_text *texts;
	size_t n_texts;
	const struct hlg_changes *changes; /* NULL: frames are coloured by kind */
};

/* Write errors stay on the stream. Fails only without memory. */
int hlg_graph_write(FILE *f, const struct hlg_graph *graph, struct hlg_err *err);

#endif
