// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/trust.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "filter/trust/addresses.h"
#include "filter/trust/threads.h"
#include "symtab/code/edge.h"

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

struct hlg_image_test *hlg_trust_of(const struct hlg_trust *trust,
				    const struct hlg_image *image)
{
	return hlg_image_test_of(trust->images, trust->n_images, image);
}

/* Tests each image, and adds up all of them and what is in none. */
static bool test_view(struct hlg_trust *trust, const struct hlg_view *view)
{
	for (size_t r = 0; r < view->n_rows; r++) {
		const struct hlg_row *row = &view->rows[r];
		struct hlg_image_test *ti = hlg_trust_of(trust, row->place.image);

		if (!(ti ? hlg_image_test_add(ti, view, row)
			 : hlg_image_test_row(&trust->all, NULL, view, row)))
			return false;
	}
	for (size_t i = 0; i < trust->n_images; i++) {
		hlg_verdict_judge(&trust->images[i].tested, 0);
		add_tested(&trust->all, &trust->images[i].tested);
	}
	hlg_verdict_judge(&trust->all, trust->all.stray_addrs);
	return true;
}

/*
 * Where all instructions have one length, every base fits that is a multiple of it: one
 * that was not found must be, or it is not the samples that bear it out.
 */
static bool must_stand_out(const struct hlg_image_test *ti)
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
	struct hlg_addresses_by_image claims;
	bool ok = hlg_addresses_by_image_build(&claims, space, profile);
	size_t i = 0;

	for (; ok && i < trust->n_images; i++) {
		struct hlg_image_test *ti = &trust->images[i];
		bool fits =
			ti->tested.verdict == HLG_TRUST_VERIFIED && !must_stand_out(ti);

		if (!ti->code)
			continue;
		hlg_addresses_by_image_ask(&claims, fits ? NULL : ti->image);
		ok = hlg_base_find_all(ti->code, ti->image, claims.some, claims.n,
				       &ti->found);
	}
	hlg_addresses_by_image_finish(&claims);
	return ok ? 0
		  : hlg_err_memory(err, i ? trust->images[i - 1].image->path : "report");
}

/* Takes out of what was found where the image lies already. */
static bool drop_own(struct hlg_image_test *ti)
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
		struct hlg_image_test *ti = &trust->images[i];

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
		const struct hlg_image_test *ti = &trust->images[i];

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
	int rc = 0;

	trust->images = calloc(space->n_images + 1, sizeof(*trust->images));
	if (!trust->images)
		return hlg_err_memory(err, "report");
	for (size_t i = 0; rc == 0 && i < space->n_images; i++)
		rc = hlg_image_test_open(&trust->images[trust->n_images++],
					 space->images[i], err);
	return rc;
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
	if (!test_view(trust, view))
		return hlg_err_memory(err, "report");
	if (trust->all.verdict == HLG_TRUST_VERIFIED && has_mismatch(trust))
		trust->all.verdict = HLG_TRUST_MIXED;
	if (trust->all.verdict == HLG_TRUST_MIXED &&
	    !hlg_threads_find(&trust->threads, &trust->n_threads, trust->images,
			      trust->n_images, view))
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

static bool count_edges(struct hlg_view *view, struct hlg_row *row, struct hlg_code *code,
			uint64_t reach)
{
	struct hlg_edges edges;
	bool ok = hlg_edge_find(&edges, code, &row->place, reach);

	row->edge_known = ok;
	for (size_t i = 0; ok && i < row->n_hits; i++) {
		const struct hlg_hit *hit = &view->hits[row->first_hit + i];

		if (hlg_edge_has(&edges, hit->addr))
			row->edge += hit->count.samples;
	}
	hlg_edge_finish(&edges);
	return ok;
}

bool hlg_trust_skid(const struct hlg_trust *trust, struct hlg_view *view, uint64_t reach)
{
	for (size_t i = 0; i < view->n_rows; i++) {
		struct hlg_row *row = &view->rows[i];
		const struct hlg_image_test *ti = hlg_trust_of(trust, row->place.image);

		if (ti && ti->code && row->place.symbol &&
		    !count_edges(view, row, ti->code, reach))
			return false;
	}
	return true;
}

void hlg_trust_finish(struct hlg_trust *trust)
{
	for (size_t i = 0; i < trust->n_images; i++)
		hlg_image_test_finish(&trust->images[i]);
	free(trust->images);
	free(trust->threads);
	*trust = (struct hlg_trust){0};
}
