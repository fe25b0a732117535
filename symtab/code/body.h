/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The body of a function or label: its instructions, where they lead, and whose frame
 * pointer is in rbp before each.
 *
 * rbp is the caller's up to `mov %rsp,%rbp` behind a `push %rbp`, and again behind `pop
 * %rbp` or `leave`; in between it is the function's own. What it is before an instruction
 * goes by all ways that lead there inside of the function. Code that no branch leads to
 * that stands in an instruction (targets of jump tables, landing pads) is taken to have
 * the function's own, if the function ever has one. A function that pushes rbp and never
 * sets it uses it for something else.
 *
 * All addresses are the image's own.
 */
#ifndef HLG_SYMTAB_CODE_BODY_H
#define HLG_SYMTAB_CODE_BODY_H

#include "symtab/code/code.h"

enum hlg_body_rbp {
	HLG_BODY_RBP_UNKNOWN, /* anything */
	HLG_BODY_RBP_CALLER,  /* the caller's frame pointer */
	HLG_BODY_RBP_OWN      /* the function's */
};

struct hlg_body_insn {
	uint64_t addr;
	uint64_t target; /* if direct */
	uint64_t refers; /* as in struct hlg_insn */
	uint8_t length;
	uint8_t flow;  /* enum hlg_flow */
	uint8_t frame; /* enum hlg_insn_frame */
	uint8_t rbp;   /* enum hlg_body_rbp, before it runs */
	bool direct, ends;
};

struct hlg_body {
	uint64_t start, end;
	struct hlg_body_insn *insns; /* by address */
	size_t n;
	bool framed; /* it has a frame pointer of its own somewhere */
};

/* Of a place of the code's image. False without memory; the caller finishes *body in any
 * case. */
bool hlg_body_read(struct hlg_body *body, struct hlg_code *code,
		   const struct hlg_place *place);
void hlg_body_finish(struct hlg_body *body);

/* The instruction that begins at addr, or that ends there; NULL: there is none. */
const struct hlg_body_insn *hlg_body_at(const struct hlg_body *body, uint64_t addr);
const struct hlg_body_insn *hlg_body_before(const struct hlg_body *body, uint64_t addr);

/* A jump out of the body: with a frame pointer of its own, to a part of the function that
 * lies elsewhere; without, a tail call. */
static inline bool hlg_body_is_part(const struct hlg_body *body,
				    const struct hlg_body_insn *insn)
{
	return insn->flow == HLG_FLOW_BRANCH && insn->direct &&
	       insn->rbp == HLG_BODY_RBP_OWN &&
	       (insn->target < body->start || insn->target >= body->end);
}

static inline bool hlg_body_is_tail(const struct hlg_body *body,
				    const struct hlg_body_insn *insn)
{
	return insn->flow == HLG_FLOW_BRANCH && insn->direct &&
	       insn->rbp != HLG_BODY_RBP_OWN &&
	       (insn->target < body->start || insn->target >= body->end);
}

/* A jump by pointer that may be a tail call; where there is a frame, it is one of a jump
 * table. */
static inline bool hlg_body_is_tail_pointer(const struct hlg_body_insn *insn)
{
	return insn->flow == HLG_FLOW_BRANCH && !insn->direct &&
	       insn->rbp != HLG_BODY_RBP_OWN;
}

#endif
