/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One image of a space tested: how many samples of a view lie in it, at which of its
 * bases, and how many of them on instruction boundaries.
 */
#ifndef HLG_FILTER_TRUST_IMAGE_TEST_H
#define HLG_FILTER_TRUST_IMAGE_TEST_H

#include "filter/trust/verdict.h"
#include "filter/view/view.h"
#include "symtab/code/base-find.h"

/* What lies at one base of an image. */
struct hlg_image_test_base {
	uint64_t base;
	struct hlg_count count;
	int32_t tid; /* of all its samples (-1: not recorded); HLG_MANY_TIDS: no one's */
};

struct hlg_image_test {
	const struct hlg_image *image;
	struct hlg_code *code; /* NULL: cannot be decoded */
	struct hlg_tested tested;
	struct hlg_image_test_base *bases; /* in the image's order */
	size_t n_bases;
	bool any_fits;          /* too few to tell, because other bases fit as well */
	struct hlg_found found; /* where samples fit, if they do not where it is */
};

/*
 * Readies *test for an image that outlives it. An image that cannot be decoded is no
 * error: its samples are not tested. The caller finishes *test in any case.
 */
int hlg_image_test_open(struct hlg_image_test *test, const struct hlg_image *image,
			struct hlg_err *err);
void hlg_image_test_finish(struct hlg_image_test *test);

/* Adds the samples of a row of the view, whose place is in the image. False without
 * memory. */
bool hlg_image_test_add(struct hlg_image_test *test, const struct hlg_view *view,
			const struct hlg_row *row);

/*
 * Adds each distinct address of a row to *tested, by the rule of verdict.h. code is that
 * of the row's image; NULL: there is none, or it cannot be decoded. False without memory.
 */
bool hlg_image_test_row(struct hlg_tested *tested, struct hlg_code *code,
			const struct hlg_view *view, const struct hlg_row *row);

/* The test of an image among n tests, which lie by the images' numbers; NULL if the image
 * is NULL or none of theirs. */
struct hlg_image_test *hlg_image_test_of(struct hlg_image_test *tests, size_t n,
					 const struct hlg_image *image);

#endif
