/* SPDX-License-Identifier: GPL-2.0-only */
/* Rates of the counters of windows, as instructions per cycle. */
#ifndef HLG_TOOLS_WINDOWS_RATE_H
#define HLG_TOOLS_WINDOWS_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/windows/windows.h"

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

/* Are both counters of a rate among the columns? */
bool hlg_windows_rate_known(const struct hlg_windows *windows,
			    const struct hlg_rate *rate);

/* The rate of a row's counts; NAN where there is nothing to divide by. */
double hlg_windows_rate_of(const struct hlg_windows *windows, const struct hlg_rate *rate,
			   const uint64_t *counts);

/* Are the first columns HPCTool's: instructions, cycles and reference cycles? */
bool hlg_windows_rate_are_hpctool(const struct hlg_windows *windows);

#endif
