/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The callers of a guest sample, proved and mended by the guest's own code.
 *
 * Frame pointers leave out callers: that of a function which has not set up its frame
 * yet, or has given it up, or has none. Nothing in the stack shows it. But the call
 * before each return address names the function that was called; and whether a function
 * has a frame at an address, its instructions tell (symtab/code/frame.h).
 */
#ifndef HLG_FILTER_TRUST_PROOF_H
#define HLG_FILTER_TRUST_PROOF_H

#include "filter/stacks/stacks.h"
#include "filter/trust/trust.h"

enum hlg_caller_kind {
	HLG_CALLER_SAMPLED,  /* no caller: where the sample was taken */
	HLG_CALLER_RECORDED, /* its return address was on the stack */
	HLG_CALLER_INSERTED, /* it was not; the code tells which function it is */
	HLG_CALLER_UNKNOWN,  /* "[caller unknown]": there is one, or are some */
	HLG_CALLER_TRUNCATED /* "[truncated: ...]": outer ones are not known */
};

struct hlg_caller {
	uint64_t ip; /* as of struct hlg_path_frame (filter/report/paths.h) */
	enum hlg_caller_kind kind;
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
	uint64_t refused; /* whose callers are left out: the guest keeps no frame pointers
			   */
};

#define HLG_CALLER_NOT_KNOWN "[caller unknown]"

/* What stands for callers that are not known, as the chain ended so. */
const char *hlg_proof_end(enum hlg_chain_end end);

struct hlg_proof;

/* All arguments outlive it; NULL without memory. */
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
