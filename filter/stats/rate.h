/* SPDX-License-Identifier: GPL-2.0-only */
/* Rates of sampling that mislead, in samples a second of a clock. */
#ifndef HLG_FILTER_STATS_RATE_H
#define HLG_FILTER_STATS_RATE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	HLG_RATE_DENSE = 20000, /* from here on: each sample takes some us by itself */
	/* Not from here on: the kernel's timer ticks each 10 us at most
	 * (kernel/events/core.c, perf_swevent_start_hrtimer), so such a period is no
	 * clock's, as -c 100 asks for. */
	HLG_RATE_NONE = 1000000,
	HLG_RATE_ROUND = 100 /* clocks of guests have rates that are multiples of it */
};

static inline bool hlg_rate_is_round(uint64_t rate)
{
	return rate && rate % HLG_RATE_ROUND == 0;
}

/* One near it that is not round, and shares no factor with it. */
static inline uint64_t hlg_rate_beside(uint64_t round)
{
	return round - (round < 1000 ? 1 : 3);
}

#endif
