// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/proof.h"

#include <stdlib.h>

#include "filter/trust/judge.h"

struct hlg_proof {
	const struct hlg_stacks *stacks;
	const struct hlg_space *space;
	const struct hlg_trust *trust;
	const struct hlg_options *options;
	struct hlg_judge *judge;
	struct hlg_caller *list;
	size_t n, room;
};

const char *hlg_proof_end(unsigned end)
{
	static const char *const words[HLG_CHAIN_ENDS + 1] = {
		[HLG_CHAIN_END_UNKNOWN] = "[truncated]",
		[HLG_CHAIN_END_WHOLE] = "[truncated]",
		[HLG_CHAIN_END_DEEP] = "[truncated: too deep]",
		[HLG_CHAIN_END_FRAME] = "[truncated: no frame pointer]",
		[HLG_CHAIN_END_MEMORY] = "[truncated: memory not readable]",
		[HLG_CHAIN_END_MODE] = "[truncated: not in 64-bit mode]",
		[HLG_CHAIN_END_CFI] = "[truncated: no unwind table]",
		[HLG_CHAIN_END_COPY] = "[truncated: copied stack ends]",
		[HLG_CALLER_END_NO_RETURN] = "[truncated: no return address]",
	};

	return words[end];
}

struct hlg_proof *hlg_proof_open(const struct hlg_stacks *stacks,
				 const struct hlg_space *space,
				 const struct hlg_trust *trust,
				 const struct hlg_options *options)
{
	struct hlg_proof *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->stacks = stacks;
	p->space = space;
	p->trust = trust;
	p->options = options;
	p->judge = trust ? hlg_judge_open(space, trust) : NULL;
	if (trust && !p->judge) {
		hlg_proof_close(p);
		return NULL;
	}
	return p;
}

void hlg_proof_close(struct hlg_proof *p)
{
	if (!p)
		return;
	hlg_judge_close(p->judge);
	free(p->list);
	free(p);
}

/* Room for n more. */
static bool make_room(struct hlg_proof *p, size_t n)
{
	struct hlg_caller *list;

	if (p->room - p->n >= n)
		return true;
	list = reallocarray(p->list, p->n + n, 2 * sizeof(*list));
	if (!list)
		return false;
	p->list = list;
	p->room = 2 * (p->n + n);
	return true;
}

static void put(struct hlg_proof *p, uint64_t ip, enum hlg_caller_kind kind)
{
	p->list[p->n++] = (struct hlg_caller){.ip = ip, .kind = kind};
}

/* What own addresses of the image at an ip move by to lie where it does. */
static uint64_t bias_of(const struct hlg_proof *p, uint64_t ip)
{
	struct hlg_place place;

	hlg_space_lookup(p->space, ip, &place);
	return ip - place.addr;
}

static bool lacks_caller(const struct hlg_proof *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->list[i].kind == HLG_CALLER_UNKNOWN)
			return true;
	return false;
}

static void count_end(struct hlg_caller_sums *sums, unsigned end, bool unknown,
		      uint64_t samples)
{
	sums->stacks += samples;
	if (end == HLG_CHAIN_END_WHOLE)
		sums->whole += samples;
	else if (end != HLG_CHAIN_END_UNKNOWN)
		sums->truncated += samples;
	sums->ends[end] += samples;
	if (unknown)
		sums->unknown += samples;
	if (unknown || end > HLG_CHAIN_END_WHOLE)
		sums->cut += samples;
}

static bool count_edge(struct hlg_caller_sums *sums, const struct hlg_edge *edge,
		       uint64_t samples)
{
	sums->edges += samples;
	switch (edge->kind) {
	case HLG_EDGE_CONFIRMED:
		sums->confirmed += samples;
		break;
	case HLG_EDGE_INDIRECT:
		sums->indirect += samples;
		break;
	case HLG_EDGE_WRONG:
	case HLG_EDGE_NO_CALL:
		sums->wrong += samples;
		break;
	default:
		break;
	}
	if (edge->missing)
		sums->inserted += samples;
	return edge->kind != HLG_EDGE_NO_CALL;
}

/* The callers as they were recorded, with what was missing between them; false without
 * memory. *end changes where they lead astray. */
static bool mend(struct hlg_proof *p, const struct hlg_stack *stack,
		 const uint64_t *words, size_t n, unsigned *end,
		 struct hlg_caller_sums *sums)
{
	const uint64_t move = stack->ip - hlg_space_ip(p->space, stack->ip);
	bool exact = stack->way == HLG_CHAIN_WAY_CFI, missing;
	uint64_t below = stack->ip;
	struct hlg_edge edge = {.kind = HLG_EDGE_UNPROVED};

	for (size_t i = 0; i < n; i++) {
		/* A return address is behind its call, which may end its function. */
		uint64_t call = words[i] - 1 + move;

		if (p->judge && !hlg_judge_edge(p->judge, below, call, exact, &edge))
			return false;
		if (!count_edge(sums, &edge, stack->count.samples)) {
			*end = HLG_CALLER_END_NO_RETURN;
			return true;
		}
		if (edge.unknown)
			put(p, 0, HLG_CALLER_UNKNOWN);
		if (edge.missing)
			put(p, edge.inserted + bias_of(p, call), HLG_CALLER_INSERTED);
		put(p, call, HLG_CALLER_RECORDED);
		below = call;
	}
	if (n || *end != HLG_CHAIN_END_WHOLE || exact || !p->judge)
		return true;
	if (!hlg_judge_alone(p->judge, below, &missing))
		return false;
	if (missing)
		put(p, 0, HLG_CALLER_UNKNOWN);
	return true;
}

static bool is_refused(const struct hlg_proof *p, const struct hlg_stack *stack)
{
	return p->judge && !p->options->force && stack->way != HLG_CHAIN_WAY_CFI &&
	       !hlg_judge_has_frames(p->judge, stack->ip);
}

bool hlg_proof_find(struct hlg_proof *p, const struct hlg_stack *stack,
		    const struct hlg_caller **list, size_t *n,
		    struct hlg_caller_sums *sums)
{
	unsigned end = stack->end;
	size_t n_words;
	const uint64_t *words =
		hlg_chains_get(&p->stacks->chains, stack->chain, &n_words);

	p->n = 0;
	*list = p->list;
	*n = 0;
	if (n_words == 0 && end == HLG_CHAIN_END_UNKNOWN)
		return true;
	if (is_refused(p, stack)) {
		sums->refused += stack->count.samples;
		return true;
	}
	if (!make_room(p, 3 * n_words + 2) || !mend(p, stack, words, n_words, &end, sums))
		return false;
	count_end(sums, end, lacks_caller(p), stack->count.samples);
	if (end > HLG_CHAIN_END_WHOLE) {
		put(p, 0, HLG_CALLER_TRUNCATED);
		p->list[p->n - 1].end = end;
	}
	*list = p->list;
	*n = p->n;
	return true;
}
