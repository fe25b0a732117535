// SPDX-License-Identifier: GPL-2.0-only
#include "tools/exits/gaps.h"

#include <string.h>

#include "symtab/bsearch.h"
#include "symtab/grow.h"

enum {
	N_CPUS = HLG_ANY_CPU + 1
};

static bool add(struct hlg_exits_gap_list *list, struct hlg_exits_gap gap)
{
	size_t next = HLG_BSEARCH_UPTO(list->gaps, list->n, end, gap.end);
	size_t first = next, later = list->n - next;

	if (later && list->gaps[next].start <= gap.start)
		return true; /* it lies within the next */
	while (first && list->gaps[first - 1].start >= gap.start)
		first--; /* lies within it */
	if (first == next && !HLG_GROW(list->gaps, list->n))
		return false;
	memmove(&list->gaps[first + 1], &list->gaps[next], later * sizeof(gap));
	list->gaps[first] = gap;
	list->n = first + 1 + later;
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
	size_t i = HLG_BSEARCH_UPTO(list->gaps, list->n, end, from);

	return i < list->n && list->gaps[i].start < to;
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
