// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/code/body.h"

#include <stdlib.h>

#include "symtab/bsearch.h"
#include "symtab/grow.h"

/* While ways are followed: what rbp is, as bits, so that where ways meet they add up. */
enum {
	CALLERS = 1, /* of the caller, in rbp alone */
	PUSHED = 2,  /* the same, and on the stack */
	OWN = 4
};

static bool add(void *ctx, uint64_t addr, const struct hlg_insn *insn)
{
	struct hlg_body *body = ctx;

	if (!HLG_GROW(body->insns, body->n))
		return false;
	body->insns[body->n++] = (struct hlg_body_insn){
		.addr = addr,
		.target = insn->target,
		.refers = insn->refers,
		.length = (uint8_t)insn->length,
		.flow = (uint8_t)insn->flow,
		.frame = (uint8_t)insn->frame,
		.direct = insn->direct,
		.ends = insn->ends,
	};
	return true;
}

const struct hlg_body_insn *hlg_body_at(const struct hlg_body *body, uint64_t addr)
{
	size_t n = HLG_BSEARCH_UPTO(body->insns, body->n, addr, addr);

	return n && body->insns[n - 1].addr == addr ? &body->insns[n - 1] : NULL;
}

const struct hlg_body_insn *hlg_body_before(const struct hlg_body *body, uint64_t addr)
{
	size_t n = HLG_BSEARCH_UPTO(body->insns, body->n, addr, addr - 1);

	return n && body->insns[n - 1].addr + body->insns[n - 1].length == addr
		       ? &body->insns[n - 1]
		       : NULL;
}

/* What it is behind an instruction. */
static uint8_t step(const struct hlg_body_insn *insn)
{
	switch (insn->frame) {
	case HLG_INSN_FRAME_PUSH:
		return insn->rbp & CALLERS ? (insn->rbp & ~CALLERS) | PUSHED : insn->rbp;
	case HLG_INSN_FRAME_SET:
		return insn->rbp & PUSHED ? (insn->rbp & ~PUSHED) | OWN : insn->rbp;
	case HLG_INSN_FRAME_DROP:
		return CALLERS;
	default:
		return insn->rbp;
	}
}

/* The ways that are still to be followed, from these instructions on. */
struct ways {
	struct hlg_body *body;
	uint32_t *from;
	size_t n;
};

/* A way with such an rbp comes to instruction i. */
static bool come(struct ways *ways, size_t i, uint8_t rbp)
{
	struct hlg_body_insn *insn = &ways->body->insns[i];

	if ((insn->rbp | rbp) == insn->rbp)
		return true;
	insn->rbp |= rbp;
	if (!HLG_GROW(ways->from, ways->n))
		return false;
	ways->from[ways->n++] = (uint32_t)i;
	return true;
}

/* Each instruction is followed three times at most: there are three bits. */
static bool follow(struct ways *ways)
{
	struct hlg_body *body = ways->body;

	while (ways->n) {
		size_t i = ways->from[--ways->n];
		const struct hlg_body_insn *insn = &body->insns[i], *to = NULL;
		uint8_t rbp = step(insn);

		body->framed |= rbp == OWN;
		if (insn->flow == HLG_FLOW_BRANCH && insn->direct)
			to = hlg_body_at(body, insn->target);
		if (to && !come(ways, (size_t)(to - body->insns), rbp))
			return false;
		if (!insn->ends && i + 1 < body->n &&
		    body->insns[i + 1].addr == insn->addr + insn->length &&
		    !come(ways, i + 1, rbp))
			return false;
	}
	return true;
}

static enum hlg_body_rbp settle(const struct hlg_body *body, uint8_t rbp)
{
	if (rbp == OWN)
		return HLG_BODY_RBP_OWN;
	if (rbp == CALLERS || (rbp == PUSHED && body->framed) ||
	    (rbp == (CALLERS | PUSHED) && body->framed))
		return HLG_BODY_RBP_CALLER;
	return HLG_BODY_RBP_UNKNOWN;
}

bool hlg_body_read(struct hlg_body *body, struct hlg_code *code,
		   const struct hlg_place *place)
{
	struct ways ways = {.body = body};
	bool ok;

	*body = (struct hlg_body){.start = place->start, .end = place->end};
	ok = hlg_code_walk(code, place, add, body);
	if (ok && body->n)
		ok = come(&ways, 0, CALLERS) && follow(&ways);
	for (size_t i = 0; ok && i < body->n; i++)
		if (!body->insns[i].rbp)
			ok = come(&ways, i, body->framed ? OWN : CALLERS) &&
			     follow(&ways);
	free(ways.from);
	for (size_t i = 0; ok && i < body->n; i++)
		body->insns[i].rbp = (uint8_t)settle(body, body->insns[i].rbp);
	return ok;
}

void hlg_body_finish(struct hlg_body *body)
{
	free(body->insns);
	*body = (struct hlg_body){0};
}
