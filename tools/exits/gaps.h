/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When records were lost. Two records of a thread make no pair if any could have been
 * lost between them: if there is a gap in between on the CPU of either, or on any CPU if
 * the thread has moved.
 *
 * Gaps may come in any order, and be asked for in between: they are kept as runs that are
 * sorted, of which the last two are merged until each is twice as long as the next. So a
 * gap takes O(log n) time on the whole, O(1) in order, as perf writes them; and a
 * question O(log^2 n), O(log n) then. Memory: 16 bytes for each gap that lies in no
 * other of its run, up to as much again, and the same once more while runs are merged;
 * 32 bytes for each CPU up to the highest that lost some.
 */
#ifndef HLG_TOOLS_EXITS_GAPS_H
#define HLG_TOOLS_EXITS_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HLG_ANY_CPU UINT16_MAX

/* In each run by end, and so by start: none lies within another. */
struct hlg_exits_gap_list {
	struct hlg_exits_gap {
		uint64_t start, end; /* (start, end], ns */
	} * gaps;
	size_t n;
	size_t *runs; /* where each begins */
	size_t n_runs;
};

/* All zero before the first gap. */
struct hlg_exits_gaps {
	struct hlg_exits_gap_list all, any; /* any: of those where no CPU is known */
	struct hlg_exits_gap_list *cpu;     /* of each CPU */
	size_t n_cpus;
};

/* The latest record of a CPU's buffer before the loss is of start. False without memory.
 */
bool hlg_exits_gap(struct hlg_exits_gaps *gaps, uint64_t start, uint64_t end,
		   uint16_t cpu);

/* Could records be lost between two of a thread, where any were lost? from <= to. */
bool hlg_exits_gaps_tear(const struct hlg_exits_gaps *gaps, uint64_t from,
			 uint16_t from_cpu, uint64_t to, uint16_t to_cpu);

static inline bool hlg_exits_is_torn(const struct hlg_exits_gaps *gaps, uint64_t from,
				     uint16_t from_cpu, uint64_t to, uint16_t to_cpu)
{
	return gaps->all.n && hlg_exits_gaps_tear(gaps, from, from_cpu, to, to_cpu);
}

void hlg_exits_gaps_finish(struct hlg_exits_gaps *gaps);

#endif
