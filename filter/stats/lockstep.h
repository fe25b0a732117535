/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Do samples fall in step with what the guest does?
 *
 * A guest that does the same each time a clock of its own ticks, sampled by a clock whose
 * period is a simple part of that, is always met at the same few points of its cycle: of
 * k points each has every k-th sample, and their shares are those of the points, not of
 * time. So samples are numbered by the sampling clock's ticks, and a chi-square test of
 * rows by the number's remainder tells whether each k-th is alike, for each k up to
 * HLG_LOCKSTEP_MOST.
 *
 * What a guest does for a while makes remainders differ as well, of every k near alike.
 * So chi-square is taken in terms of what it is for k's near (the median), and k is only
 * told if chance has it less often than once in a billion, if it makes a difference, and
 * if it is the same at the end of the recording as at its beginning. k is at most half
 * the root of the number of samples: that many points do no more to a share than chance.
 *
 * What this cannot see is a guest that is met at one point only (k is 1), whose samples
 * are all alike; nor, of several vCPUs whose samples are mixed, those of one.
 */
#ifndef HLG_FILTER_STATS_LOCKSTEP_H
#define HLG_FILTER_STATS_LOCKSTEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	HLG_LOCKSTEP_MOST = 100
};

/*
 * n samples, or some of them, in their order in time: of each its time (ns) and its row,
 * n_rows of what is in none; the clock ticks each period ns. *every becomes k, or 0: they
 * are not in step. False without memory.
 */
bool hlg_lockstep_find(unsigned *every, const uint64_t *time, const uint32_t *row,
		       size_t n, size_t n_rows, uint64_t period);

#endif
