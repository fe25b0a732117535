// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/trust.h"

#include <elf.h>
#include <stdlib.h>

#include "filter/trust/addresses.h"
#include "symtab/bsearch.h"
#include "symtab/code/edge.h"
#include "symtab/code/part-fit.h"
#include "symtab/image/image-bases.h"

enum {
	LEAST_OWN = 10 /* samples that tell what a sandbox runs */
};

struct hlg_image_test *hlg_trust_of(const struct hlg_trust *trust,
				    const struct hlg_image *image)
{
	if (!image || image->number >= trust->n_images ||
	    trust->images[image->number].image != image)
		return NULL;
	return &trust->images[image->number];
}

enum hlg_boundary hlg_trust_at(struct hlg_code *code, const struct hlg_row *row,
			       const struct hlg_hit *hit)
{
	struct hlg_place place = row->place;

	place.addr = hit->addr;
	return hlg_verdict_at(code, &place);
}

static uint64_t samples_of(const struct hlg_image_test *ti)
{
	uint64_t samples = 0;

	for (size_t k = 0; k < ti->n_bases; k++)
		samples += ti->bases[k].count.samples;
	return samples;
}

static bool has_samples(const struct hlg_trust *trust)
{
	for (size_t i = 0; i < trust->n_images; i++)
		if (samples_of(&trust->images[i]))
			return true;
	return false;
}

const struct hlg_image *hlg_trust_guess(const struct hlg_trust *trust)
{
	const bool nowhere = trust->all.stray_addrs && !has_samples(trust);

	for (size_t i = 0; i < trust->n_images; i++) {
		const struct hlg_image_test *ti = &trust->images[i];

		if (ti->image->from == HLG_BASE_DEFAULT &&
		    trust->all.verdict != HLG_TRUST_VERIFIED &&
		    (nowhere || samples_of(ti) || !ti->code))
			return ti->image;
	}
	return NULL;
}

const struct hlg_image *hlg_trust_of_sandbox(const struct hlg_trust *trust,
					     int32_t sandbox, uint64_t *base)
{
	const struct hlg_image *image = NULL;

	for (size_t i = 0; i < trust->n_images; i++) {
		const struct hlg_image_test *ti = &trust->images[i];

		for (size_t k = 0; ti->n_bases > 1 && k < ti->n_bases; k++) {
			if (!ti->bases[k].count.samples ||
			    hlg_profile_sandbox_of(ti->bases[k].tid) != sandbox)
				continue;
			if (image)
				return NULL;
			image = ti->image;
			*base = ti->bases[k].base;
		}
	}
	return image;
}

const struct hlg_image *hlg_trust_of_own(const struct hlg_trust *trust, int32_t sandbox,
					 uint64_t *base)
{
	const struct hlg_trust_own *own;
	size_t n = 0;

	if (sandbox < 1 || (uint32_t)sandbox > trust->n_own)
		return NULL;
	own = &trust->own[sandbox - 1];
	if (!own->in || own->several)
		return NULL;
	for (size_t i = 0; i < trust->n_images; i++)
		n += trust->images[i].image->map ? 0 : trust->images[i].n_bases;
	if (n < 2 ||
	    (own->samples < LEAST_OWN && hlg_profile_sandbox_of(own->at->tid) != sandbox))
		return NULL;
	*base = own->in->n_bases > 1 ? own->at->base : HLG_SPACE_NOWHERE;
	return own->in->image;
}

bool hlg_trust_is_off(const struct hlg_trust *trust, uint32_t sandbox)
{
	return sandbox >= 1 && sandbox <= trust->n_own &&
	       hlg_verdict_is_off(&trust->own[sandbox - 1].tested);
}

const struct hlg_fit *hlg_trust_elsewhere(const struct hlg_image_test *test)
{
	return test->found.n && !hlg_image_lies_at(test->image, test->found.fits[0].base)
		       ? &test->found.fits[0]
		       : NULL;
}

