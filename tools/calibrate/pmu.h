/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters of the hardware on the calling thread, and what disturbs them. A counter that
 * cannot be opened is left out, with a reason.
 */
#ifndef HLG_TOOLS_CALIBRATE_PMU_H
#define HLG_TOOLS_CALIBRATE_PMU_H

#include "tools/calibrate/count.h"
#include "tools/calibrate/perf-event.h"

struct hlg_pmu {
	int fds[HLG_COUNT_EVENTS]; /* -1: not open */
	struct hlg_perf_event_count before[HLG_COUNT_EVENTS];
	bool ok[HLG_COUNT_EVENTS]; /* before could be read */
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
void hlg_pmu_end(struct hlg_pmu *pmu, struct hlg_counted *counted, size_t run);

#endif
