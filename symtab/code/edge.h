/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Edges: addresses that a late sample reaches from elsewhere.
 *
 * A sample that skids by a few instructions does so along the flow of control. So it may
 * belong to another function or block if it lies shortly behind a place where control
 * comes in: a function's entry, the return point of a call, the target of a branch that
 * stands in that function. (Targets of indirect branches are not known.)
 *
 * All addresses are the image's own.
 */
#ifndef HLG_SYMTAB_CODE_EDGE_H
#define HLG_SYMTAB_CODE_EDGE_H

#include "symtab/code/code.h"

/* The instructions of one function or label that are at an edge, by address. */
struct hlg_edges {
	uint64_t *addrs;
	size_t n;
};

/*
 * Finds the edges of a function or label of the code's image: from each address where
 * control comes in, the first `reach` instructions. False without memory; the caller
 * finishes *edges in any case.
 */
bool hlg_edge_find(struct hlg_edges *edges, struct hlg_code *code,
		   const struct hlg_place *place, uint64_t reach);

/* Is an instruction that begins at addr at an edge? */
bool hlg_edge_has(const struct hlg_edges *edges, uint64_t addr);

void hlg_edge_finish(struct hlg_edges *edges);

#endif
