/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Do the shares inside a hot region merely follow the sizes of its functions?
 *
 * That is what a profile looks like whose addresses are only right to about a kilobyte:
 * the region is hot, but inside of it each function has samples by its bytes, called or
 * not. The test is Pearson's chi-square (K. Pearson, Philosophical Magazine 50, 1900)
 * of the samples of each function and label that has bytes in the region, against its
 * part of those bytes; those of which fewer than five samples are to be expected are
 * taken together. A small p says that the shares tell more than sizes.
 */
#ifndef HLG_FILTER_TRUST_SIZE_TEST_H
#define HLG_FILTER_TRUST_SIZE_TEST_H

#include "filter/view/view.h"

#define HLG_SIZE_TEST_LEVEL 0.01 /* at a larger p, shares may as well follow sizes */

struct hlg_size_test {
	const struct hlg_region *region; /* the hottest that can be tested; NULL: none */
	uint64_t samples;                /* of functions and labels in it */
	size_t functions;                /* these */
	double chi_square, p;
	unsigned df;
};

/* view outlives *sizes. Returns false without memory. */
bool hlg_size_test_view(struct hlg_size_test *sizes, const struct hlg_view *view,
			uint64_t region_size);

#endif
