/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much do recordings of the same thing differ, beyond what sampling explains?
 *
 * A row whose share is p has, in a recording of n observations, the variance
 * p(1-p)/n + (c p(1-p))^2: what sampling adds, and what the runs themselves do, for want
 * of luck with caches, timers, phases or layout. c is about by how much of itself a
 * function's time varies from run to run; of it the first term, a binomial's, is never
 * less than all. Three recordings of a side say little of one row's c, but all rows
 * together say much of which c there are: so each row's is weighed by how well it
 * explains this row, and by how common it is. A test whose variance is a row's alone is
 * blind with so few recordings, and one that takes all rows' to be alike is too bold.
 *
 * This is empirical Bayes, as G. K. Smyth's moderated t (Statistical Applications in
 * Genetics and Molecular Biology 3, 2004, article 3); but how common each c is has no
 * given form, as some rows may vary far more than the rest (B. Phipson et al., Annals of
 * Applied Statistics 10, 2016): it is the maximum likelihood over HLG_DISPERSION_STEPS
 * values (N. Laird, JASA 73, 1978), found by EM (A. Dempster et al., JRSS B 39, 1977),
 * with HLG_DISPERSION_DOUBT rows added that have each of them alike often.
 */
#ifndef HLG_FILTER_STATS_DISPERSION_H
#define HLG_FILTER_STATS_DISPERSION_H

#include <stdbool.h>
#include <stddef.h>

enum {
	HLG_DISPERSION_STEPS = 16
};

/* In rows; found in trials (tests/unit/filter/test_dispersion.c). */
#define HLG_DISPERSION_DOUBT 2.0

/* What a row has in one recording; n and weight are the recording's own. */
struct hlg_dispersion_run {
	double share;
	double weight; /* that shares are of */
	double n;      /* observations */
};

/* How common is each c. They sum to 1. */
struct hlg_dispersion {
	double common[HLG_DISPERSION_STEPS];
};

/* How likely each c makes what a row shows, but for a factor. The largest is 1. */
struct hlg_dispersion_row {
	double likelihood[HLG_DISPERSION_STEPS];
};

/* 0, then from 1 % to 250 %. */
double hlg_dispersion_step(size_t k);

/* The variance of a share of p (0 to 1), of n observations, if k is a row's step. */
double hlg_dispersion_variance(size_t k, double p, double n);

/* Nothing is known of the row. */
void hlg_dispersion_begin(struct hlg_dispersion_row *row);

/* Looks at the recordings of a side. */
void hlg_dispersion_look(struct hlg_dispersion_row *row,
			 const struct hlg_dispersion_run *runs, size_t n);

/* Of n rows; of none, all are alike common. */
void hlg_dispersion_fit(struct hlg_dispersion *all, const struct hlg_dispersion_row *rows,
			size_t n);

/* How likely is each c a row's; they sum to 1. */
void hlg_dispersion_weigh(double weights[static HLG_DISPERSION_STEPS],
			  const struct hlg_dispersion *all,
			  const struct hlg_dispersion_row *row);

#endif
