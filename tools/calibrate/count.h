/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counting: programs whose instructions are known, single-stepped and, where the machine
 * has counters, counted by them; in a guest in ring 3, and natively.
 *
 * A million steps take many seconds, so fewer operations are stepped through, at two
 * numbers of them: where both counts are as the program's law says, so is every other.
 */
#ifndef HLG_TOOLS_CALIBRATE_COUNT_H
#define HLG_TOOLS_CALIBRATE_COUNT_H

#include "tools/calibrate/guest.h"
#include "tools/calibrate/pmu.h"
#include "tools/calibrate/ticks.h"

#define HLG_COUNT_PROGRAMS 20
#define HLG_COUNT_SIZES    2

/* Steps of n operations: each * n + besides. One that repeats by prefix retires once. */
struct hlg_law {
	const char *program; /* a symbol of the guests */
	uint64_t each, besides,
		retired; /* retired: of any number of operations; 0: all */
};

extern const struct hlg_law hlg_count_laws[HLG_COUNT_PROGRAMS];

uint64_t hlg_calibrate_steps(const struct hlg_law *law, uint64_t operations);
uint64_t hlg_calibrate_retired(const struct hlg_law *law, uint64_t operations);

enum hlg_count_side {
	HLG_COUNT_GUEST,
	HLG_COUNT_NATIVE,
	HLG_COUNT_SIDES
};

/* One program on one side. */
struct hlg_steps {
	char reason[256]; /* empty: it was stepped through */
	uint64_t steps[HLG_COUNT_SIZES];
	bool exact; /* both counts are the law's */
};

struct hlg_counts {
	uint64_t
		sizes[HLG_COUNT_SIZES]; /* operations stepped through, the larger first */
	uint64_t operations;            /* of a counted run */
	struct hlg_steps steps[HLG_COUNT_SIDES][HLG_COUNT_PROGRAMS];
	struct hlg_pmu_counted counted[HLG_COUNT_SIDES][HLG_COUNT_PROGRAMS];
};

extern const char *const hlg_count_sides[HLG_COUNT_SIDES]; /* "guest", "native" */

/*
 * Fills counts, with sizes set; runs: 1 to HLG_PMU_RUNS_MAX. no_kvm: NULL, or why no
 * guest can run. What cannot be done is told there. Fails only without memory.
 */
int hlg_calibrate_count(struct hlg_counts *counts, const struct hlg_guests *guests,
			const char *no_kvm, uint64_t runs, struct hlg_err *err);

/* Least, median and most of n values, and their coefficient of variation. n is not 0. */
struct hlg_variation {
	uint64_t min, median, max;
	double cov;
};
struct hlg_variation hlg_calibrate_variation(const uint64_t *values, size_t n);

#endif
