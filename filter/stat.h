/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How sure a share is.
 *
 * The interval is Wilson's score interval at 95 % (E. B. Wilson, JASA 22, 1927). It asks
 * for a number of independent observations: with equal weights that is the number of
 * samples; with unequal periods it is Kish's effective sample size, (sum w)^2 / sum w^2
 * (L. Kish, Survey Sampling, 1965, 11.7), which is smaller.
 */
#ifndef HLG_FILTER_STAT_H
#define HLG_FILTER_STAT_H

#include "profile.h"

struct hlg_share {
	double share, low, high; /* 0 to 1 */
};

/* Interval of a share seen in n observations; n need not be whole. n <= 0: 0 to 1. */
struct hlg_share hlg_stat_wilson(double share, double n);

/* Effective number of observations in samples whose periods sum to sum and squares. */
double hlg_stat_effective(uint64_t samples, uint64_t sum, hlg_u128 squares);

#endif
