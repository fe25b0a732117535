/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How each recording of several fits the images: the base its samples lie at, and the
 * verdict on these alone (verdict.h: FIRST, and of AArch64 what its parts bear out). What
 * a report over all of them cannot show.
 */
#ifndef HLG_FILTER_TRUST_PER_FILE_H
#define HLG_FILTER_TRUST_PER_FILE_H

#include "filter/profile/profile.h"
#include "filter/trust/verdict.h"
#include "symtab/image/space.h"

/* What it takes to judge recordings. Used by one thread: code is decoded on the way. */
struct hlg_per_file {
	const struct hlg_space *space;
	int gaps;                /* enum hlg_gaps */
	struct hlg_code **codes; /* of each image; NULL: cannot be decoded */
};

struct hlg_per_file_verdict {
	uint64_t base;  /* with most samples, of the first image that has any */
	size_t n_bases; /* of that image with samples; 0: no sample is in an image */
	enum hlg_trust_verdict verdict;
};

/*
 * Opens the images of a space that is arranged and outlives *judge; gaps is the policy
 * that verdict.h asks for. False without memory; finish in any case.
 */
bool hlg_per_file_begin(struct hlg_per_file *judge, const struct hlg_space *space,
			int gaps);

/* Judges one recording by its profile; another build that ran, as that tells, is a
 * mismatch. False without memory. */
bool hlg_per_file_judge(struct hlg_per_file *judge, const struct hlg_profile *profile,
			struct hlg_per_file_verdict *fit);

void hlg_per_file_finish(struct hlg_per_file *judge);

#endif
