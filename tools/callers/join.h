/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which stack is a sample's? The kernel's part runs in the interrupt in which perf takes
 * the sample, and both have the same clock (perf record -k mono). From Linux 6.3 on a
 * stack has its sample's time. Before that it has one right before, and belongs to the
 * first sample of its thread at or after it. Where perf lost that one, the next of the
 * thread has a stack of its own, which is nearer, or, if it was lost, too, an address
 * that is not the stack's. (VMX may not know the address: there, one sample could get
 * another's stack where both were lost.)
 *
 * Memory: 32 bytes for each stack, and each different one once.
 */
#ifndef HLG_TOOLS_CALLERS_JOIN_H
#define HLG_TOOLS_CALLERS_JOIN_H

#include <stddef.h>

#include "filter/stacks/chains.h"
#include "tools/callers/machines.h"
#include "tools/callers/stack.h"

struct hlg_join_stack {
	uint64_t time, ip; /* as of struct hlg_callers_stack */
	int32_t tid;
	uint32_t chain;   /* of struct hlg_join's chains: callers, the innermost first */
	uint32_t sandbox; /* machines.h */
	bool used;        /* a sample has it */
	bool exact;
	uint8_t end; /* enum hlg_walk_end */
};

/* All 0 before; finish it in any case. */
struct hlg_join {
	struct hlg_chains chains;
	struct hlg_machines machines;
	struct hlg_join_stack *stacks;
	size_t n, room;
	bool sorted;
	enum hlg_chain_way way; /* of all stacks; as its user sets it */
};

/* False without memory. They come as the kernel's part handed them over. */
bool hlg_join_add(struct hlg_join *join, const struct hlg_callers_stack *stack);

/* The stack of a sample, which no other sample gets then; NULL: there is none. All stacks
 * up to its time have been added. */
const struct hlg_join_stack *hlg_join_take(struct hlg_join *join, int32_t tid,
					   uint64_t time, uint64_t ip);

/* Of a recording that goes on, whose samples so far have been asked for: forgets stacks
 * that a sample has, and those older than ns before the newest. */
void hlg_join_forget(struct hlg_join *join, uint64_t ns);

void hlg_join_finish(struct hlg_join *join);

#endif