static int compare_biases(const void *a, const void *b)
{
	const struct hlg_image_test_bias *x = a, *y = b;

	if (x->bias != y->bias)
		return x->bias < y->bias ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Of each base one sum, in whatever lanes the image lies there. */
static void number_bases(struct hlg_image_test *test, const struct hlg_image *image)
{
	for (size_t i = 0; i < test->n_biases; i++) {
		const struct hlg_base at = hlg_image_base(image, i);
		const size_t first = hlg_image_bases_first(image, i);

		if (first == i)
			test->bases[test->n_bases] = (struct hlg_image_test_base){
				.base = at.base,
				.tid = HLG_MANY_TIDS,
			};
		test->biases[i] = (struct hlg_image_test_bias){
			at.bias,
			first == i ? test->n_bases++ : test->biases[first].number};
	}
	qsort(test->biases, test->n_biases, sizeof(*test->biases), compare_biases);
}

static int open_test(struct hlg_image_test *test, const struct hlg_image *image,
		     struct hlg_err *err)
{
	int rc;

	*test = (struct hlg_image_test){.image = image};
	rc = hlg_code_open(&test->code, image, err);
	if (rc == HLG_ESYSTEM)
		return rc;
	test->n_biases = hlg_image_n_bases(image);
	test->bases = calloc(test->n_biases + 1, sizeof(*test->bases));
	test->biases = calloc(test->n_biases + 1, sizeof(*test->biases));
	if (!test->bases || !test->biases)
		return hlg_err_memory(err, "report");
	number_bases(test, image);
	return 0;
}

static int open_images(struct hlg_trust *trust, const struct hlg_space *space,
		       struct hlg_err *err)
{
	int rc = 0;

	trust->images = calloc(space->n_images + 1, sizeof(*trust->images));
	if (!trust->images)
		return hlg_err_memory(err, "report");
	for (size_t i = 0; rc == 0 && i < space->n_images; i++)
		rc = open_test(&trust->images[trust->n_images++], space->images[i], err);
	return rc;
}

static void add_own(struct hlg_trust *trust, const struct hlg_image_test *test,
		    const struct hlg_image_test_base *at, const struct hlg_row *row,
		    const struct hlg_hit *hit)
{
	const int32_t sandbox = hlg_profile_sandbox_of(hit->tid);
	struct hlg_trust_own *own;

	if (sandbox < 1 || (uint32_t)sandbox > trust->n_own || test->image->map)
		return;
	own = &trust->own[sandbox - 1];
	own->several |= own->in && own->at != at;
	own->in = test;
	own->at = at;
	own->samples += hit->count.samples;
	hlg_verdict_count(&own->tested, hlg_trust_at(test->code, row, hit),
			  hit->count.samples);
}

static void add_to_base(struct hlg_trust *trust, struct hlg_image_test *test,
			const struct hlg_row *row, const struct hlg_hit *hit)
{
	size_t i = HLG_BSEARCH_BELOW(test->biases, test->n_biases, bias,
				     hit->ip - hit->addr);
	struct hlg_image_test_base *sum = &test->bases[test->biases[i].number];

	if (sum->count.samples == 0)
		sum->tid = hit->tid;
	else if (sum->tid != hit->tid)
		sum->tid = HLG_MANY_TIDS;
	hlg_count_add(&sum->count, hit->count);
	add_own(trust, test, sum, row, hit);
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

/* Adds each distinct address of a row to *tested. code is that of the row's image, or
 * NULL. False without memory. */
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
		hlg_verdict_add(tested, code, &place, hits[i]->filler, samples);
	}
	free(hits);
	return true;
}

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
	to->inside += from->inside;
	to->data_addrs += from->data_addrs;
	to->padding += from->padding;
	to->starts += from->starts;
	to->bytes += from->bytes;
}

