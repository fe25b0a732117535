// SPDX-License-Identifier: GPL-2.0-only
#include "tools/calibrate/pmu.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <x86intrin.h>

const char *const hlg_pmu_events[HLG_PMU_EVENTS] = {"instructions", "cycles", "branches",
						    "loads", "stores"};

/* linux/perf_event.h, enum perf_hw_id; loads and stores have no generic event. */
static const int configs[HLG_PMU_EVENTS] = {
	[HLG_PMU_INSTRUCTIONS] = PERF_COUNT_HW_INSTRUCTIONS,
	[HLG_PMU_CYCLES] = PERF_COUNT_HW_CPU_CYCLES,
	[HLG_PMU_BRANCHES] = PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	[HLG_PMU_LOADS] = -1,
	[HLG_PMU_STORES] = -1,
};

const char *hlg_pmu_why(int error)
{
	switch (error) {
	case ENOENT:
	case EOPNOTSUPP:
	case ENODEV:
		return HLG_PMU_NO_COUNTER;
	case EACCES:
	case EPERM:
		return "perf_event_paranoid forbids it";
	case ENOSYS:
		return "this kernel has no perf events";
	case EINVAL:
		return "this counter cannot do that";
	case EBUSY:
		return "another program holds the counters";
	default:
		return strerrordesc_np(error);
	}
}

void hlg_pmu_open(struct hlg_pmu *pmu, bool guest, char reasons[][96])
{
	for (size_t i = 0; i < HLG_PMU_EVENTS; i++) {
		struct perf_event_attr attr = {
			.type = PERF_TYPE_HARDWARE,
			.size = sizeof(attr),
			.config = (uint64_t)configs[i],
			.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
				       PERF_FORMAT_TOTAL_TIME_RUNNING,
			.disabled = 1,
			.exclude_kernel = 1,
			.exclude_hv = 1,
			.exclude_host = guest,
			.exclude_guest = !guest,
		};

		reasons[i][0] = '\0';
		pmu->fds[i] = -1;
		if (configs[i] < 0) {
			snprintf(reasons[i], 96, "no event counts them on every machine");
			continue;
		}
		pmu->fds[i] = hlg_perf_event_open(&attr);
		if (pmu->fds[i] < 0)
			snprintf(reasons[i], 96, "%s", hlg_pmu_why(errno));
	}
}

void hlg_pmu_finish(struct hlg_pmu *pmu)
{
	for (size_t i = 0; i < HLG_PMU_EVENTS; i++)
		if (pmu->fds[i] >= 0)
			close(pmu->fds[i]);
}

static uint64_t faults(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_THREAD, &usage) < 0)
		return 0;
	return (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
}

/* The column of a CPU, all lines of /proc/interrupts; 0 where it cannot be read. */
static uint64_t interrupts(int cpu)
{
	FILE *f = fopen("/proc/interrupts", "re");
	char *line = NULL, *at;
	size_t size = 0;
	uint64_t sum = 0;

	while (f && getline(&line, &size, f) > 0) {
		at = strchr(line, ':');
		for (int i = 0; at && i <= cpu; i++) {
			char *end;
			uint64_t n = strtoull(at + (i == 0), &end, 10);

			if (end == at + (i == 0))
				break;
			sum += i == cpu ? n : 0;
			at = end;
		}
	}
	free(line);
	if (f)
		fclose(f);
	return sum;
}

void hlg_pmu_begin(struct hlg_pmu *pmu)
{
	pmu->cpu = sched_getcpu();
	pmu->before_interrupts = interrupts(pmu->cpu);
	pmu->before_faults = faults();
	for (size_t i = 0; i < HLG_PMU_EVENTS; i++)
		if (pmu->fds[i] >= 0) {
			pmu->ok[i] = hlg_perf_event_read(pmu->fds[i], &pmu->before[i]);
			hlg_perf_event_enable(pmu->fds[i]);
		}
	pmu->before_ticks = __rdtsc();
}

/* What an event counted since begin; 0 with a reason if that is not known. */
static uint64_t counted_by(const struct hlg_pmu *pmu, size_t event, char reason[96])
{
	const struct hlg_perf_event_count *before = &pmu->before[event];
	struct hlg_perf_event_count after;

	if (pmu->fds[event] < 0)
		return 0;
	if (!pmu->ok[event] || !hlg_perf_event_read(pmu->fds[event], &after)) {
		snprintf(reason, 96, "the counter cannot be read");
		return 0;
	}
	/* Counters that take turns count a part of the time only: no truth is in that. */
	if (after.running - before->running != after.enabled - before->enabled) {
		snprintf(reason, 96, "the counter was shared (stop other users of perf)");
		return 0;
	}
	return after.value - before->value;
}

void hlg_pmu_end(struct hlg_pmu *pmu, struct hlg_pmu_counted *counted, size_t run)
{
	counted->ticks[run] = __rdtsc() - pmu->before_ticks;
	for (size_t i = HLG_PMU_EVENTS; i-- > 0;)
		if (pmu->fds[i] >= 0)
			hlg_perf_event_disable(pmu->fds[i]);
	counted->faults[run] = faults() - pmu->before_faults;
	counted->interrupts[run] = interrupts(pmu->cpu) - pmu->before_interrupts;
	for (size_t i = 0; i < HLG_PMU_EVENTS; i++)
		counted->values[i][run] = counted_by(pmu, i, counted->reason[i]);
}
