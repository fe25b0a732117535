// SPDX-License-Identifier: GPL-2.0-only
#include "gaps.h"

#include <stdlib.h>
#include <string.h>

#include "../../symtab/search.h"

bool hlg_exits_gap(struct hlg_exits_gaps *g, uint64_t start, uint64_t end, uint16_t cpu)
{
	size_t i = g->n;

	if (g->n == g->room) {
		size_t room = g->room ? 2 * g->room : 16;
		struct hlg_exits_gap *more = reallocarray(g->gaps, room, sizeof(*more));

		if (!more)
			return false;
		g->gaps = more;
		g->room = room;
	}
	while (i > 0 && g->gaps[i - 1].end > end)
		i--; /* buffers of other CPUs: a few at most */
	memmove(&g->gaps[i + 1], &g->gaps[i], (g->n - i) * sizeof(*g->gaps));
	g->gaps[i] = (struct hlg_exits_gap){start < end ? start : end, end, cpu};
	g->n++;
	if (end - g->gaps[i].start > g->longest)
		g->longest = end - g->gaps[i].start;
	return true;
}

bool hlg_exits_gaps_tear(const struct hlg_exits_gaps *g, uint64_t from, uint16_t from_cpu,
			 uint64_t to, uint16_t to_cpu)
{
	size_t low = HLG_UPTO(g->gaps, g->n, end, from); /* ends behind from */

	for (; low < g->n; low++) {
		const struct hlg_exits_gap *gap = &g->gaps[low];

		if (gap->end >= to && gap->end - to >= g->longest)
			break; /* all that follow begin behind to */
		if (gap->start < to && (gap->cpu == from_cpu || gap->cpu == to_cpu ||
					from_cpu != to_cpu || gap->cpu == HLG_ANY_CPU))
			return true;
	}
	return false;
}

void hlg_exits_gaps_finish(struct hlg_exits_gaps *g)
{
	free(g->gaps);
	*g = (struct hlg_exits_gaps){0};
}
