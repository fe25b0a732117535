/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trust: how far the samples themselves bear out that they are of these images at these
 * bases. What that proves is in verdict.h.
 */
#ifndef HLG_FILTER_TRUST_TRUST_H
#define HLG_FILTER_TRUST_TRUST_H

#include "filter/trust/identity.h"
#include "filter/trust/verdict.h"
#include "filter/view/view.h"
#include "symtab/code/base-find.h"
#include "symtab/code/tail-fit.h"

/* What lies at one base of an image. */
struct hlg_image_test_base {
	uint64_t base;
	struct hlg_count count;
	int32_t tid; /* of all its samples, as that of a cell (profile.h) */
};

/* Which of a test's bases has a bias: in each lane it is another. */
struct hlg_image_test_bias {
	uint64_t bias;
	size_t number;
};

/* One image: how many samples lie in it, where, and how many of them on boundaries. */
struct hlg_image_test {
	const struct hlg_image *image;
	struct hlg_code *code; /* NULL: cannot be decoded; its samples are not tested */
	struct hlg_tested tested;
	struct hlg_image_test_base *bases;  /* different ones, in the image's order */
	struct hlg_image_test_bias *biases; /* of these, sorted */
	size_t n_bases, n_biases;
	bool any_fits;          /* of AArch64: too few, as not each part bears it out */
	struct hlg_found found; /* where samples fit, if they do not where it is */
	struct hlg_tail tail;   /* of the only base: is it of another build? */
	enum hlg_identity identity; /* the worst that a recording tells */
	const struct hlg_ran *ran;  /* all that they tell; the profile's. NULL: nothing */
	struct hlg_edges *edges; /* of each symbol, as far as hlg_skid_count asked; NULL:
				    not at all */
};

/* A thread, or a sandbox, whose samples do not lie on boundaries, where others' do. Only
 * addresses that it alone was sampled at can tell. */
struct hlg_thread_test {
	int32_t tid;
	struct hlg_boundaries samples;
};

/* What a sandbox has at addresses that it alone was sampled at. */
struct hlg_trust_own {
	const struct hlg_image_test *in;
	const struct hlg_image_test_base *at;
	uint64_t samples;
	struct hlg_boundaries tested; /* of these */
	bool several;                 /* ELFs, or bases of one */
};

struct hlg_trust {
	struct hlg_tested all;
	struct hlg_image_test *images; /* by the images' numbers in the space */
	size_t n_images;
	/* If mixed or a mismatch, and others fit; with most samples off first. */
	struct hlg_thread_test *threads;
	size_t n_threads;
	size_t n_fitting;          /* others, each of addresses enough to tell: */
	int32_t *fitting;          /* these, as tid above; threads by number */
	struct hlg_trust_own *own; /* of each sandbox, by its number from 1 on */
	uint32_t n_own;
};

/*
 * Judges a view of all samples. space is settled; both outlive *trust. profile has the
 * samples that are tried elsewhere; NULL: none are. Fails only without memory; the caller
 * finishes it in any case.
 */
int hlg_trust_build(struct hlg_trust *trust, const struct hlg_space *space,
		    const struct hlg_view *view, const struct hlg_profile *profile,
		    struct hlg_err *err);
void hlg_trust_finish(struct hlg_trust *trust);

/* The test of an image of the space; NULL for any other, and for NULL. */
struct hlg_image_test *hlg_trust_of(const struct hlg_trust *trust,
				    const struct hlg_image *image);

/* What a hit of a row is (verdict.h); code is that of the row's image. */
enum hlg_boundary hlg_trust_at(struct hlg_code *code, const struct hlg_row *row,
			       const struct hlg_hit *hit);

/* The image with samples whose base is assumed, in a report that is not verified: nothing
 * says that it lies there. Without any samples, where all lie outside of every image:
 * then it may be elsewhere. NULL: there is none. */
const struct hlg_image *hlg_trust_guess(const struct hlg_trust *trust);

/*
 * What a sandbox runs, by its number, where ELFs lie at several bases: the image at a
 * base that has samples of this one alone, if the image has several, and *base; NULL:
 * there is none, or there are several.
 */
const struct hlg_image *hlg_trust_of_sandbox(const struct hlg_trust *trust,
					     int32_t sandbox, uint64_t *base);

/*
 * The same by addresses that it alone was sampled at, if that is no lane's business: the
 * ELF that has all of these, if they have ten samples, or if nobody else has any there.
 * *base: HLG_SPACE_NOWHERE if the image has but one.
 */
const struct hlg_image *hlg_trust_of_own(const struct hlg_trust *trust, int32_t sandbox,
					 uint64_t *base);

/* Does a sandbox not fit, by these addresses, where it would lie? */
bool hlg_trust_is_off(const struct hlg_trust *trust, uint32_t sandbox);

/* Where an image's samples fit best, if that is none of its own bases; else NULL. */
const struct hlg_fit *hlg_trust_elsewhere(const struct hlg_image_test *test);

#endif
