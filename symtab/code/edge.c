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
	bool lost;        /* no memory */
	uint64_t returns; /* return point of the last instruction, if that is a call; else
			     0 */
};

static void add(struct scan *scan, struct addrs *to, uint64_t addr)
{
	if (HLG_GROW(to->at, to->n))
		to->at[to->n++] = addr;
	else
		scan->lost = true;
}

static void look(void *ctx, uint64_t addr, const struct hlg_insn *insn)
{
	struct scan *scan = ctx;

	add(scan, &scan->insns, addr);
	if (scan->returns && scan->returns == addr)
		add(scan, &scan->ins, addr);
	scan->returns = insn->flow == HLG_FLOW_CALL ? addr + insn->length : 0;
	if (insn->flow == HLG_FLOW_BRANCH && insn->direct &&
	    insn->target >= scan->place->start && insn->target < scan->place->end)
		add(scan, &scan->ins, insn->target);
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

	add(&scan, &scan.ins, place->start);
	if (!hlg_code_walk(code, place, look, &scan))
		scan.lost = true;
	if (!scan.lost) {
		qsort(scan.ins.at, scan.ins.n, sizeof(*scan.ins.at), hlg_bsearch_compare);
		keep_near(&scan, reach);
	}
	free(scan.ins.at);
	edges->addrs = scan.insns.at;
	edges->n = scan.insns.n;
	return !scan.lost;
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
