// SPDX-License-Identifier: GPL-2.0-only
#include "tools/exits/gaps.h"

#include <stdlib.h>
#include <string.h>

#include "symtab/bsearch.h"

enum {
	N_CPUS = HLG_ANY_CPU + 1
};

static struct hlg_exits_gap *at(const struct hlg_exits_gap_list *list, size_t i)
{
	return &list->gaps[i < list->before ? i : i + list->room - list->n];
}

/* The place of the first that ends behind end. */
static size_t find(const struct hlg_exits_gap_list *list, uint64_t end)
{
	const size_t before = list->before;
	size_t i = HLG_BSEARCH_UPTO(list->gaps, before, end, end);

	if (i < before || before == list->n)
		return i;
	return before + HLG_BSEARCH_UPTO(at(list, before), list->n - before, end, end);
}

/* The free room is in front of place i then. */
static void move_room(struct hlg_exits_gap_list *list, size_t i)
{
	const size_t room = list->room - list->n, before = list->before;
	struct hlg_exits_gap *gaps = list->gaps;

	if (i < before)
		memmove(&gaps[i + room], &gaps[i], (before - i) * sizeof(*gaps));
	else if (i > before)
		memmove(&gaps[before], &gaps[before + room],
			(i - before) * sizeof(*gaps));
	list->before = i;
}

static bool make_room(struct hlg_exits_gap_list *list)
{
	const size_t behind = list->n - list->before,
		     room = list->room ? 2 * list->room : 16;
	struct hlg_exits_gap *gaps;

	if (list->n < list->room)
		return true;
	gaps = reallocarray(list->gaps, room, sizeof(*gaps));
	if (!gaps)
		return false;
	memmove(&gaps[room - behind], &gaps[list->before], behind * sizeof(*gaps));
	list->gaps = gaps;
	list->room = room;
	return true;
}

static bool add(struct hlg_exits_gap_list *list, struct hlg_exits_gap gap)
{
	size_t next = find(list, gap.end);

	if (next < list->n && at(list, next)->start <= gap.start)
		return true; /* it lies within the next */
	move_room(list, next);
	while (list->before && list->gaps[list->before - 1].start >= gap.start) {
		list->before--; /* lies within it */
		list->n--;
	}
	if (!make_room(list))
		return false;
	list->gaps[list->before++] = gap;
	list->n++;
	return true;
}

bool hlg_exits_gap(struct hlg_exits_gaps *g, uint64_t start, uint64_t end, uint16_t cpu)
{
	const struct hlg_exits_gap gap = {start < end ? start : end, end};

	if (!g->cpu)
		g->cpu = calloc(N_CPUS, sizeof(*g->cpu));
	return g->cpu && add(&g->all, gap) && add(&g->cpu[cpu], gap);
}

/* Of the gaps that end behind from the first begins first. */
static bool tears(const struct hlg_exits_gap_list *list, uint64_t from, uint64_t to)
{
	size_t i = find(list, from);

	return i < list->n && at(list, i)->start < to;
}

bool hlg_exits_gaps_tear(const struct hlg_exits_gaps *g, uint64_t from, uint16_t from_cpu,
			 uint64_t to, uint16_t to_cpu)
{
	if (from_cpu != to_cpu)
		return tears(&g->all, from, to);
	return tears(&g->cpu[from_cpu], from, to) ||
	       tears(&g->cpu[HLG_ANY_CPU], from, to);
}

void hlg_exits_gaps_finish(struct hlg_exits_gaps *g)
{
	free(g->all.gaps);
	for (size_t i = 0; g->cpu && i < N_CPUS; i++)
		free(g->cpu[i].gaps);
	free(g->cpu);
	*g = (struct hlg_exits_gaps){0};
}
