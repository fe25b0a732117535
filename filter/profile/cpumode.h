/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stacks=counters on the sample path: samples of each series by cpumode, and no cells.
 * What is made of them is in states.h.
 */
#ifndef HLG_FILTER_PROFILE_CPUMODE_H
#define HLG_FILTER_PROFILE_CPUMODE_H

#include "filter/profile/profile.h"

enum {
	HLG_N_MODES = 8 /* PERF_RECORD_MISC_CPUMODE_MASK */
};

/* Of one series. */
struct hlg_modes {
	struct hlg_count of[HLG_N_MODES];
};

/* For the profile only: room for so many series, if its options say counters. False
 * without memory. */
bool hlg_modes_grow(struct hlg_profile *profile, uint32_t room);

/* Samples like this one into its series. False without memory. */
bool hlg_modes_add(struct hlg_profile *profile, const struct hlg_sample *sample,
		   struct hlg_count count);

/* Another profile's series, which is this one here; without it (HLG_NO_SERIES) its
 * samples become unrecorded. */
void hlg_modes_merge(struct hlg_profile *to, const struct hlg_modes *from,
		     uint32_t series);

/*
 * The short cut, as hlg_hits is for cells: samples of one plain event, whatever their
 * address.
 */
struct hlg_tally {
	struct hlg_modes modes;
	uint32_t series; /* HLG_NO_SERIES if the short cut is closed */
	uint64_t period; /* of all samples the profile has seen */
};

static inline void hlg_modes_begin(struct hlg_tally *tally,
				   const struct hlg_profile *profile, uint32_t event)
{
	*tally = (struct hlg_tally){.series = profile->events[event].modes,
				    .period = profile->seen.period};
}

/* Counts a sample and returns true, or hlg_profile_add is to be asked. */
static inline bool hlg_modes_tally(struct hlg_tally *tally, unsigned cpumode,
				   uint64_t period)
{
	uint64_t sum;

	if (tally->series == HLG_NO_SERIES ||
	    __builtin_add_overflow(tally->period, period, &sum))
		return false;
	tally->period = sum;
	tally->modes.of[cpumode].samples++;
	tally->modes.of[cpumode].period += period;
	return true;
}

void hlg_modes_end(const struct hlg_tally *tally, struct hlg_profile *profile);

#endif
