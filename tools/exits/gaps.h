/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When records were lost. Two records of a thread make no pair if any could have been
 * lost between them: if there is a gap in between on the CPU of either, or on any CPU if
 * the thread has moved.
 *
 * Gaps may come in any order, and be asked for in between. A question takes O(log n)
 * time; a gap takes as long as moving those between it and the one before it, which are
 * few as perf writes them. Memory: 32 bytes for each gap that lies in no other, and up to
 * as much again.
 */
#ifndef HLG_TOOLS_EXITS_GAPS_H
#define HLG_TOOLS_EXITS_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HLG_ANY_CPU UINT16_MAX

/* By end, and so by start: none lies within another. The room that is free lies where the
 * latest was put in. */
struct hlg_exits_gap_list {
	struct hlg_exits_gap {
		uint64_t start, end; /* (start, end], ns */
	} * gaps;
	size_t n, room;
	size_t before; /* of the n, in front of the free room; the others end the array */
};

/* All zero before the first gap. */
struct hlg_exits_gaps {
	struct hlg_exits_gap_list all;
	struct hlg_exits_gap_list *cpu; /* of each CPU, HLG_ANY_CPU among them */
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
