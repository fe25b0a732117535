/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which counters rates can be made of, whatever perf calls them, and the rates.
 */
#ifndef HLG_TOOLS_WINDOWS_COUNTER_H
#define HLG_TOOLS_WINDOWS_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
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

struct hlg_rate {
	const char *name, *unit;  /* "ipc", "" */
	const char *title;        /* "instructions per cycle" */
	enum hlg_counter of, per; /* of / per * times */
	double times;
	int places; /* decimals */
};

enum {
	HLG_N_RATES = 3
};
extern const struct hlg_rate hlg_rates[HLG_N_RATES];

struct hlg_windows;

/* Are both counters of a rate among the columns? */
bool hlg_rate_known(const struct hlg_windows *windows, const struct hlg_rate *rate);

/* The rate of a row's counts; NAN where there is nothing to divide by. */
double hlg_rate_of(const struct hlg_windows *windows, const struct hlg_rate *rate,
		   const uint64_t *counts);

/* Are the first columns HPCTool's: instructions, cycles and reference cycles? */
bool hlg_counters_are_hpctool(const struct hlg_windows *windows);

#endif
