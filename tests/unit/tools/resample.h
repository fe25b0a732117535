/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recordings that might as well have been: drawn from a real one, by random numbers that
 * are the same every time. Each sample is drawn by itself from the addresses of the real
 * recording, in proportion to the samples there (the bootstrap: B. Efron, Annals of
 * Statistics 7, 1979).
 */
#ifndef HLG_TESTS_RESAMPLE_H
#define HLG_TESTS_RESAMPLE_H

#include "filter/run.h"

struct resample {
	struct hlg_run run; /* of the real one: space and options */
	struct hlg_cell *cells;
	double *weight; /* of each cell, as the real one has it */
	double *drawn;  /* the same as the next recording has it; summed up */
	size_t n;
	uint64_t state;
};

/* How the next recordings come about. */
struct resample_how {
	unsigned samples;
	bool unequal; /* periods of 1, 2 and 8 units, not all of one */
	/* Recordings differ by more than their samples: their shares are of a Dirichlet
	 * distribution of this concentration (J. E. Mosimann, Biometrika 49, 1962), or 0.
	 */
	double concentration;
	const char *slow; /* a function that takes `by` as much time, or NULL */
	double by;
	double swing; /* this function takes so much more, or less, by the toss of a coin
		       */
};

/* Reads the recording; the test fails if that fails. */
void resample_init(struct resample *r, const char *elf, const char *data);
void resample_finish(struct resample *r);

/* Draws one recording into profile, which is empty and of r's options. */
void resample_draw(struct resample *r, const struct resample_how *how,
		   struct hlg_profile *profile);

/* A number from 0 up to, not including, 1. */
double resample_random(struct resample *r);

#endif
