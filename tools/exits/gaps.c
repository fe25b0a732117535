// SPDX-License-Identifier: GPL-2.0-only
#include "tools/exits/gaps.h"

#include <stdlib.h>
#include <string.h>

#include "symtab/bsearch.h"
#include "symtab/grow.h"

static bool lies_within(const struct hlg_exits_gap *gap,
			const struct hlg_exits_gap *other)
{
	return gap->start >= other->start && gap->end <= other->end;
}

/* Behind the last run, which begins at begin: gap ends behind all of it, or with it. */
static void append(struct hlg_exits_gap_list *list, size_t begin,
		   struct hlg_exits_gap gap)
{
	if (list->n > begin && lies_within(&gap, &list->gaps[list->n - 1]))
		return;
	while (list->n > begin && lies_within(&list->gaps[list->n - 1], &gap))
		list->n--;
	list->gaps[list->n++] = gap;
}

/* Makes one of the last two runs. */
static bool merge(struct hlg_exits_gap_list *list)
{
	const size_t begin = list->runs[list->n_runs - 2],
		     middle = list->runs[list->n_runs - 1], n = list->n - begin;
	struct hlg_exits_gap *gaps = malloc(n * sizeof(*gaps));
	size_t i = 0, k = middle - begin;

	if (!gaps)
		return false;
	memcpy(gaps, &list->gaps[begin], n * sizeof(*gaps));
	list->n = begin;
	while (i < middle - begin || k < n)
		if (k == n || (i < middle - begin && gaps[i].end <= gaps[k].end))
			append(list, begin, gaps[i++]);
		else
			append(list, begin, gaps[k++]);
	list->n_runs--;
	free(gaps);
	return true;
}

/* How many gaps the i-th run has. */
static size_t length(const struct hlg_exits_gap_list *list, size_t i)
{
	return (i + 1 < list->n_runs ? list->runs[i + 1] : list->n) - list->runs[i];
}

static bool add(struct hlg_exits_gap_list *list, struct hlg_exits_gap gap)
{
	if (!HLG_GROW(list->gaps, list->n))
		return false;
	if (list->n == 0 || gap.end < list->gaps[list->n - 1].end) {
		if (!HLG_GROW(list->runs, list->n_runs))
			return false;
		list->runs[list->n_runs++] = list->n;
	}
	append(list, list->runs[list->n_runs - 1], gap);
	while (list->n_runs > 1 &&
	       length(list, list->n_runs - 2) / 2 < length(list, list->n_runs - 1))
		if (!merge(list))
			return false;
	return true;
}

static bool add_cpu(struct hlg_exits_gaps *g, uint16_t cpu)
{
	size_t n = (size_t)cpu + 1;
	struct hlg_exits_gap_list *more = reallocarray(g->cpu, n, sizeof(*more));

	if (!more)
		return false;
	memset(more + g->n_cpus, 0, (n - g->n_cpus) * sizeof(*more));
	g->cpu = more;
	g->n_cpus = n;
	return true;
}

bool hlg_exits_gap(struct hlg_exits_gaps *g, uint64_t start, uint64_t end, uint16_t cpu)
{
	const struct hlg_exits_gap gap = {start < end ? start : end, end};

	if (cpu == HLG_ANY_CPU)
		return add(&g->all, gap) && add(&g->any, gap);
	if (cpu >= g->n_cpus && !add_cpu(g, cpu))
		return false;
	return add(&g->all, gap) && add(&g->cpu[cpu], gap);
}

/* Of those of a run that end behind from the first begins first. */
static bool tears(const struct hlg_exits_gap_list *list, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < list->n_runs; i++) {
		const struct hlg_exits_gap *run = &list->gaps[list->runs[i]];
		const size_t n = length(list, i);
		size_t first = HLG_BSEARCH_UPTO(run, n, end, from);

		if (first < n && run[first].start < to)
			return true;
	}
	return false;
}

bool hlg_exits_gaps_tear(const struct hlg_exits_gaps *g, uint64_t from, uint16_t from_cpu,
			 uint64_t to, uint16_t to_cpu)
{
	if (from_cpu != to_cpu)
		return tears(&g->all, from, to);
	return tears(&g->any, from, to) ||
	       (from_cpu < g->n_cpus && tears(&g->cpu[from_cpu], from, to));
}

static void finish(struct hlg_exits_gap_list *list)
{
	free(list->gaps);
	free(list->runs);
}

void hlg_exits_gaps_finish(struct hlg_exits_gaps *g)
{
	finish(&g->all);
	finish(&g->any);
	for (size_t i = 0; i < g->n_cpus; i++)
		finish(&g->cpu[i]);
	free(g->cpu);
	*g = (struct hlg_exits_gaps){0};
}
