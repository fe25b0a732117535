// SPDX-License-Identifier: GPL-2.0-only
#include "tools/windows/rate.h"

#include <math.h>

const struct hlg_rate hlg_rates[HLG_N_RATES] = {
	{"ipc", "", "instructions per cycle", HLG_COUNTER_INSTRUCTIONS,
	 HLG_COUNTER_CYCLES, 1, 4},
	{"branch_miss_percent", "%", "branches mispredicted", HLG_COUNTER_BRANCH_MISSES,
	 HLG_COUNTER_BRANCHES, 100, 3},
	{"llc_miss_percent", "%", "last-level cache misses", HLG_COUNTER_LLC_MISSES,
	 HLG_COUNTER_LLC, 100, 3},
};

/* The column of a counter; n_columns if there is none. */
static size_t find(const struct hlg_windows *w, enum hlg_counter counter)
{
	size_t i = 0;

	while (i < w->n_columns && w->columns[i].counter != counter)
		i++;
	return i;
}

bool hlg_windows_rate_known(const struct hlg_windows *w, const struct hlg_rate *rate)
{
	return find(w, rate->of) < w->n_columns && find(w, rate->per) < w->n_columns;
}

double hlg_windows_rate_of(const struct hlg_windows *w, const struct hlg_rate *rate,
			   const uint64_t *counts)
{
	uint64_t per;

	if (!hlg_windows_rate_known(w, rate))
		return NAN;
	per = counts[find(w, rate->per)];
	return per ? (double)counts[find(w, rate->of)] / (double)per * rate->times : NAN;
}

bool hlg_windows_rate_are_hpctool(const struct hlg_windows *w)
{
	return w->n_columns >= 3 && w->columns[0].counter == HLG_COUNTER_INSTRUCTIONS &&
	       w->columns[1].counter == HLG_COUNTER_CYCLES &&
	       w->columns[2].counter == HLG_COUNTER_REF_CYCLES;
}
