// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/trust.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "filter/trust/addresses.h"
#include "filter/trust/threads.h"

static void add_boundaries(struct hlg_boundaries *to, const struct hlg_boundaries *from)
{
	to->on += from->on;
	to->off += from->off;
	to->undecodable += from->undecodable;
}

static void add_tested(struct hlg_tested *to, const struct hlg_tested *from)
{
	add_boundaries(&to->samples, &from->samples);
	add_boundaries(&to->addrs, &from->addrs);
	to->stray_addrs += from->stray_addrs;
	to->starts += from->starts;
	to->bytes += from->bytes;
}

struct hlg_trust_image *hlg_trust_of(const struct hlg_trust *trust,
				     const struct hlg_image *image)
{
	if (!image || image->number >= trust->n_images ||
	    trust->images[image->number].image != image)
		return NULL;
	return &trust->images[image->number];
}

static void add_to_base(struct hlg_trust_image *ti, const struct hlg_hit *hit)
{
	uint64_t bias = hit->ip - hit->addr;
	struct hlg_base_sum *sum;
	size_t i = 0;

	while (hlg_image_base(ti->image, i).bias != bias)
		i++;
	sum = &ti->bases[i];
	if (sum->count.samples == 0)
		sum->tid = hit->tid;
	else if (sum->tid != hit->tid)
		sum->tid = HLG_MANY_TIDS;
	hlg_count_add(&sum->count, hit->count);
}

