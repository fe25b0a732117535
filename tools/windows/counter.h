/* SPDX-License-Identifier: GPL-2.0-only */
/* Which counters rates can be made of (rate.h), whatever perf calls them. */
#ifndef HLG_TOOLS_WINDOWS_COUNTER_H
#define HLG_TOOLS_WINDOWS_COUNTER_H

#include <stdint.h>

enum hlg_counter {
	HLG_COUNTER_OTHER,
	HLG_COUNTER_INSTRUCTIONS,
	HLG_COUNTER_CYCLES,
	HLG_COUNTER_REF_CYCLES,
	HLG_COUNTER_BRANCHES,
	HLG_COUNTER_BRANCH_MISSES,
	HLG_COUNTER_LLC,
	HLG_COUNTER_LLC_MISSES,
	HLG_COUNTER_TIME, /* counts ns: cpu-clock, task-clock */
};

/* By the attribute's type and config, or by the event's name. */
enum hlg_counter hlg_counter_of(uint32_t type, uint64_t config, const char *name);

#endif
