// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/code/line.h"

#include <stdlib.h>

#include "symtab/bsearch.h"
#include "symtab/grow.h"

struct scan {
	struct hlg_lines *lines;
	const struct hlg_place *place;
	uint64_t *targets; /* of branches inside the place */
	size_t n_targets;
	uint64_t next;         /* behind the last instruction, if that runs on, */
	enum hlg_leave before; /* and what it is then */
	bool branched;         /* it is a branch */
};

static bool look(void *ctx, uint64_t addr, const struct hlg_insn *insn)
{
	struct scan *scan = ctx;
	struct hlg_lines *to = scan->lines;
	bool on = to->n && addr == scan->next;
	uint32_t line = to->n ? to->insn[to->n - 1].line : 0;

	if (insn->flow == HLG_FLOW_BRANCH && insn->direct &&
	    insn->target > scan->place->start && insn->target < scan->place->end) {
		if (!HLG_GROW(scan->targets, scan->n_targets))
			return false;
		scan->targets[scan->n_targets++] = insn->target;
	}
	if (!HLG_GROW(to->insn, to->n))
		return false;
	line += to->n && (!on || scan->branched);
	to->insn[to->n++] = (struct hlg_line_insn){addr, line, insn->leave,
						   on ? scan->before : HLG_LEAVE_NEVER};
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

		while (next < scan->n_targets && scan->targets[next] < insn->addr)
			next++; /* into the middle of an instruction, or met */
		insn->line += more;
		if (i && next < scan->n_targets && scan->targets[next] == insn->addr &&
		    insn->line == insn[-1].line) {
			insn->line++;
			more++;
		}
	}
}

bool hlg_line_find(struct hlg_lines *lines, struct hlg_code *code,
		   const struct hlg_place *place)
{
	struct scan scan = {.lines = lines, .place = place};
	bool ok;

	*lines = (struct hlg_lines){0};
	ok = hlg_code_walk(code, place, look, &scan);
	if (ok && scan.n_targets) {
		qsort(scan.targets, scan.n_targets, sizeof(*scan.targets),
		      hlg_bsearch_compare);
		split(&scan);
	}
	free(scan.targets);
	return ok;
}

void hlg_line_finish(struct hlg_lines *lines)
{
	free(lines->insn);
	*lines = (struct hlg_lines){0};
}
