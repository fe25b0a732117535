/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters of the hardware on the calling thread, and what disturbs them. A counter that
 * cannot be opened is left out, with a reason.
 */
#ifndef HLG_TOOLS_CALIBRATE_PMU_H
#define HLG_TOOLS_CALIBRATE_PMU_H

#include <stddef.h>

#include "tools/calibrate/perf-event.h"

#define HLG_PMU_RUNS_MAX 100

/* A reason: of an event that is not there, whoever asks. */
#define HLG_PMU_NO_COUNTER "this machine has no such counter"

/* What a counter of the hardware counts. */
enum hlg_pmu_event {
	HLG_PMU_INSTRUCTIONS,
	HLG_PMU_CYCLES,
	HLG_PMU_BRANCHES,
	HLG_PMU_LOADS,
	HLG_PMU_STORES,
	HLG_PMU_EVENTS
};

/* Runs of all operations, counted and timed. */
struct hlg_pmu_counted {
	char reason[HLG_PMU_EVENTS][96]; /* empty: counted */
	uint64_t runs;
	uint64_t values[HLG_PMU_EVENTS][HLG_PMU_RUNS_MAX];
	uint64_t ticks[HLG_PMU_RUNS_MAX];      /* TSC */
	uint64_t faults[HLG_PMU_RUNS_MAX];     /* page faults of the thread */
	uint64_t interrupts[HLG_PMU_RUNS_MAX]; /* of the CPU it began on */
};

extern const char *const hlg_pmu_events[HLG_PMU_EVENTS]; /* "instructions" ... */

struct hlg_pmu {
	int fds[HLG_PMU_EVENTS]; /* -1: not open */
	struct hlg_perf_event_count before[HLG_PMU_EVENTS];
	bool ok[HLG_PMU_EVENTS]; /* before could be read */
	uint64_t before_faults, before_interrupts, before_ticks;
	int cpu;
};

/*
 * Opens what can be, each counter by itself; guest: only of guests that the thread runs.
 * reasons: for those that cannot, empty strings for the others. Always finish it.
 */
void hlg_pmu_open(struct hlg_pmu *pmu, bool guest, char reasons[][96]);
void hlg_pmu_finish(struct hlg_pmu *pmu);

/*
 * Around what is counted: what they counted is run `run` of counted. Where a counter
 * fails, or counted a part of the time only, its reason is set there: none of its runs is
 * worth anything then.
 */
void hlg_pmu_begin(struct hlg_pmu *pmu);
void hlg_pmu_end(struct hlg_pmu *pmu, struct hlg_pmu_counted *counted, size_t run);

/* Why hlg_perf_event_open failed, in few words. */
const char *hlg_pmu_why(int error);

#endif
