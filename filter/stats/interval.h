/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How sure a share is.
 *
 * The interval is Wilson's score interval at 95 % (E. B. Wilson, JASA 22, 1927). It asks
 * for a number of independent observations: with equal weights that is the number of
 * samples; with unequal periods it is Kish's effective sample size, (sum w)^2 / sum w^2
 * (L. Kish, Survey Sampling, 1965, 11.7), which is smaller.
 */
#ifndef HLG_FILTER_STATS_INTERVAL_H
#define HLG_FILTER_STATS_INTERVAL_H

#include "filter/profile/profile.h"

/* The level of every interval that is told of a share or a mean: 95 %; and the quantile
 * of the normal distribution for it. */
#define HLG_INTERVAL_LEVEL 0.05
#define HLG_INTERVAL_Z     1.959963984540054

struct hlg_share {
	double share, low, high; /* 0 to 1 */
};

/* Interval of a share seen in n observations; n need not be whole. n <= 0: 0 to 1. */
struct hlg_share hlg_interval_wilson(double share, double n);

/*
 * Are these samples so few, and this share so small, that only an upper limit is told?
 * Rows without a sample are not shown, so that a row of one or two is there says nothing
 * of how small its share can be.
 */
bool hlg_interval_is_few(uint64_t samples, double share);

/* hlg_interval_wilson at a level other than 95 %: z is the normal distribution's quantile
 * for it. */
struct hlg_share hlg_interval_wilson_at(double share, double n, double z);

/* That of 99 %, and its z: the 99.5th percentile of the standard normal distribution. */
#define HLG_INTERVAL_LEVEL99 0.01
#define HLG_INTERVAL_Z99     2.5758293035489004

/*
 * The probability that a chi-square variable of df degrees of freedom is x or more: the
 * upper incomplete gamma function Q(df / 2, x / 2), by its series and its continued
 * fraction (NIST DLMF 8.11.4 and 8.9.2). 1 for x <= 0 or no degree of freedom.
 */
double hlg_interval_chi_square(double x, unsigned df);

/*
 * The probability that |T| of Student's t with df degrees of freedom is |t| or more: the
 * incomplete beta function I(df / (df + t^2); df / 2, 1 / 2), by its continued fraction
 * (NIST DLMF 8.17.22). df > 0 need not be whole; an infinite df is the normal
 * distribution. 1 if t is no number.
 */
double hlg_interval_student(double t, double df);

/*
 * The probability that of n trials k or more succeed, each by itself with probability p,
 * 0 < p < 1: the incomplete beta function I(p; k, n - k + 1) (NIST DLMF 8.17.5).
 */
double hlg_interval_binomial(uint64_t k, uint64_t n, double p);

/* The t whose hlg_interval_student() is tail, 0 < tail < 1, to twelve digits. */
double hlg_interval_student_quantile(double tail, double df);

/* Effective number of observations in samples whose periods sum to sum and squares. */
double hlg_interval_effective(uint64_t samples, uint64_t sum, hlg_u128 squares);

/* Percent of a share with two decimals ("12.34"), in every locale. */
const char *hlg_interval_percent(char buf[static 16], double share);

/* The share of a part in all, which is it and the rest: none that is told as 100.00 % if
 * there is any. 0 of nothing. */
double hlg_interval_part_share(uint64_t part, uint64_t rest);

/* Percent of that, as above. */
const char *hlg_interval_part(char buf[static 16], uint64_t part, uint64_t rest);

/*
 * How sure s is, in percentage points: "\u00b1 1.66", the larger side of the interval
 * (ascii: "+- 1.66"); or "< 0.30", its upper limit, of few, and where less than nothing
 * would be on the other side.
 */
const char *hlg_interval_margin(char buf[static 24], const struct hlg_share *s, bool few,
				bool ascii);

/* Percentage points with a sign, two decimals: "+1.68", "-0.04", "+0.00". */
const char *hlg_interval_points(char buf[static 16], double share);

#endif
