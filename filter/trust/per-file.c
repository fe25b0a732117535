// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/per-file.h"

#include <stdlib.h>
#include <string.h>

#include "filter/trust/addresses.h"
#include "filter/trust/base-search.h"
#include "filter/trust/trust.h"
#include "filter/view/view.h"
#include "symtab/code/part-fit.h"
#include "symtab/grow.h"
#include "symtab/image/lane.h"

bool hlg_per_file_begin(struct hlg_per_file *judge, const struct hlg_space *space,
			int gaps)
{
	*judge = (struct hlg_per_file){.space = space, .gaps = gaps};
	/* What cannot be decoded is not tested. */
	judge->codes = hlg_code_open_all(space);
	return judge->codes;
}

void hlg_per_file_finish(struct hlg_per_file *judge)
{
	hlg_code_close_all(judge->codes, judge->space);
	*judge = (struct hlg_per_file){0};
}

/* An own address of an image whose parts are to bear out that it lies there. */
struct own {
	const struct hlg_image *image;
	struct hlg_sampled at;
};

/* What a recording held, while it is tested. */
struct trial {
	struct hlg_addresses addrs; /* that are in no image yet */
	struct hlg_view_gaps gaps;
	struct hlg_tested tested;
	struct own *own; /* of AArch64 */
	size_t n_own;
	size_t told; /* number of the image whose base is told, if any is */
};

/* The first image that has samples tells its base, in whatever order they are met. */
static void tell_base(struct trial *t, struct hlg_per_file_verdict *fit,
		      const struct hlg_image *image, uint64_t base, size_t n_bases)
{
	if (fit->n_bases && t->told <= image->number)
		return;
	t->told = image->number;
	fit->base = base;
	fit->n_bases = n_bases;
}

/* Returns false without memory. */
static bool test_place(const struct hlg_per_file *judge, struct trial *t,
		       const struct hlg_place *place, uint64_t samples)
{
	const struct hlg_image *image = place->image;
	bool filler = false;

	if (image && judge->codes[image->number] && hlg_line_fit_applies(image)) {
		if (!HLG_GROW(t->own, t->n_own))
			return false;
		t->own[t->n_own++] = (struct own){image, {place->addr, samples}};
	}
	if (place->kind == HLG_GAP && judge->gaps == HLG_GAPS_DROP)
		return true;
	if (place->kind == HLG_GAP && !hlg_view_is_filler(&t->gaps, place, &filler))
		return false;
	hlg_verdict_add(&t->tested,
			place->image ? judge->codes[place->image->number] : NULL, place,
			filler, samples);
	return true;
}

/* Images that have a base are tested there. Keeps the addresses that are in none. */
static bool test_placed(const struct hlg_per_file *judge, struct trial *t,
			struct hlg_per_file_verdict *fit)
{
	struct hlg_addresses *addrs = &t->addrs;
	size_t n = 0;

	for (size_t i = 0; i < addrs->n; i++) {
		const struct hlg_sampled *at = &addrs->at[i];
		struct hlg_place place;

		hlg_space_lookup(judge->space, at->ip, &place);
		if (!place.image) {
			addrs->at[n++] = *at;
			continue;
		}
		/* An image has one base, if any, while recordings are read. */
		tell_base(t, fit, place.image, place.image->base, 1);
		if (!test_place(judge, t, &place, at->samples))
			return false;
	}
	addrs->n = n;
	return true;
}

/* Moves the addresses inside the image at one of its bases to own, as its own. */
static void peel(struct hlg_addresses *addrs, const struct hlg_image *image,
		 const struct hlg_found *found, struct hlg_addresses *own)
{
	size_t n = 0;

	for (size_t i = 0; i < addrs->n; i++) {
		struct hlg_sampled at = addrs->at[i];
		size_t k = 0;

		while (k < found->n &&
		       at.ip - found->fits[k].base >= image->end - image->first)
			k++;
		if (k == found->n) {
			addrs->at[n++] = at;
			continue;
		}
		at.ip += image->first - found->fits[k].base;
		own->at[own->n++] = at;
	}
	addrs->n = n;
}

/* Tests an image where it was found. Returns false without memory. */
static bool test_at(const struct hlg_per_file *judge, struct trial *t,
		    const struct hlg_image *image, const struct hlg_found *found)
{
	struct hlg_addresses own = {.at = calloc(t->addrs.n + 1, sizeof(*own.at))};
	bool ok = own.at != NULL;

	if (ok) {
		peel(&t->addrs, image, found, &own);
		hlg_addresses_sort(&own);
	}
	for (size_t i = 0; ok && i < own.n; i++) {
		struct hlg_place place;

		hlg_image_lookup(image, own.at[i].ip, &place);
		ok = test_place(judge, t, &place, own.at[i].samples);
	}
	hlg_addresses_finish(&own);
	return ok;
}

/* An image without a base is tested where the samples fit best. */
static bool test_found(const struct hlg_per_file *judge, struct trial *t,
		       const struct hlg_image *image, struct hlg_per_file_verdict *fit)
{
	struct hlg_code *code = judge->codes[image->number];
	struct hlg_found found;
	bool ok;

	if (image->from != HLG_BASE_NONE || !code || t->addrs.n == 0)
		return true;
	ok = hlg_base_find_all(code, image, t->addrs.at, t->addrs.n, &found);
	if (ok && found.n)
		tell_base(t, fit, image, hlg_lane_ip(found.fits[0].base), found.n);
	if (ok && found.n)
		ok = test_at(judge, t, image, &found);
	hlg_base_find_finish(&found);
	return ok;
}

