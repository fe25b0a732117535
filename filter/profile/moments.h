/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When guest samples were taken, and where: of all of them, or of many a part that says
 * as much of phases (filter/stats/phases.h).
 *
 * A sample is kept if a hash of its time begins with enough zero bits, which are as many
 * as it takes for HLG_MOMENTS_MOST to be enough. So which samples are kept depends on
 * these alone: not on their order, nor on who counted which of them; and memory is
 * bounded.
 */
#ifndef HLG_FILTER_PROFILE_MOMENTS_H
#define HLG_FILTER_PROFILE_MOMENTS_H

#include <stddef.h>

#include "filter/profile/sample.h"

enum {
	HLG_MOMENTS_MOST = 1 << 15,
	HLG_MOMENTS_HALVED = 40 /* no more often: samples are all of a few moments */
};

struct hlg_moment {
	uint64_t time; /* ns, perf's clock */
	uint64_t ip;   /* as in the profile's cells */
	uint32_t series;
};

/* All zero before the first use. */
struct hlg_moments {
	struct hlg_moment *at; /* in any order, until they are sorted */
	size_t n;
	unsigned halved; /* one of 2^halved samples is kept; from HLG_MOMENTS_HALVED on
			  * none */
	bool lost;       /* there was no memory */
};

/* Samples whose hash is below this are kept. */
static inline uint64_t hlg_moments_below(const struct hlg_moments *moments)
{
	return moments->halved < HLG_MOMENTS_HALVED ? UINT64_MAX >> moments->halved : 0;
}

/* Of a time that is known. The factor of multiplicative hashing (symtab/hash.h), and the
 * same in each process: reports must not differ. */
static inline uint64_t hlg_moments_hash(uint64_t time)
{
	return time * UINT64_C(0x9e3779b97f4a7c15);
}

/* Adds a sample whose hash is small enough. */
void hlg_moments_keep(struct hlg_moments *moments, uint64_t time, uint64_t ip,
		      uint32_t series);

/* Adds a sample, if it is one to be kept; time may be HLG_NO_TIME. */
static inline void hlg_moments_add(struct hlg_moments *moments, uint64_t time,
				   uint64_t ip, uint32_t series)
{
	if (time != HLG_NO_TIME && hlg_moments_hash(time) < hlg_moments_below(moments))
		hlg_moments_keep(moments, time, ip, series);
}

/* Adds what from has; series and moves as in hlg_slices_merge. */
void hlg_moments_merge(struct hlg_moments *to, const struct hlg_moments *from,
		       const uint32_t *series, const uint64_t *moves);

/* Are n moments, of one in 2^halved samples, those of so many? How many are kept varies
 * by about the root. */
bool hlg_moments_of_all(size_t n, unsigned halved, uint64_t samples);

/*
 * A copy of the moments, by time, to be freed, if they are of so many samples. NULL
 * without memory; *n is 0 if not so many were offered: some have no time.
 */
struct hlg_moment *hlg_moments_sorted(const struct hlg_moments *moments, uint64_t samples,
				      size_t *n);

void hlg_moments_finish(struct hlg_moments *moments);

#endif