/* Tests each image, and adds up all of them and what is in none. */
static bool test_view(struct hlg_trust *trust, const struct hlg_view *view)
{
	for (size_t r = 0; r < view->n_rows + view->n_borders; r++) {
		const struct hlg_row *row = hlg_view_row(view, r);
		struct hlg_image_test *ti = hlg_trust_of(trust, row->place.image);

		for (size_t i = 0; ti && i < row->n_hits; i++)
			add_to_base(trust, ti, row, &view->hits[row->first_hit + i]);
		if (!test_row(ti ? &ti->tested : &trust->all, ti ? ti->code : NULL, view,
			      row))
			return false;
	}
	for (size_t i = 0; i < trust->n_images; i++) {
		hlg_verdict_judge(&trust->images[i].tested, 0);
		add_tested(&trust->all, &trust->images[i].tested);
	}
	hlg_verdict_judge(&trust->all, trust->all.stray_addrs);
	return true;
}

/* What a hit says of its thread. */
struct thread_hit {
	struct hlg_thread_test of;
	uint64_t addr; /* the hit's own */
};

static int compare_thread_hits(const void *a, const void *b)
{
	const struct thread_hit *x = a, *y = b;

	if (x->of.tid != y->of.tid)
		return x->of.tid < y->of.tid ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int compare_threads(const void *a, const void *b)
{
	const struct hlg_thread_test *x = a, *y = b;

	if (x->samples.off != y->samples.off)
		return x->samples.off > y->samples.off ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* What each hit of a row says of its thread. */
static size_t add_threads(struct thread_hit *list, size_t n, struct hlg_code *code,
			  const struct hlg_view *view, const struct hlg_row *row)
{
	for (size_t i = 0; i < row->n_hits; i++) {
		const struct hlg_hit *hit = &view->hits[row->first_hit + i];
		const enum hlg_boundary is = hlg_trust_at(code, row, hit);

		if (is == HLG_BOUNDARY_UNKNOWN)
			continue;
		list[n] = (struct thread_hit){{.tid = hit->tid}, hit->addr};
		hlg_verdict_count(&list[n++].of.samples, is, hit->count.samples);
	}
	return n;
}

/*
 * Adds up what is of one thread, and keeps those that are off boundaries; none if none
 * fits: then it is not the threads that differ. Lists also which fit, of addresses enough
 * to tell (verdict.h).
 */
static void merge_threads(struct hlg_trust *trust, const struct thread_hit *list,
			  size_t n)
{
	size_t fit = 0, n_kept = 0;

	for (size_t i = 0, j; i < n; i = j) {
		struct hlg_thread_test sum = {.tid = list[i].of.tid};
		const bool known = sum.tid != -1 && sum.tid != HLG_MANY_TIDS;
		uint64_t addrs = 0;
		bool off;

		for (j = i; j < n && list[j].of.tid == sum.tid; j++) {
			addrs += j == i || list[j - 1].addr != list[j].addr;
			add_boundaries(&sum.samples, &list[j].of.samples);
		}
		off = hlg_verdict_is_off(&sum.samples);
		if (off && known)
			trust->threads[n_kept++] = sum;
		fit += !off;
		if (!off && known && addrs >= HLG_VERDICT_LEAST_ADDRS)
			trust->fitting[trust->n_fitting++] = sum.tid;
	}
	trust->n_threads = fit ? n_kept : 0;
}

/* Lists the threads whose samples do not fit. False without memory. */
static bool find_threads(struct hlg_trust *trust, const struct hlg_view *view)
{
	const size_t room = view->n_hits + view->n_border_hits + 1;
	struct thread_hit *list = malloc(room * sizeof(*list));
	size_t n = 0;

	trust->threads = malloc(room * sizeof(*trust->threads));
	trust->fitting = malloc(room * sizeof(*trust->fitting));
	for (size_t r = 0; list && r < view->n_rows + view->n_borders; r++) {
		const struct hlg_row *row = hlg_view_row(view, r);
		const struct hlg_image_test *ti = hlg_trust_of(trust, row->place.image);

		if (ti)
			n = add_threads(list, n, ti->code, view, row);
	}
	if (list && trust->threads && trust->fitting) {
		qsort(list, n, sizeof(*list), compare_thread_hits);
		merge_threads(trust, list, n);
		qsort(trust->threads, trust->n_threads, sizeof(*trust->threads),
		      compare_threads);
	}
	free(list);
	return list && trust->threads && trust->fitting;
}

/* Is an image that can be tested not verified, where others may be? */
static bool has_unverified(const struct hlg_trust *trust)
{
	for (size_t i = 0; i < trust->n_images; i++)
		if (trust->images[i].code &&
		    trust->images[i].tested.verdict != HLG_TRUST_VERIFIED)
			return true;
	return false;
}

/* Are there samples that do not fit, or that are nowhere? */
static bool is_worth_a_look(const struct hlg_trust *trust)
{
	return (trust->all.verdict != HLG_TRUST_VERIFIED &&
		trust->all.verdict != HLG_TRUST_UNTESTED) ||
	       trust->all.stray_addrs >= (has_unverified(trust)
						  ? HLG_VERDICT_LEAST_ADDRS
						  : HLG_VERDICT_LEAST_STRAY_ADDRS);
}

/* Takes over what recordings tell of the builds that ran: another one in no image, in
 * some, or in all that have samples and tell. Samples of one without any lie outside,
 * beside those of others. */
static enum hlg_trust_verdict identify(struct hlg_trust *trust,
				       const struct hlg_view *view,
				       const struct hlg_profile *profile)
{
	const bool any = has_samples(trust);
	const bool absent = any && hlg_verdict_is_much(view->kinds[HLG_OUTSIDE].samples,
						       view->guest.samples);
	enum hlg_trust_verdict verdict = HLG_TRUST_UNTESTED;

	for (size_t i = 0; i < profile->ran.n && i < trust->n_images; i++) {
		struct hlg_image_test *ti = &trust->images[i];
		enum hlg_trust_verdict told;

		ti->ran = &profile->ran.at[i];
		if (hlg_rans_is_absent(ti->ran) && (!absent || samples_of(ti)))
			continue;
		ti->identity = hlg_rans_worst(ti->ran);
		told = hlg_identity_verdict(ti->ran);
		if (told == HLG_TRUST_MISMATCH && any && !samples_of(ti))
			told = HLG_TRUST_MIXED;
		verdict = told > verdict ? told : verdict;
	}
	return verdict;
}

/* What makes guest addresses, which are in no lane, an image's own. */
static uint64_t to_own(const struct hlg_image *image, uint64_t base)
{
	return image->first - base;
}

/* Has an image an address, so that no other is tried at it? */
static bool is_its_own(const void *trust, const struct hlg_place *place)
{
	const struct hlg_image_test *ti = hlg_trust_of(trust, place->image);

	return !ti || !ti->code || ti->tested.verdict == HLG_TRUST_VERIFIED ||
	       hlg_verdict_at(ti->code, place) == HLG_BOUNDARY_ON;
}

/* Samples of an image that do not fit may be of another build of it: its tail fits, if it
 * is moved. some: guest addresses, which become the image's own. */
static bool look_at_tail(struct hlg_image_test *ti, struct hlg_addresses *some)
{
	uint64_t move = to_own(ti->image, ti->image->base);

	if (ti->n_bases != 1 || hlg_trust_elsewhere(ti))
		return true;
	for (size_t i = 0; i < some->n; i++)
		some->at[i].ip += move;
	return hlg_tail_fit(&ti->tail, ti->code, ti->image, some->at, some->n);
}

/* What does not fit where it lies may fit elsewhere: of an image that is not verified all
 * its samples are tried, of any image those in no image, and those in another one that
 * may be the wrong one. False without memory. */
static bool look_elsewhere(struct hlg_trust *trust, const struct hlg_space *space,
			   const struct hlg_profile *profile)
{
	struct hlg_addresses all = {0}, some = {0};
	bool ok = hlg_addresses_collect(&all, profile);

	for (size_t i = 0; ok && i < trust->n_images; i++) {
		struct hlg_image_test *ti = &trust->images[i];
		bool fits = ti->tested.verdict == HLG_TRUST_VERIFIED;

		if (!ti->code)
			continue;
		ok = hlg_addresses_pick_free(&some, &all, space, fits ? NULL : ti->image,
					     is_its_own, trust) &&
		     hlg_base_find_all(ti->code, ti->image, some.at, some.n,
				       &ti->found) &&
		     (fits || look_at_tail(ti, &some));
		hlg_addresses_finish(&some);
		/* Where it fits it may lie: that none is here says nothing then. */
		if (ti->ran && hlg_rans_is_absent(ti->ran) && hlg_trust_elsewhere(ti))
			ti->identity = HLG_IDENTITY_UNKNOWN;
	}
	hlg_addresses_finish(&all);
	return ok;
}

/* Do all parts of an image bear out that they lie where it is? Of each base by itself.
 * False without memory. */
static bool test_parts(struct hlg_image_test *ti, const struct hlg_addresses *addrs,
		       bool *all)
{
	struct hlg_line_fit *lines = hlg_line_fit_of(ti->code, ti->image);
	bool ok = lines;

	*all = true;
	for (size_t i = 0, j, k; ok && i < ti->n_bases; i++) {
		const uint64_t base = ti->bases[i].base;
		const uint64_t size = ti->image->end - ti->image->first;
		struct hlg_part_fit parts;

		j = 0;
		while (j < addrs->n && addrs->at[j].ip - base >= size)
			j++;
		k = j;
		while (k < addrs->n && addrs->at[k].ip - base < size)
			k++;
		ok = k == j || hlg_part_fit(&parts, lines, addrs->at + j, k - j,
					    to_own(ti->image, base));
		*all &= k == j || (ok && parts.all);
	}
	return ok;
}

/* Of AArch64, boundaries bear out nothing. False without memory. */
static bool doubt(struct hlg_trust *trust, const struct hlg_space *space,
		  const struct hlg_profile *profile)
{
	struct hlg_addresses all = {0}, some = {0};
	bool ok = true;

	for (size_t i = 0; ok && i < trust->n_images; i++) {
		struct hlg_image_test *ti = &trust->images[i];
		bool stands = false;

		if (ti->image->elf.machine != EM_AARCH64 || !ti->code ||
		    ti->tested.verdict != HLG_TRUST_VERIFIED)
			continue;
		if (hlg_line_fit_applies(ti->image))
			ok = (all.at || hlg_addresses_collect(&all, profile)) &&
			     hlg_addresses_pick(&some, &all, space, ti->image) &&
			     test_parts(ti, &some, &stands);
		hlg_addresses_finish(&some);
		if (stands)
			continue;
		ti->any_fits = true;
		ti->tested.verdict = HLG_TRUST_TOO_FEW;
		if (trust->all.verdict == HLG_TRUST_VERIFIED)
			trust->all.verdict = HLG_TRUST_TOO_FEW;
	}
	hlg_addresses_finish(&all);
	return ok;
}

/* Are there addresses enough to find a base by? Of AArch64 many may not tell. */
static bool finds_bases(const struct hlg_trust *trust)
{
	const struct hlg_tested *all = &trust->all;
	const uint64_t wrong = all->addrs.off + all->stray_addrs - all->data_addrs;

	return trust->images[0].image->elf.machine != EM_AARCH64 &&
	       all->addrs.on + wrong >= HLG_VERDICT_LEAST_ADDRS;
}

/* Where no base can be found, nothing says that what does not fit one that is only
 * assumed is of another ELF. */
static void excuse(struct hlg_trust *trust)
{
	struct hlg_image_test *ti = &trust->images[0];

	if (trust->n_images != 1 || finds_bases(trust) ||
	    ti->image->from != HLG_BASE_DEFAULT || ti->found.n || ti->tail.shift ||
	    ti->identity == HLG_IDENTITY_OTHER || !ti->code)
		return;
	ti->any_fits = ti->image->elf.machine == EM_AARCH64;
	trust->all.verdict = HLG_TRUST_TOO_FEW;
}

/* Of AArch64, as many may lie on boundaries at both. What was found was ahead of all that
 * overlap it, so of where the image lies. */
static bool is_beaten(const struct hlg_image_test *ti, const struct hlg_fit *fit)
{
	const uint64_t size = ti->image->end - ti->image->first, base = ti->image->base;

	return ti->image->elf.machine == EM_AARCH64 &&
	       (fit->base - base < size || base - fit->base < size) &&
	       2 * fit->on_samples > ti->tested.samples.on;
}

/* Samples that fit another base better than what fits here: they are not of this one. */
static bool fits_elsewhere(const struct hlg_trust *trust)
{
	for (size_t i = 0; i < trust->n_images; i++) {
		const struct hlg_image_test *ti = &trust->images[i];
		const struct hlg_fit *fit = hlg_trust_elsewhere(ti);

		if (ti->tested.verdict != HLG_TRUST_VERIFIED && fit &&
		    (fit->on_samples > ti->tested.samples.on || is_beaten(ti, fit)))
			return true;
	}
	return false;
}

/* Another build of an image ran: its own names are of other code. */
static bool fits_moved(const struct hlg_trust *trust)
{
	for (size_t i = 0; i < trust->n_images; i++)
		if (trust->images[i].tail.shift)
			return true;
	return false;
}

static bool has_mismatch(const struct hlg_trust *trust)
{
	for (size_t i = 0; i < trust->n_images; i++)
		if (trust->images[i].tested.verdict == HLG_TRUST_MISMATCH)
			return true;
	return false;
}

int hlg_trust_build(struct hlg_trust *trust, const struct hlg_space *space,
		    const struct hlg_view *view, const struct hlg_profile *profile,
		    struct hlg_err *err)
{
	enum hlg_trust_verdict told;
	int rc;

	*trust = (struct hlg_trust){0};
	rc = open_images(trust, space, err);
	if (rc < 0)
		return rc;
	trust->n_own = profile ? profile->sandboxes.n : 0;
	trust->own = calloc(trust->n_own + 1, sizeof(*trust->own));
	if (!trust->own)
		return hlg_err_memory(err, "report");
	if (!test_view(trust, view))
		return hlg_err_memory(err, "report");
	told = profile ? identify(trust, view, profile) : HLG_TRUST_UNTESTED;
	if (told > trust->all.verdict)
		trust->all.verdict = told;
	if (trust->all.verdict == HLG_TRUST_VERIFIED && has_mismatch(trust))
		trust->all.verdict = HLG_TRUST_MIXED;
	if (trust->all.verdict >= HLG_TRUST_MIXED && !find_threads(trust, view))
		return hlg_err_memory(err, "report");
	if (profile && !doubt(trust, space, profile))
		return hlg_err_memory(err, "report");
	if (!profile || !is_worth_a_look(trust))
		return 0;
	if (!look_elsewhere(trust, space, profile))
		return hlg_err_memory(err, "report");
	excuse(trust);
	if (fits_elsewhere(trust) || fits_moved(trust))
		trust->all.verdict = HLG_TRUST_MISMATCH;
	return 0;
}

static void finish_edges(struct hlg_image_test *ti)
{
	for (size_t i = 0; ti->edges && i < ti->image->tab.n_syms; i++)
		hlg_edge_finish(&ti->edges[i]);
	free(ti->edges);
}

void hlg_trust_finish(struct hlg_trust *trust)
{
	for (size_t i = 0; i < trust->n_images; i++) {
		finish_edges(&trust->images[i]);
		hlg_code_close(trust->images[i].code);
		hlg_base_find_finish(&trust->images[i].found);
		free(trust->images[i].bases);
		free(trust->images[i].biases);
	}
	free(trust->images);
	free(trust->threads);
	free(trust->fitting);
	free(trust->own);
	*trust = (struct hlg_trust){0};
}