/* An image whose base the samples refuse is tested where they say. */
static bool test_refused(const struct hlg_per_file *judge, struct trial *t,
			 const struct hlg_image *image, const struct hlg_options *options,
			 struct hlg_per_file_verdict *fit)
{
	struct hlg_code *code = judge->codes[image->number];
	struct hlg_addresses some = {0};
	struct hlg_found found = {0};
	int refused;

	if (!code)
		return true;
	refused = hlg_addresses_pick(&some, &t->addrs, judge->space, image)
			  ? hlg_base_search_refuses(image, code, options, &some, &found)
			  : -1;
	if (refused > 0)
		tell_base(t, fit, image, hlg_lane_ip(found.fits[0].base), found.n);
	if (refused > 0 && !test_at(judge, t, image, &found))
		refused = -1;
	hlg_addresses_finish(&some);
	hlg_base_find_finish(&found);
	return refused >= 0;
}

/* An image that fits where it is placed is tested, too, where what is in none fits it. */
static bool test_also(const struct hlg_per_file *judge, struct trial *t,
		      const struct hlg_image *image, const struct hlg_options *options,
		      struct hlg_per_file_verdict *fit)
{
	struct hlg_code *code = judge->codes[image->number];
	struct hlg_found found;
	bool ok;

	if (!code || t->addrs.n == 0)
		return true;
	ok = hlg_base_search_also(judge->space, image, code, options, &t->addrs, &found);
	if (ok && found.n)
		tell_base(t, fit, image, image->base, 1 + found.n);
	if (ok && found.n)
		ok = test_at(judge, t, image, &found);
	hlg_base_find_finish(&found);
	return ok;
}

static int compare_own(const void *a, const void *b)
{
	const struct own *x = a, *y = b;

	if (x->image != y->image)
		return x->image->number < y->image->number ? -1 : 1;
	return x->at.ip < y->at.ip ? -1 : x->at.ip > y->at.ip;
}

/* Do the parts of one image bear it out? Of its own addresses, from the i-th on, up to
 * the next image's, which *next becomes. False without memory. */
static bool test_parts(const struct hlg_per_file *judge, const struct trial *t, size_t i,
		       size_t *next, bool *all)
{
	const struct hlg_image *image = t->own[i].image;
	struct hlg_code *code = judge->codes[image->number];
	struct hlg_line_fit *lines = hlg_line_fit_of(code, image);
	struct hlg_sampled *at = calloc(t->n_own - i, sizeof(*at));
	struct hlg_part_fit parts = {0};
	size_t n = 0;
	bool ok;

	for (; at && i < t->n_own && t->own[i].image == image; i++) {
		if (n && at[n - 1].ip == t->own[i].at.ip)
			at[n - 1].samples += t->own[i].at.samples;
		else
			at[n++] = t->own[i].at;
	}
	ok = at && lines && hlg_part_fit(&parts, lines, at, n, 0);
	free(at);
	*next = i;
	*all = parts.all;
	return ok;
}

/* Of AArch64, boundaries bear out nothing (verdict.h). False without memory. */
static bool doubt(const struct hlg_per_file *judge, struct trial *t)
{
	bool ok = true, all = true;

	if (t->tested.verdict != HLG_TRUST_VERIFIED || t->n_own == 0)
		return true;
	qsort(t->own, t->n_own, sizeof(*t->own), compare_own);
	for (size_t i = 0; ok && all && i < t->n_own;)
		ok = test_parts(judge, t, i, &i, &all);
	if (!all)
		t->tested.verdict = HLG_TRUST_TOO_FEW;
	return ok;
}

bool hlg_per_file_judge(struct hlg_per_file *judge, const struct hlg_profile *profile,
			struct hlg_per_file_verdict *fit)
{
	struct trial t = {0};
	bool ok = hlg_addresses_collect(&t.addrs, profile);

	*fit = (struct hlg_per_file_verdict){0};
	for (size_t i = 0; ok && i < judge->space->n_images; i++)
		ok = test_refused(judge, &t, judge->space->images[i], profile->options,
				  fit);
	for (size_t i = 0; ok && i < judge->space->n_images; i++)
		ok = test_also(judge, &t, judge->space->images[i], profile->options, fit);
	ok = ok && test_placed(judge, &t, fit);
	for (size_t i = 0; ok && i < judge->space->n_images; i++)
		ok = test_found(judge, &t, judge->space->images[i], fit);
	/* What is left is in no image. */
	for (size_t i = 0; ok && i < t.addrs.n; i++) {
		const struct hlg_place place = {.kind = HLG_OUTSIDE,
						.addr = t.addrs.at[i].ip};

		ok = test_place(judge, &t, &place, t.addrs.at[i].samples);
	}
	hlg_verdict_judge(&t.tested, t.tested.stray_addrs);
	ok = ok && doubt(judge, &t);
	fit->verdict = t.tested.verdict;
	for (size_t i = 0; i < profile->ran.n; i++) {
		const enum hlg_trust_verdict told =
			hlg_identity_verdict(&profile->ran.at[i]);

		/* It may be of another recording. */
		if (hlg_rans_is_absent(&profile->ran.at[i]))
			continue;
		fit->verdict = told > fit->verdict ? told : fit->verdict;
	}
	free(t.own);
	hlg_view_gaps_finish(&t.gaps);
	hlg_addresses_finish(&t.addrs);
	return ok;
}
