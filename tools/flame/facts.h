/* SPDX-License-Identifier: GPL-2.0-only */
/* What a flame graph says besides its frames: what they are of, and what is missing. */
#ifndef HLG_TOOLS_FLAME_FACTS_H
#define HLG_TOOLS_FLAME_FACTS_H

#include "filter/report/report.h"
#include "tools/flame/graph.h"

/* A side of a graph: the report its tree was built from, of so many recordings. */
struct hlg_facts_side {
	const struct hlg_report *report;
	const struct hlg_tree *tree;
	size_t n_recordings;
};

/*
 * Adds to the graph's texts what is to be said of a graph whose tree is after's; before
 * is NULL, or the side that graph->changes compare it with. least: the share of the
 * narrowest frame. Returns false without memory.
 */
bool hlg_facts_add(struct hlg_graph *graph, const struct hlg_facts_side *after,
		   const struct hlg_facts_side *before, double least);

#endif
