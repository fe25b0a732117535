/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Does the guest work in phases, and what are its samples worth then?
 *
 * Intervals of shares take samples to be independent. Those of a guest that does one
 * thing for a while and then another are not: what was seen is a few phases, however many
 * samples each has. So the samples are cut by time into HLG_PHASES_SLICES slices of one
 * size, and each row's share is followed through them.
 *
 * The design effect of a row (L. Kish, Survey Sampling, 1965, 8.2) is by how much its
 * share varies between stretches of HLG_PHASES_BATCH of these slices more than a
 * binomial's would: overlapping batch means (M. Meketon and B. Schmeiser, Winter
 * Simulation Conference 1984), worth about 12 degrees of freedom, which Student's t for
 * that many makes up for. As this is not much for one row, and what a phase adds to one
 * row it takes from others, the design effect of all rows together (variance and
 * binomial's each summed over them) counts as 8 more. A row of few samples has that of
 * all.
 *
 * Nothing of this is used unless a chi-square test of rows by slices, or by stretches,
 * says at 0.1 % that shares change with time; and no design effect is less than 1.
 *
 * What this cannot see are phases longer than about an eighth of the recording that were
 * not met in it, and what differs only from run to run.
 */
#ifndef HLG_FILTER_STATS_PHASES_H
#define HLG_FILTER_STATS_PHASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	HLG_PHASES_SLICES = 64, /* of 10 samples at least, else 32 or 16 */
	HLG_PHASES_BATCH = 8,   /* of 64; of fewer slices as large a part */
	HLG_PHASES_LEAST = 20   /* samples of a row that is looked at by itself */
};

/* Design effects, at least 1. */
struct hlg_phases {
	double all;   /* of a part of which nothing more is known */
	double *rows; /* of each row; NULL: there are no phases, and each has 1 */
};

/*
 * row: of each sample in their order in time, or of one of 2^halved, its row; n_rows of
 * what is in none. False without memory; the caller finishes *phases in any case.
 */
bool hlg_phases_find(struct hlg_phases *phases, const uint32_t *row, size_t n,
		     size_t n_rows, unsigned halved);
void hlg_phases_finish(struct hlg_phases *phases);

#endif
