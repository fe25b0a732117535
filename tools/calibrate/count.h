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
#include "tools/calibrate/ticks.h"

#define HLG_COUNT_PROGRAMS 20
#define HLG_COUNT_SIZES    2
#define HLG_COUNT_RUNS_MAX 100

/* Steps of n operations: each * n + besides. One that repeats by prefix retires once. */
struct hlg_law {
	const char *program; /* a symbol of the guests */
	uint64_t each, besides,
		retired; /* retired: of any number of operations; 0: all */
};

extern const struct hlg_law hlg_count_laws[HLG_COUNT_PROGRAMS];

uint64_t hlg_calibrate_count_steps(const struct hlg_law *law, uint64_t operations);
uint64_t hlg_calibrate_count_retired(const struct hlg_law *law, uint64_t operations);

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

/* What a counter of the hardware counts. */
enum hlg_calibrate_count_event {
	HLG_COUNT_INSTRUCTIONS,
	HLG_COUNT_CYCLES,
	HLG_COUNT_BRANCHES,
	HLG_COUNT_LOADS,
	HLG_COUNT_STORES,
	HLG_COUNT_EVENTS
};

/* Runs of all operations, counted and timed. */
struct hlg_counted {
	char reason[HLG_COUNT_EVENTS][96]; /* empty: counted */
	uint64_t runs;
	uint64_t values[HLG_COUNT_EVENTS][HLG_COUNT_RUNS_MAX];
	uint64_t ticks[HLG_COUNT_RUNS_MAX];      /* TSC */
	uint64_t faults[HLG_COUNT_RUNS_MAX];     /* page faults of the thread */
	uint64_t interrupts[HLG_COUNT_RUNS_MAX]; /* of the CPU it began on */
};

struct hlg_counts {
	uint64_t
		sizes[HLG_COUNT_SIZES]; /* operations stepped through, the larger first */
	uint64_t operations;            /* of a counted run */
	struct hlg_steps steps[HLG_COUNT_SIDES][HLG_COUNT_PROGRAMS];
	struct hlg_counted counted[HLG_COUNT_SIDES][HLG_COUNT_PROGRAMS];
};

/* "instructions", "cycles" ...; "guest", "native". */
const char *hlg_calibrate_count_event_name(enum hlg_calibrate_count_event event);
const char *hlg_calibrate_count_side_name(enum hlg_count_side side);

/*
 * Fills counts, with sizes set; runs: 1 to HLG_COUNT_RUNS_MAX. no_kvm: NULL, or why no
 * guest can run. What cannot be done is told there. Fails only without memory.
 */
int hlg_calibrate_count_measure(struct hlg_counts *counts,
				const struct hlg_guests *guests, const char *no_kvm,
				uint64_t runs, struct hlg_err *err);

/* count-guest.c and count-native.c: one side each. */
int hlg_calibrate_count_guest(struct hlg_counts *counts, const struct hlg_guests *guests,
			      uint64_t runs);
int hlg_calibrate_count_native(struct hlg_counts *counts, const struct hlg_guests *guests,
			       uint64_t runs);

/* Least, median and most of n values, and their coefficient of variation. n is not 0. */
struct hlg_variation {
	uint64_t min, median, max;
	double cov;
};
struct hlg_variation hlg_calibrate_count_variation(const uint64_t *values, size_t n);

#endif
