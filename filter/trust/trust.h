/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trust: how far the samples themselves bear out that they are of these images at these
 * bases; what that proves is in verdict.h.
 */
#ifndef HLG_FILTER_TRUST_TRUST_H
#define HLG_FILTER_TRUST_TRUST_H

#include "filter/trust/image-test.h"
#include "filter/trust/threads.h"

struct hlg_trust {
	struct hlg_tested all;
	struct hlg_image_test *images; /* by the images' numbers in the space */
	size_t n_images;
	struct hlg_thread_test *threads; /* off boundaries; if mixed; the worst first */
	size_t n_threads;
};

/*
 * Judges a view of all samples. space is settled; both outlive *trust. Fails only without
 * memory; the caller finishes it in any case.
 */
int hlg_trust_build(struct hlg_trust *trust, const struct hlg_space *space,
		    const struct hlg_view *view, const struct hlg_profile *profile,
		    struct hlg_err *err);
void hlg_trust_finish(struct hlg_trust *trust);

/* The test of an image of the space; NULL for any other, and for NULL. */
struct hlg_image_test *hlg_trust_of(const struct hlg_trust *trust,
				    const struct hlg_image *image);

/*
 * skid=REACH: counts how many samples lie where a late one would. Fills edge of every row
 * of the view that is a function or label of decoded code: its samples within reach
 * instructions of where control comes in (symtab/code/edge.h). False without memory.
 */
bool hlg_trust_skid(const struct hlg_trust *trust, struct hlg_view *view, uint64_t reach);

#endif
