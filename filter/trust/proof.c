// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/proof.h"

#include <stdlib.h>

struct hlg_proof {
	const struct hlg_stacks *stacks;
	const struct hlg_space *space;
	const struct hlg_trust *trust;
	const struct hlg_options *options;
	struct hlg_caller *list;
	size_t n, room;
};

const char *hlg_proof_end(enum hlg_chain_end end)
{
	static const char *const words[HLG_CHAIN_ENDS] = {
		[HLG_CHAIN_END_UNKNOWN] = "[truncated]",
		[HLG_CHAIN_END_WHOLE] = "[truncated]",
		[HLG_CHAIN_END_DEEP] = "[truncated: too deep]",
		[HLG_CHAIN_END_FRAME] = "[truncated: no frame pointer]",
		[HLG_CHAIN_END_MEMORY] = "[truncated: memory not readable]",
		[HLG_CHAIN_END_MODE] = "[truncated: not in 64-bit mode]",
		[HLG_CHAIN_END_CFI] = "[truncated: no unwind table]",
		[HLG_CHAIN_END_COPY] = "[truncated: copied stack ends]",
	};

	return words[end];
}

struct hlg_proof *hlg_proof_open(const struct hlg_stacks *stacks,
				 const struct hlg_space *space,
				 const struct hlg_trust *trust,
				 const struct hlg_options *options)
{
	struct hlg_proof *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->stacks = stacks;
	c->space = space;
	c->trust = trust;
	c->options = options;
	return c;
}

void hlg_proof_close(struct hlg_proof *c)
{
	if (!c)
		return;
	free(c->list);
	free(c);
}

/* Room for n more. */
static bool make_room(struct hlg_proof *c, size_t n)
{
	struct hlg_caller *list;

	if (c->room - c->n >= n)
		return true;
	list = reallocarray(c->list, c->n + n, 2 * sizeof(*list));
	if (!list)
		return false;
	c->list = list;
	c->room = 2 * (c->n + n);
	return true;
}

static void put(struct hlg_proof *c, uint64_t ip, enum hlg_caller_kind kind)
{
	c->list[c->n++] = (struct hlg_caller){ip, kind};
}

static void count_end(struct hlg_caller_sums *sums, enum hlg_chain_end end,
		      uint64_t samples)
{
	sums->stacks += samples;
	if (end == HLG_CHAIN_END_WHOLE)
		sums->whole += samples;
	else if (end != HLG_CHAIN_END_UNKNOWN)
		sums->truncated += samples;
}

bool hlg_proof_find(struct hlg_proof *c, const struct hlg_stack *stack,
		    const struct hlg_caller **list, size_t *n,
		    struct hlg_caller_sums *sums)
{
	const uint64_t move = stack->ip - hlg_space_ip(c->space, stack->ip);
	enum hlg_chain_end end = (enum hlg_chain_end)stack->end;
	size_t n_words;
	const uint64_t *words =
		hlg_chains_get(&c->stacks->chains, stack->chain, &n_words);

	c->n = 0;
	if (!make_room(c, n_words + 1))
		return false;
	/* A return address is behind its call, which may end its function. */
	for (size_t i = 0; i < n_words; i++)
		put(c, words[i] - 1 + move, HLG_CALLER_RECORDED);
	if (n_words || end != HLG_CHAIN_END_UNKNOWN)
		count_end(sums, end, stack->count.samples);
	if (end > HLG_CHAIN_END_WHOLE)
		put(c, 0, HLG_CALLER_TRUNCATED);
	*list = c->list;
	*n = c->n;
	return true;
}
