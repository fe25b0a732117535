/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Did a share change? Two profiles compared, share by share.
 *
 * Within one recording the samples are the units that are counted, as if each was drawn
 * by itself: a share is a proportion of n observations (with unequal periods their
 * effective number: interval.h). What that cannot see is how much two recordings of the
 * same thing differ, for want of luck with caches, timers or layout. Only several
 * recordings of a side show it: from three on, their spread is what counts.
 *
 * - hlg_compare_samples: the difference of two proportions. The interval is Newcombe's
 *   hybrid score interval without continuity correction (R. G. Newcombe, Statistics in
 *   Medicine 17, 1998, 873-890, method 10). The test is Pearson's chi-square of the
 *   2 x 2 table; where a count of fewer than 5 is expected in any of its cells, it is
 *   Fisher's exact test with the mid-P (H. O. Lancaster, JASA 56, 1961), the smaller
 *   tail doubled, of the counts that the shares make of the whole observations.
 * - hlg_compare_runs: the difference of two ratio estimates, total share of total weight
 *   (W. G. Cochran, Sampling Techniques, 1977, 2.11). Its variance is that of samples and
 *   of runs: by how much this row and all rows differ between recordings of one side
 *   (dispersion.h); a side of one recording is taken to vary as the other does. p is how
 *   likely chance makes as large a difference, over all that the row's dispersion may be.
 *   Rows of few samples must pass the exact test too.
 */
#ifndef HLG_FILTER_STATS_COMPARE_H
#define HLG_FILTER_STATS_COMPARE_H

#include "filter/stats/dispersion.h"

/* What is called significant: the false discovery rate. */
#define HLG_COMPARE_LEVEL 0.05

/* From so many recordings of a side on, the spread between them is used. */
#define HLG_COMPARE_RUNS 3

struct hlg_compared {
	double diff, low, high; /* of shares, after - before; a 95 % interval */
	double p;
	bool exact; /* p is, or is bound by, that of the exact test */
};

/* A proportion of n observations, which need not be whole. */
struct hlg_proportion {
	double share, n;
};

/*
 * Nothing is known if a side has no observations, or a share that is none, of sums that
 * passed 2^64: p is 1, the interval -1 to 1.
 */
void hlg_compare_samples(struct hlg_compared *result, struct hlg_proportion before,
			 struct hlg_proportion after);

/*
 * Compares sides of n_before and n_after recordings; one of both has
 * HLG_COMPARE_RUNS or more. Recordings without weight count nothing. all: of all rows.
 */
void hlg_compare_runs(struct hlg_compared *result,
		      const struct hlg_dispersion_run *before, size_t n_before,
		      const struct hlg_dispersion_run *after, size_t n_after,
		      const struct hlg_dispersion *all);

/*
 * Did the recordings' weights change? Two-sided p of Welch's t of their means; a side's
 * variance is never taken to be less than that of its samples (Poisson's). NAN unless
 * both sides have HLG_COMPARE_RUNS recordings; here one without weight counts as such.
 */
double hlg_compare_totals(const struct hlg_dispersion_run *before, size_t n_before,
			  const struct hlg_dispersion_run *after, size_t n_after);

/*
 * Two-sided mid-P of the table x1 of n1 against x2 of n2, whole numbers, x <= n. Takes
 * time in proportion to the smallest margin.
 */
double hlg_compare_exact(double x1, double n1, double x2, double n2);

/*
 * The false discovery rate at which each of n tests is rejected (Y. Benjamini and Y.
 * Hochberg, JRSS B 57, 1995): q[i] for p[i]. Returns false without memory.
 */
bool hlg_compare_adjust(double *q, const double *p, size_t n);

#endif
