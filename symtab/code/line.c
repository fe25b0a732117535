// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/code/line.h"

#include <stdlib.h>

#include "symtab/bsearch.h"
#include "symtab/grow.h"

struct addrs {
	uint64_t *at;
	size_t n;
};

struct scan {
	struct hlg_lines *lines;
	const struct hlg_place *place;
	struct addrs targets;      /* of branches inside the place */
	struct addrs heads, tails; /* of its loops: targets of branches back, and these */
	uint64_t next;             /* behind the last instruction, if that runs on, */
	enum hlg_leave before;     /* and what it is then */
	bool branched;             /* it is a branch */
};

static bool push(struct addrs *to, uint64_t addr)
{
	if (!HLG_GROW(to->at, to->n))
		return false;
	to->at[to->n++] = addr;
	return true;
}

static bool add_target(struct scan *scan, uint64_t addr, uint64_t target)
{
	if (target < scan->place->start || target >= scan->place->end)
		return true;
	if (target <= addr && (!push(&scan->heads, target) || !push(&scan->tails, addr)))
		return false;
	return push(&scan->targets, target);
}

static bool look(void *ctx, uint64_t addr, const struct hlg_insn *insn)
{
	struct scan *scan = ctx;
	struct hlg_lines *to = scan->lines;
	bool on = to->n && addr == scan->next;
	uint32_t line = to->n ? to->insn[to->n - 1].line : 0;

	if (insn->flow == HLG_FLOW_BRANCH && insn->direct &&
	    !add_target(scan, addr, insn->target))
		return false;
	if (!HLG_GROW(to->insn, to->n))
		return false;
	line += to->n && (!on || scan->branched);
	to->insn[to->n++] =
		(struct hlg_line_insn){.addr = addr,
				       .line = line,
				       .leave = insn->leave,
				       .before = on ? scan->before : HLG_LEAVE_NEVER};
	scan->next = insn->ends ? 0 : addr + insn->length;
	scan->before = insn->leave;
	scan->branched = insn->flow == HLG_FLOW_BRANCH;
	return true;
}

/* Begins a line at each target, too. */
static void split(const struct scan *scan)
{
	const struct hlg_lines *lines = scan->lines;
	uint32_t more = 0;
	size_t next = 0;

	for (size_t i = 0; i < lines->n; i++) {
		struct hlg_line_insn *insn = &lines->insn[i];

		while (next < scan->targets.n && scan->targets.at[next] < insn->addr)
			next++; /* into the middle of an instruction, or met */
		insn->line += more;
		if (i && next < scan->targets.n && scan->targets.at[next] == insn->addr &&
		    insn->line == insn[-1].line) {
			insn->line++;
			more++;
		}
	}
}

/* Loops that have begun and not ended at an instruction have it. */
static void find_loops(const struct scan *scan)
{
	const struct hlg_lines *lines = scan->lines;
	size_t begun = 0, ended = 0;

	for (size_t i = 0; i < lines->n; i++) {
		struct hlg_line_insn *insn = &lines->insn[i];

		while (begun < scan->heads.n && scan->heads.at[begun] <= insn->addr)
			begun++;
		while (ended < scan->tails.n && scan->tails.at[ended] < insn->addr)
			ended++;
		insn->loops = begun > ended;
	}
}

static void sort(struct addrs *addrs)
{
	if (addrs->n)
		qsort(addrs->at, addrs->n, sizeof(*addrs->at), hlg_bsearch_compare);
}

bool hlg_line_find(struct hlg_lines *lines, struct hlg_code *code,
		   const struct hlg_place *place)
{
	struct scan scan = {.lines = lines, .place = place};
	bool ok;

	*lines = (struct hlg_lines){0};
	ok = hlg_code_walk(code, place, look, &scan);
	if (ok) {
		sort(&scan.targets);
		sort(&scan.heads);
		sort(&scan.tails);
		split(&scan);
		find_loops(&scan);
	}
	free(scan.targets.at);
	free(scan.heads.at);
	free(scan.tails.at);
	return ok;
}

void hlg_line_finish(struct hlg_lines *lines)
{
	free(lines->insn);
	*lines = (struct hlg_lines){0};
}
