/* SPDX-License-Identifier: GPL-2.0-only */
/* What a flame graph says besides its frames: what they are of, and what is missing. */
#ifndef HLG_TOOLS_FLAME_FACTS_H
#define HLG_TOOLS_FLAME_FACTS_H

#include "filter/report/report.h"
#include "tools/flame/graph.h"

struct hlg_facts {
	struct hlg_graph_text *texts;
	size_t n;
	bool lost; /* for want of memory */
};

/* A side of a graph: the report its tree was built from, of so many recordings. */
struct hlg_facts_side {
	const struct hlg_report *report;
	const struct hlg_tree *tree;
	size_t n_recordings;
};

/*
 * Adds what is to be said of a graph whose tree is after's; before is NULL, or the side
 * that graph->changes compare it with. least: the share of the narrowest frame. Returns
 * false without memory; the caller finishes the facts in any case.
 */
bool hlg_facts_make(struct hlg_facts *facts, const struct hlg_graph *graph,
		    const struct hlg_facts_side *after,
		    const struct hlg_facts_side *before, double least);

void hlg_facts_finish(struct hlg_facts *facts);

#endif