static int compare_addrs(const void *a, const void *b)
{
	const struct hlg_hit *x = *(const struct hlg_hit *const *)a;
	const struct hlg_hit *y = *(const struct hlg_hit *const *)b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/*
 * The hits of a row by own address, in place of its hits' order by series and guest
 * address; to be freed. NULL without memory.
 */
static const struct hlg_hit **by_address(const struct hlg_view *view,
					 const struct hlg_row *row)
{
	const struct hlg_hit **hits = malloc((row->n_hits + 1) * sizeof(*hits));
	bool sorted = true;

	if (!hits)
		return NULL;
	for (size_t i = 0; i < row->n_hits; i++) {
		hits[i] = &view->hits[row->first_hit + i];
		sorted &= i == 0 || hits[i - 1]->addr <= hits[i]->addr;
	}
	if (!sorted)
		qsort(hits, row->n_hits, sizeof(const struct hlg_hit *), compare_addrs);
	return hits;
}

/* Each address of a row's hits; code may be NULL. Returns false without memory. */
static bool test_row(struct hlg_tested *tested, struct hlg_code *code,
		     const struct hlg_view *view, const struct hlg_row *row)
{
	const struct hlg_hit **hits = by_address(view, row);
	struct hlg_place place = row->place;

	if (!hits)
		return false;
	for (size_t i = 0, j; i < row->n_hits; i = j) {
		uint64_t samples = 0;

		place.addr = hits[i]->addr;
		for (j = i; j < row->n_hits && hits[j]->addr == place.addr; j++)
			samples += hits[j]->count.samples;
		hlg_tested_add(tested, code, &place, hits[i]->filler, samples);
	}
	free(hits);
	return true;
}

/* Tests each image, and adds up all of them and what is in none. */
static bool test_view(struct hlg_trust *trust, const struct hlg_view *view)
{
	for (size_t r = 0; r < view->n_rows; r++) {
		const struct hlg_row *row = &view->rows[r];
		struct hlg_trust_image *ti = hlg_trust_of(trust, row->place.image);

		for (size_t i = 0; ti && i < row->n_hits; i++)
			add_to_base(ti, &view->hits[row->first_hit + i]);
		if (!test_row(ti ? &ti->tested : &trust->all, ti ? ti->code : NULL, view,
			      row))
			return false;
	}
	for (size_t i = 0; i < trust->n_images; i++) {
		hlg_tested_judge(&trust->images[i].tested, 0);
		add_tested(&trust->all, &trust->images[i].tested);
	}
	hlg_tested_judge(&trust->all, trust->all.stray_addrs);
	return true;
}

/*
 * Where all instructions have one length, every base fits that is a multiple of it: one
 * that was not found must be, or it is not the samples that bear it out.
 */
static bool must_stand_out(const struct hlg_trust_image *ti)
{
	return ti->image->elf.machine == EM_AARCH64 && ti->code &&
	       ti->tested.verdict == HLG_TRUST_VERIFIED &&
	       ti->image->from != HLG_BASE_FOUND;
}

/* Are there samples that do not fit, or that are nowhere? */
static bool is_worth_a_look(const struct hlg_trust *trust)
{
	for (size_t i = 0; i < trust->n_images; i++)
		if (must_stand_out(&trust->images[i]))
			return true;
	return (trust->all.verdict != HLG_TRUST_VERIFIED &&
		trust->all.verdict != HLG_TRUST_UNTESTED) ||
	       trust->all.stray_addrs >= HLG_TRUST_STRAY_ADDRS;
}

/* What does not fit here may fit elsewhere, and so may what is nowhere. */
static int look_elsewhere(struct hlg_trust *trust, const struct hlg_space *space,
			  const struct hlg_profile *profile, struct hlg_err *err)
{
	struct hlg_claims claims;
	bool ok = hlg_claims_build(&claims, space, profile);
	size_t i = 0;

	for (; ok && i < trust->n_images; i++) {
		struct hlg_trust_image *ti = &trust->images[i];
		bool fits =
			ti->tested.verdict == HLG_TRUST_VERIFIED && !must_stand_out(ti);

		if (!ti->code)
			continue;
		hlg_claims_ask(&claims, fits ? NULL : ti->image);
		ok = hlg_find_bases(ti->code, ti->image, claims.some, claims.n,
				    &ti->found);
	}
	hlg_claims_finish(&claims);
	return ok ? 0
		  : hlg_err_memory(err, i ? trust->images[i - 1].image->path : "report");
}

/* Takes out of what was found where the image lies already. */
static bool drop_own(struct hlg_trust_image *ti)
{
	size_t n = 0;
	bool own = false;

	for (size_t i = 0; i < ti->found.n; i++) {
		bool same = ti->found.fits[i].base == ti->image->base;

		own |= same;
		if (!same)
			ti->found.fits[n++] = ti->found.fits[i];
	}
	ti->found.n = n;
	return own;
}

static void doubt(struct hlg_trust *trust)
{
	for (size_t i = 0; i < trust->n_images; i++) {
		struct hlg_trust_image *ti = &trust->images[i];

		if (!must_stand_out(ti) || drop_own(ti))
			continue;
		ti->any_fits = true;
		ti->tested.verdict = HLG_TRUST_TOO_FEW;
		if (trust->all.verdict == HLG_TRUST_VERIFIED)
			trust->all.verdict = HLG_TRUST_TOO_FEW;
	}
}

/* Samples that fit another base better than what fits here: they are not of this one. */
static bool fits_elsewhere(const struct hlg_trust *trust)
{
	for (size_t i = 0; i < trust->n_images; i++) {
		const struct hlg_trust_image *ti = &trust->images[i];

		if (ti->tested.verdict != HLG_TRUST_VERIFIED && ti->found.n &&
		    ti->found.fits[0].base != ti->image->base &&
		    ti->found.fits[0].on_samples > ti->tested.samples.on)
			return true;
	}
	return false;
}

/* Many samples in one image must not hide that those in another do not fit. */
static bool has_mismatch(const struct hlg_trust *trust)
{
	for (size_t i = 0; i < trust->n_images; i++)
		if (trust->images[i].tested.verdict == HLG_TRUST_MISMATCH)
			return true;
	return false;
}

static int open_images(struct hlg_trust *trust, const struct hlg_space *space,
		       struct hlg_err *err)
{
	trust->images = calloc(space->n_images + 1, sizeof(*trust->images));
	if (!trust->images)
		return hlg_err_memory(err, "report");
	for (size_t i = 0; i < space->n_images; i++) {
		struct hlg_trust_image *ti = &trust->images[trust->n_images++];
		int rc;

		ti->image = space->images[i];
		/* What cannot be decoded is not tested, and the report says so. */
		rc = hlg_code_open(&ti->code, ti->image, err);
		if (rc == HLG_ESYSTEM)
			return rc;
		ti->n_bases = hlg_image_n_bases(ti->image);
		ti->bases = calloc(ti->n_bases + 1, sizeof(*ti->bases));
		if (!ti->bases)
			return hlg_err_memory(err, "report");
		for (size_t k = 0; k < ti->n_bases; k++)
			ti->bases[k] = (struct hlg_base_sum){
				.base = hlg_image_base(ti->image, k).base,
				.tid = HLG_MANY_TIDS,
			};
	}
	return 0;
}

static bool lost(const struct hlg_trust *trust)
{
	for (size_t i = 0; i < trust->n_images; i++)
		if (trust->images[i].code && hlg_code_lost(trust->images[i].code))
			return true;
	return false;
}

int hlg_trust_build(struct hlg_trust *trust, const struct hlg_space *space,
		    const struct hlg_view *view, const struct hlg_profile *profile,
		    struct hlg_err *err)
{
	int rc;

	*trust = (struct hlg_trust){0};
	rc = open_images(trust, space, err);
	if (rc < 0)
		return rc;
	if (!test_view(trust, view) || lost(trust))
		return hlg_err_memory(err, "report");
	if (trust->all.verdict == HLG_TRUST_VERIFIED && has_mismatch(trust))
		trust->all.verdict = HLG_TRUST_MIXED;
	if (trust->all.verdict == HLG_TRUST_MIXED && !hlg_misfits_find(trust, view))
		return hlg_err_memory(err, "report");
	if (!is_worth_a_look(trust))
		return 0;
	rc = look_elsewhere(trust, space, profile, err);
	if (rc == 0)
		doubt(trust);
	if (rc == 0 && fits_elsewhere(trust))
		trust->all.verdict = HLG_TRUST_MISMATCH;
	return rc;
}

void hlg_trust_finish(struct hlg_trust *trust)
{
	for (size_t i = 0; i < trust->n_images; i++) {
		hlg_code_close(trust->images[i].code);
		hlg_found_finish(&trust->images[i].found);
		free(trust->images[i].bases);
	}
	free(trust->images);
	free(trust->misfits);
	*trust = (struct hlg_trust){0};
}
