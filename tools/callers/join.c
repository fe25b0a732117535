// SPDX-License-Identifier: GPL-2.0-only
#include "tools/callers/join.h"

#include <stdlib.h>

bool hlg_join_add(struct hlg_join *join, const struct hlg_callers_stack *stack)
{
	uint32_t chain = hlg_chains_add(&join->chains, stack->callers, stack->n);
	uint32_t sandbox = hlg_machines_number(&join->machines, stack);

	if (chain == HLG_LOST_CHAIN || sandbox == 0)
		return false;
	if (join->n == join->room) {
		size_t room = join->room ? 2 * join->room : 1024;
		struct hlg_join_stack *grown =
			reallocarray(join->stacks, room, sizeof(*grown));

		if (!grown)
			return false;
		join->stacks = grown;
		join->room = room;
	}
	join->stacks[join->n++] = (struct hlg_join_stack){
		.time = stack->time,
		.ip = stack->ip,
		.tid = stack->tid,
		.chain = chain,
		.sandbox = sandbox,
		.exact = stack->exact,
		.end = stack->end,
	};
	join->sorted = false;
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct hlg_join_stack *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->time > y->time) - (x->time < y->time);
}

/* The number of stacks that stand before those of later times, or of higher threads. */
static size_t count_up_to(const struct hlg_join *join, int32_t tid, uint64_t time)
{
	const struct hlg_join_stack key = {.tid = tid, .time = time};
	size_t low = 0, high = join->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(&join->stacks[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct hlg_join_stack *hlg_join_take(struct hlg_join *join, int32_t tid,
					   uint64_t time, uint64_t ip)
{
	struct hlg_join_stack *stack;
	size_t n;

	if (!join->sorted && join->n)
		qsort(join->stacks, join->n, sizeof(join->stacks[0]), compare);
	join->sorted = true;
	n = count_up_to(join, tid, time);
	if (n == 0)
		return NULL;
	stack = &join->stacks[n - 1];
	if (stack->tid != tid || stack->used || (stack->exact && stack->time != time) ||
	    (stack->ip && stack->ip != ip))
		return NULL;
	stack->used = true;
	return stack;
}

void hlg_join_forget(struct hlg_join *join, uint64_t ns)
{
	uint64_t newest = 0;
	size_t n = 0;

	for (size_t i = 0; i < join->n; i++)
		if (join->stacks[i].time > newest)
			newest = join->stacks[i].time;
	for (size_t i = 0; i < join->n; i++)
		if (!join->stacks[i].used && newest - join->stacks[i].time <= ns)
			join->stacks[n++] = join->stacks[i];
	join->n = n;
}

void hlg_join_finish(struct hlg_join *join)
{
	hlg_chains_finish(&join->chains);
	hlg_machines_finish(&join->machines);
	free(join->stacks);
	*join = (struct hlg_join){0};
}
