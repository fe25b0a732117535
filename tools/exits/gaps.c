// SPDX-License-Identifier: GPL-2.0-only
#include "tools/exits/gaps.h"

#include <stdlib.h>

#include "symtab/bsearch.h"

#define ROOM 4 /* of a new run */

enum {
	N_CPUS = HLG_ANY_CPU + 1
};

/* The bytes of a run with so much room; SIZE_MAX if there are too many. */
static size_t bytes_of(size_t room)
{
	const size_t head = sizeof(struct hlg_exits_run);

	if (room > (SIZE_MAX - head) / sizeof(struct hlg_exits_gap))
		return SIZE_MAX;
	return head + room * sizeof(struct hlg_exits_gap);
}

/* An empty one. NULL without memory. */
static struct hlg_exits_run *make_run(struct hlg_exits_run *older, size_t room)
{
	struct hlg_exits_run *run = malloc(bytes_of(room));

	if (run)
		*run = (struct hlg_exits_run){.older = older, .room = room};
	return run;
}

/*
 * Behind all others of the run: those that begin no earlier lie within it. There is room.
 */
static void append(struct hlg_exits_run *run, struct hlg_exits_gap gap)
{
	while (run->n && run->gaps[run->n - 1].start >= gap.start)
		run->n--;
	run->gaps[run->n++] = gap;
}

/* The two newest runs become one. */
static bool merge(struct hlg_exits_run **newest)
{
	struct hlg_exits_run *b = *newest, *a = b->older;
	struct hlg_exits_run *run = make_run(a->older, a->n + b->n);

	if (!run)
		return false;
	for (size_t i = 0, j = 0; i < a->n || j < b->n;) {
		bool older = j == b->n || (i < a->n && a->gaps[i].end <= b->gaps[j].end);

		append(run, older ? a->gaps[i++] : b->gaps[j++]);
	}
	free(a);
	free(b);
	*newest = run;
	return true;
}

/* A gap takes part in so few merges because each makes its run half as long again. */
static bool begin_run(struct hlg_exits_run **newest)
{
	struct hlg_exits_run *run;

	while (*newest && (*newest)->older && (*newest)->older->n / 2 < (*newest)->n)
		if (!merge(newest))
			return false;
	run = make_run(*newest, ROOM);
	if (!run)
		return false;
	*newest = run;
	return true;
}

static bool add(struct hlg_exits_run **newest, struct hlg_exits_gap gap)
{
	struct hlg_exits_run *run = *newest;

	if (!run || run->gaps[run->n - 1].end > gap.end) {
		if (!begin_run(newest))
			return false;
	} else if (run->n == run->room) {
		run = realloc(run, bytes_of(2 * run->room));
		if (!run)
			return false;
		run->room *= 2;
		*newest = run;
	}
	append(*newest, gap);
	return true;
}

bool hlg_exits_gap(struct hlg_exits_gaps *g, uint64_t start, uint64_t end, uint16_t cpu)
{
	const struct hlg_exits_gap gap = {start < end ? start : end, end};

	if (!g->cpu)
		g->cpu = calloc(N_CPUS, sizeof(struct hlg_exits_run *));
	return g->cpu && add(&g->all, gap) && add(&g->cpu[cpu], gap);
}

/* Of the gaps that end behind from the first begins first. */
static bool tears(const struct hlg_exits_run *run, uint64_t from, uint64_t to)
{
	for (; run; run = run->older) {
		size_t i = HLG_BSEARCH_UPTO(run->gaps, run->n, end, from);

		if (i < run->n && run->gaps[i].start < to)
			return true;
	}
	return false;
}

bool hlg_exits_gaps_tear(const struct hlg_exits_gaps *g, uint64_t from, uint16_t from_cpu,
			 uint64_t to, uint16_t to_cpu)
{
	if (from_cpu != to_cpu)
		return tears(g->all, from, to);
	return tears(g->cpu[from_cpu], from, to) || tears(g->cpu[HLG_ANY_CPU], from, to);
}

static void finish(struct hlg_exits_run *run)
{
	for (struct hlg_exits_run *older; run; run = older) {
		older = run->older;
		free(run);
	}
}

void hlg_exits_gaps_finish(struct hlg_exits_gaps *g)
{
	finish(g->all);
	for (size_t i = 0; g->cpu && i < N_CPUS; i++)
		finish(g->cpu[i]);
	free(g->cpu);
	*g = (struct hlg_exits_gaps){0};
}
