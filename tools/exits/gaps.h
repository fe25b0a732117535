/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When records were lost. Two records of a thread make no pair if any could have been
 * lost between them: if there is a gap in between on the CPU of either, or on any CPU if
 * the thread has moved.
 *
 * Gaps may come in any order, and be asked for in between: n of them take O(n log n)
 * time, a question O(log n) if its CPU's came in the order of time (as perf writes them),
 * O(log² n) if not. Memory: a gap that lies within another may be forgotten; the others
 * take 16 bytes twice, and at most as much again, or while they move three times that.
 */
#ifndef HLG_TOOLS_EXITS_GAPS_H
#define HLG_TOOLS_EXITS_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HLG_ANY_CPU UINT16_MAX

struct hlg_exits_gap {
	uint64_t start, end; /* (start, end], ns */
};

/*
 * Gaps by end, and also by start: one that lies within the next is forgotten. Those that
 * came out of order make a run of their own; each run has at least twice as many as the
 * next, but for the newest.
 */
struct hlg_exits_run {
	struct hlg_exits_run *older;
	size_t n, room;
	struct hlg_exits_gap gaps[];
};

/* All zero before the first gap. */
struct hlg_exits_gaps {
	struct hlg_exits_run *all;  /* the newest run; NULL: none */
	struct hlg_exits_run **cpu; /* of each CPU, HLG_ANY_CPU among them */
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
	return gaps->all && hlg_exits_gaps_tear(gaps, from, from_cpu, to, to_cpu);
}

void hlg_exits_gaps_finish(struct hlg_exits_gaps *gaps);

#endif
