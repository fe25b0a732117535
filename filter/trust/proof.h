/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The callers of a guest sample, proved and mended by the guest's own code.
 *
 * Frame pointers leave callers out, and nothing in the stack shows it: where a function
 * has not set its frame up yet, has given it up, or has none, rbp is still its caller's,
 * and the innermost return address is not the function's but its caller's. Two things in
 * the code tell: whose rbp is (symtab/code/body.h), and which function the call before a
 * return address leads to.
 *
 * An edge is a frame and the return address above it. This is the whole rule:
 *
 * - No call ends at the return address: it is none, and all above it is nothing
 *   ("[truncated: no return address]"). Wrong.
 * - rbp is the function's own. The call leads to it, or to one that ends up in it by tail
 *   calls: confirmed. The call, or such a tail call, is by pointer: indirect. Else a
 * caller is missing, and which cannot be told: wrong, "[caller unknown]".
 * - rbp is the caller's. Then the caller is among the functions with a frame that the
 * call leads to, or ends up in. If one of them alone calls the function by its address,
 * or by pointer, it is inserted: confirmed, or indirect. If several do, or the call or a
 * tail call is by pointer, it cannot be told: indirect, "[caller unknown]". If none does,
 *   something lies between: wrong, "[caller unknown]", above it the only one, if there is
 *   only one.
 * - Where code cannot be decoded (a perf map, a gap, a build without Zydis), an edge is
 *   none of these, and nothing is mended.
 *
 * Callers by unwind tables (HLG_CHAIN_WAY_CFI) miss nothing: rbp does not matter.
 *
 * A guest whose functions keep no frame pointers has stacks that look whole and are not:
 * its callers by frame pointers are left out, unless force= asks for them.
 */
#ifndef HLG_FILTER_TRUST_PROOF_H
#define HLG_FILTER_TRUST_PROOF_H

#include "filter/stacks/stacks.h"
#include "filter/trust/trust.h"

enum hlg_caller_kind {
	HLG_CALLER_SAMPLED,   /* no caller: where the sample was taken */
	HLG_CALLER_RECORDED,  /* its return address was on the stack */
	HLG_CALLER_INSERTED,  /* it was not; the code tells which function it is */
	HLG_CALLER_UNKNOWN,   /* "[caller unknown]": there is one, or are some */
	HLG_CALLER_TRUNCATED, /* "[truncated: ...]": outer ones are not known */
	HLG_CALLER_INLINED /* no caller: a function inlined in that of the frame above; of
			    * struct hlg_path_frame only */
};

/* An end that no recording tells: what the stack has next is no return address. */
#define HLG_CALLER_END_NO_RETURN HLG_CHAIN_ENDS

struct hlg_caller {
	uint64_t ip; /* as of struct hlg_path_frame (filter/report/paths.h) */
	enum hlg_caller_kind kind;
	unsigned end; /* of TRUNCATED: enum hlg_chain_end, or HLG_CALLER_END_NO_RETURN */
};

/* Of the samples that have callers. An edge is what lies between a frame and its caller;
 * whole + truncated = the samples whose end is known. */
struct hlg_caller_sums {
	uint64_t stacks;    /* samples with callers */
	uint64_t whole;     /* that reach the outermost function */
	uint64_t truncated; /* that do not */
	uint64_t edges;
	uint64_t confirmed; /* the call leads to the frame below */
	uint64_t indirect;  /* it may lead anywhere */
	uint64_t wrong;     /* it leads elsewhere */
	uint64_t inserted;  /* callers */
	uint64_t unknown;   /* samples with a frame [caller unknown] */
	uint64_t cut;       /* samples that are among truncated, unknown, or both */
	uint64_t ends[HLG_CALLER_END_NO_RETURN + 1]; /* of truncated, by the reason */
	uint64_t none;    /* samples that have no callers recorded; filled in by who knows
			     all */
	uint64_t refused; /* whose callers are left out: the guest keeps no frame pointers
			   */
};

#define HLG_CALLER_NOT_KNOWN "[caller unknown]"

/* What stands for callers that are not known, by struct hlg_caller's end. */
const char *hlg_proof_end(unsigned end);

struct hlg_proof;

/* All arguments outlive it; NULL without memory. trust is NULL where addresses mean
 * nothing: then callers are as they were recorded. */
struct hlg_proof *hlg_proof_open(const struct hlg_stacks *stacks,
				 const struct hlg_space *space,
				 const struct hlg_trust *trust,
				 const struct hlg_options *options);
void hlg_proof_close(struct hlg_proof *proof);

/*
 * The callers of a guest's stack, outwards: *n of them from *list on, valid until the
 * next call. Adds to sums what there is to say of them. False without memory.
 */
bool hlg_proof_find(struct hlg_proof *proof, const struct hlg_stack *stack,
		    const struct hlg_caller **list, size_t *n,
		    struct hlg_caller_sums *sums);

#endif
