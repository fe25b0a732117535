// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/code/edge.h"

#include <stdlib.h>

#include "symtab/bsearch.h"
#include "symtab/grow.h"

struct addrs {
	uint64_t *at;
	size_t n;
};

struct scan {
	struct addrs insns, ins; /* instructions; where control comes in */
	const struct hlg_place *place;
	uint64_t returns; /* return point of the last instruction, if that is a call; else
			     0 */
};

static bool add(struct addrs *to, uint64_t addr)
{
	if (!HLG_GROW(to->at, to->n))
		return false;
	to->at[to->n++] = addr;
	return true;
}

static bool look(void *ctx, uint64_t addr, const struct hlg_insn *insn)
{
	struct scan *scan = ctx;
	bool returns = scan->returns && scan->returns == addr;
	bool inside = insn->flow == HLG_FLOW_BRANCH && insn->direct &&
		      insn->target >= scan->place->start &&
		      insn->target < scan->place->end;

	scan->returns = insn->flow == HLG_FLOW_CALL ? addr + insn->length : 0;
	return add(&scan->insns, addr) && (!returns || add(&scan->ins, addr)) &&
	       (!inside || add(&scan->ins, insn->target));
}

/* Keeps the instructions that are among the first from a place where control comes in. */
static void keep_near(struct scan *scan, uint64_t reach)
{
	size_t n = 0, in = 0;
	uint64_t left = 0;

	for (size_t i = 0; i < scan->insns.n; i++) {
		uint64_t addr = scan->insns.at[i];

		while (in < scan->ins.n && scan->ins.at[in] < addr)
			in++; /* into the middle of an instruction */
		if (in < scan->ins.n && scan->ins.at[in] == addr)
			left = reach;
		if (left) {
			left--;
			scan->insns.at[n++] = addr;
		}
	}
	scan->insns.n = n;
}

bool hlg_edge_find(struct hlg_edges *edges, struct hlg_code *code,
		   const struct hlg_place *place, uint64_t reach)
{
	struct scan scan = {.place = place};
	bool ok = add(&scan.ins, place->start) && hlg_code_walk(code, place, look, &scan);

	if (ok) {
		qsort(scan.ins.at, scan.ins.n, sizeof(*scan.ins.at), hlg_bsearch_compare);
		keep_near(&scan, reach);
	}
	free(scan.ins.at);
	edges->addrs = scan.insns.at;
	edges->n = scan.insns.n;
	return ok;
}

bool hlg_edge_has(const struct hlg_edges *edges, uint64_t addr)
{
	return edges->n && bsearch(&addr, edges->addrs, edges->n, sizeof(*edges->addrs),
				   hlg_bsearch_compare);
}

void hlg_edge_finish(struct hlg_edges *edges)
{
	free(edges->addrs);
	*edges = (struct hlg_edges){0};
}
