/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A flame graph as one SVG: frames as wide as their weight, each above the one that
 * called it; coloured by what they are, or, of two recordings, by what changed. Titles
 * tell of each frame what it holds. It needs nothing from elsewhere, is complete without
 * its script, and follows the reader's colours (prefers-color-scheme).
 *
 * The script zooms, searches and goes by keys. It reads the elements alone: no name is in
 * the script's text (tools/page/flame-svg.js says what it expects).
 */
#ifndef HLG_TOOLS_FLAME_FLAME_H
#define HLG_TOOLS_FLAME_FLAME_H

#include <stdio.h>

#include "filter/report/report.h"
#include "filter/stacks/tree.h"
#include "filter/stats/compare.h"

/*
 * Two trees of stacks compared, frame by frame: a frame is the same one where its kind,
 * its name and all below it are. Shares are of each tree's whole weight, tested as
 * filter/stats/compare.h says, samples against samples; what is called significant holds
 * its false discovery rate over all frames of both trees.
 *
 * Where one tree alone has frames of the host, these have no other side, and shares are
 * of what is left.
 */
struct hlg_change {
	bool alone;           /* no other side: nothing else is set */
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
	uint32_t n_significant;       /* of nodes and gone */
	bool host_before, host_after; /* that side alone has frames of the host */
};

/* A side of a graph: its tree, settled, and the effective observations that it holds; of
 * its texts alone, the report that the tree was built from, of so many recordings. */
struct hlg_flame_side {
	const struct hlg_tree *tree;
	double observations;
	const struct hlg_report *report;
	size_t n_recordings;
};

/*
 * Both trees outlive *changes. False without memory; the caller finishes it in any case.
 */
bool hlg_changes_make(struct hlg_changes *changes, const struct hlg_flame_side *before,
		      const struct hlg_flame_side *after, enum hlg_weight weight);
void hlg_changes_finish(struct hlg_changes *changes);

/*
 * Where the frames of a tree lie: side by side above their parent, each as wide as its
 * weight. What is too narrow to be seen is left out, with all above it, and counted.
 */
#define HLG_LAYOUT_WIDTH 1000000 /* of the whole, in the units of left and right */
#define HLG_SHADES       8

struct hlg_box {
	uint32_t node;
	uint64_t at;          /* weight to the left of it */
	uint32_t left, right; /* a child's lie within its parent's */
	uint8_t shade;        /* of its kind's colour: below HLG_SHADES */
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

#define HLG_GRAPH_COLUMNS                                                                \
	60 /* of a line of text: what a telephone is wide enough for                     \
	    */

/* Texts of a graph, by where they stand. They are broken between words. */
enum hlg_graph_texts {
	HLG_GRAPH_WARN, /* under the title, not to be missed */
	HLG_GRAPH_HEAD, /* below these */
	HLG_GRAPH_NOTE, /* under the frames */
	HLG_N_GRAPH_TEXTS
};

struct hlg_graph {
	const struct hlg_tree *tree;     /* settled */
	const struct hlg_layout *layout; /* of it */
	enum hlg_weight weight;          /* that the layout has */
	double observations;             /* effective, of the whole weight */
	bool inverted;                   /* the root above */
	bool clock;                      /* periods are nanoseconds */
	bool leaves; /* compared without callers: one side alone had callchains */
	bool guests; /* compared without the host: one side alone had its stacks */
	const char *title;
	struct hlg_note_list texts[HLG_N_GRAPH_TEXTS];
	const struct hlg_changes *changes; /* NULL: frames are coloured by kind */
};

/*
 * Boxes for the nodes of a settled tree that have at least such a share of its weight,
 * and any weight; the root in any case. False without memory; the caller finishes the
 * layout in any case.
 */
bool hlg_graph_layout(struct hlg_layout *layout, const struct hlg_tree *tree,
		      enum hlg_weight weight, double least);
void hlg_graph_layout_finish(struct hlg_layout *layout);

/*
 * A shade for each box by its name, the same one wherever that name stands; where it
 * stands first, another one than those of the boxes beside and below it. The layout's
 * names alone decide. False without memory.
 */
bool hlg_shades_assign(struct hlg_layout *layout, const struct hlg_tree *tree);

/* Write errors stay on the stream. Fails only without memory. */
int hlg_graph_write(FILE *f, const struct hlg_graph *graph, struct hlg_err *err);

/*
 * Adds to the graph's texts what is to be said of a graph whose tree is after's; before
 * is NULL, or the side that graph->changes compare it with. least: the share of the
 * narrowest frame. Returns false without memory.
 */
bool hlg_facts_add(struct hlg_graph *graph, const struct hlg_flame_side *after,
		   const struct hlg_flame_side *before, double least);

#endif
