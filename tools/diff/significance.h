/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which of many counts changed, for whoever has counts and nothing more: frames of a
 * flame graph, say. As the rows of hlguest diff (compare.h): shares of each side's total
 * are compared, within one recording each, and the false discovery rate is kept over all
 * that are handed in together.
 */
#ifndef HLG_TOOLS_DIFF_SIGNIFICANCE_H
#define HLG_TOOLS_DIFF_SIGNIFICANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In: counts, in the unit of the totals (samples, or period), at most as much. */
struct hlg_diff_change {
	uint64_t before, after;
	/* Out. */
	double share[2]; /* before, after: 0 to 1 */
	double p, q;     /* of the test alone; and the false discovery rate */
	int sign; /* 1 grew, -1 shrank, 0 if q is above HLG_COMPARE_LEVEL: not established
		   */
};

/*
 * A side's sum, and how many independent observations it stands for: the number of
 * samples, where the counts are periods hlg_stat_effective() of them. A side of none
 * leaves everything at 0 and p, q at 1.
 */
struct hlg_diff_total {
	uint64_t weight;
	double observations;
};

/* Fills in n changes. Returns false without memory. */
bool hlg_diff_significance(struct hlg_diff_change *changes, size_t n,
			   struct hlg_diff_total before, struct hlg_diff_total after);

#endif
