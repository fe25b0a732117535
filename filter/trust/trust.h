/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trust: how far the samples themselves bear out that they are of these images at these
 * bases; what that proves is in verdict.h.
 */
#ifndef HLG_FILTER_TRUST_TRUST_H
#define HLG_FILTER_TRUST_TRUST_H

#include "filter/trust/verdict.h"
#include "filter/view/view.h"
#include "symtab/code/base-find.h"

/* What lies at one base of an image. */
struct hlg_base_sum {
	uint64_t base;
	struct hlg_count count;
	int32_t tid; /* of all its samples (-1: not recorded); HLG_MANY_TIDS: no one's */
};

struct hlg_trust_image {
	const struct hlg_image *image;
	struct hlg_code *code; /* NULL: cannot be decoded */
	struct hlg_tested tested;
	struct hlg_base_sum *bases; /* in the image's order */
	size_t n_bases;
	bool any_fits;          /* too few to tell, because other bases fit as well */
	struct hlg_found found; /* where samples fit, if they do not where it is */
};

/* A thread whose samples do not fit. */
struct hlg_misfit {
	int32_t tid;
	struct hlg_boundaries samples;
};

struct hlg_trust {
	struct hlg_tested all;
	struct hlg_trust_image *images; /* as in the space */
	size_t n_images;
	struct hlg_misfit *misfits; /* if mixed; the worst first */
	size_t n_misfits;
};

/*
 * Judges a view of all samples. space is settled; both outlive *trust. Fails only without
 * memory; the caller finishes it in any case.
 */
int hlg_trust_build(struct hlg_trust *trust, const struct hlg_space *space,
		    const struct hlg_view *view, const struct hlg_profile *profile,
		    struct hlg_err *err);
void hlg_trust_finish(struct hlg_trust *trust);

/* What is known of an image; NULL for none. */
struct hlg_trust_image *hlg_trust_of(const struct hlg_trust *trust,
				     const struct hlg_image *image);

#endif
