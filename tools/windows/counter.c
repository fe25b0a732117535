// SPDX-License-Identifier: GPL-2.0-only
#include "tools/windows/counter.h"

#include <linux/perf_event.h>
#include <string.h>

/* Names of raw events and of those a PMU describes; without what is around them. */
static const struct {
	const char *name;
	enum hlg_counter counter;
} names[] = {
	{"instructions", HLG_COUNTER_INSTRUCTIONS},
	{"inst_retired.any", HLG_COUNTER_INSTRUCTIONS},
	{"cycles", HLG_COUNTER_CYCLES},
	{"cpu-cycles", HLG_COUNTER_CYCLES},
	{"cpu_clk_unhalted.thread", HLG_COUNTER_CYCLES},
	{"ref-cycles", HLG_COUNTER_REF_CYCLES},
	{"cpu_clk_unhalted.ref_tsc", HLG_COUNTER_REF_CYCLES},
	{"branches", HLG_COUNTER_BRANCHES},
	{"branch-instructions", HLG_COUNTER_BRANCHES},
	{"br_inst_retired.all_branches", HLG_COUNTER_BRANCHES},
	{"branch-misses", HLG_COUNTER_BRANCH_MISSES},
	{"br_misp_retired.all_branches", HLG_COUNTER_BRANCH_MISSES},
	{"cache-references", HLG_COUNTER_LLC},
	{"cache-misses", HLG_COUNTER_LLC_MISSES},
};

/* "cpu/instructions/u", "cpu_core/cycles/", "branches:u": the name in it. */
static enum hlg_counter by_name(const char *name)
{
	const char *slash = strchr(name, '/');
	size_t n;

	if (slash)
		name = slash + 1;
	n = strcspn(name, "/:,");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i].name) == n && strncmp(names[i].name, name, n) == 0)
			return names[i].counter;
	return HLG_COUNTER_OTHER;
}

enum hlg_counter hlg_counter_of(uint32_t type, uint64_t config, const char *name)
{
	static const uint8_t hardware[] = {
		[PERF_COUNT_HW_CPU_CYCLES] = HLG_COUNTER_CYCLES,
		[PERF_COUNT_HW_INSTRUCTIONS] = HLG_COUNTER_INSTRUCTIONS,
		[PERF_COUNT_HW_CACHE_REFERENCES] = HLG_COUNTER_LLC,
		[PERF_COUNT_HW_CACHE_MISSES] = HLG_COUNTER_LLC_MISSES,
		[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = HLG_COUNTER_BRANCHES,
		[PERF_COUNT_HW_BRANCH_MISSES] = HLG_COUNTER_BRANCH_MISSES,
		[PERF_COUNT_HW_REF_CPU_CYCLES] = HLG_COUNTER_REF_CYCLES,
	};
	/* The upper half is the PMU on hybrid processors (PERF_PMU_TYPE_SHIFT). */
	uint32_t low = (uint32_t)config;

	if (type == PERF_TYPE_HARDWARE)
		return low < sizeof(hardware) ? hardware[low] : HLG_COUNTER_OTHER;
	if (type == PERF_TYPE_SOFTWARE)
		return config <= PERF_COUNT_SW_TASK_CLOCK ? HLG_COUNTER_TIME
							  : HLG_COUNTER_OTHER;
	if (type == PERF_TYPE_TRACEPOINT || type == PERF_TYPE_BREAKPOINT)
		return HLG_COUNTER_OTHER;
	/* perf_event_open(2): cache | operation << 8 | result << 16; LL reads. */
	if (type == PERF_TYPE_HW_CACHE && low == PERF_COUNT_HW_CACHE_LL)
		return HLG_COUNTER_LLC;
	if (type == PERF_TYPE_HW_CACHE &&
	    low == (PERF_COUNT_HW_CACHE_LL | PERF_COUNT_HW_CACHE_RESULT_MISS << 16))
		return HLG_COUNTER_LLC_MISSES;
	return by_name(name);
}
