// SPDX-License-Identifier: GPL-2.0-only
#include "filter/report/banner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/output/memstream.h"
#include "filter/stats/interval.h"
#include "filter/view/place-name.h"

#define BUILD      " (another build of this ELF"
#define FORCE      "--force=yes names them)"
#define SUPPRESSED "functions are not named, because they would be wrong: addresses are"

enum {
	FITTING = 8 /* threads, or sandboxes: of more each is not told */
};

const char *hlg_banner_suppressed(const struct hlg_report *r)
{
	return r->unnamed ? SUPPRESSED : SUPPRESSED " (" FORCE;
}

const char *hlg_banner_noun(const struct hlg_report *r, bool one)
{
	if (r->profile->of_addresses)
		return one ? "address" : "addresses";
	return one ? "sample" : "samples";
}

static bool much_outside(const struct hlg_report *r)
{
	return hlg_verdict_is_much(r->all.kinds[HLG_OUTSIDE].samples,
				   r->all.guest.samples);
}

bool hlg_banner_is_refusal(const struct hlg_report *r)
{
	const enum hlg_trust_verdict verdict = r->trust.all.verdict;

	return verdict == HLG_TRUST_MISMATCH ||
	       (!r->options->force && (r->suppressed || verdict == HLG_TRUST_MIXED));
}

bool hlg_banner_is_ok(const struct hlg_report *r)
{
	return r->trust.all.verdict == HLG_TRUST_VERIFIED && !much_outside(r);
}

const struct hlg_image_test *hlg_banner_other(const struct hlg_report *r)
{
	const struct hlg_trust *trust = &r->trust;
	const bool is_wrong = trust->all.verdict == HLG_TRUST_MISMATCH;

	for (size_t i = 0; is_wrong && i < trust->n_images; i++)
		if (trust->images[i].identity == HLG_IDENTITY_OTHER)
			return &trust->images[i];
	return NULL;
}

/* Do build ids tell what ran from the image? An ELF may have changed under one. */
static bool has_other_id(const struct hlg_image *image, const struct hlg_ran *ran)
{
	const char *id = image->elf.build_id;

	return id[0] && ran->id[0] && strcmp(id, ran->id) != 0;
}

const char *hlg_banner_said(char buf[static 80], const struct hlg_report *r)
{
	const struct hlg_image_test *other = hlg_banner_other(r);

	if (other && has_other_id(other->image, other->ran)) {
		snprintf(buf, 80, "WRONG ELF: build id %.8s ran, this is %.8s",
			 other->ran->id, other->image->elf.build_id);
		return buf;
	}
	if (other)
		return "WRONG ELF: another build ran";
	if (r->trust.all.verdict == HLG_TRUST_VERIFIED && much_outside(r))
		return r->space->n_images > 1 ? "OK in the ELFs" : "OK in the ELF";
	return hlg_verdict_said(r->trust.all.verdict);
}

const char *hlg_banner_outside(char buf[static 80], const struct hlg_report *r)
{
	const struct hlg_boundaries *tested = &r->trust.all.samples;

	buf[0] = '\0';
	if (tested->on + tested->off && much_outside(r))
		snprintf(buf, 80, "; outside the ELF%s: %" PRIu64 " of %" PRIu64,
			 r->space->n_images > 1 ? "s" : "",
			 r->all.kinds[HLG_OUTSIDE].samples, r->all.guest.samples);
	return buf;
}

const char *hlg_banner_few(char buf[static 80], const struct hlg_report *r)
{
	const struct hlg_tested *t = &r->trust.all;
	const uint64_t addrs = t->addrs.on + t->addrs.off;
	char room[80];
	const char *said = hlg_banner_said(room, r);

	if (r->vouched)
		snprintf(buf, 80, "%s: no exit is of the ELF%s, which the samples fit",
			 said, r->space->n_images > 1 ? "s" : "");
	else if (t->samples.on + t->samples.off == 0 && r->all.guest.samples)
		snprintf(buf, 80, "%s: no %s lies in a function (is it the guest's ELF?)",
			 said, hlg_banner_noun(r, true));
	else if (addrs < HLG_VERDICT_LEAST_ADDRS)
		snprintf(buf, 80, "%s: %" PRIu64 " distinct address%s, %d are needed",
			 said, addrs, addrs == 1 ? "" : "es", HLG_VERDICT_LEAST_ADDRS);
	else
		snprintf(buf, 80, "%s: the %s may fit by chance", said,
			 hlg_banner_noun(r, false));
	return buf;
}

/* " b.elf@0x4000": the other images, where theirs was found; what is stated of one would
 * have them looked for anew, and not where that one lies. */
static void put_others(FILE *f, const struct hlg_trust *trust, size_t number)
{
	for (size_t i = 0; i < trust->n_images; i++) {
		const struct hlg_image *image = trust->images[i].image;

		if (i != number && image->from == HLG_BASE_FOUND &&
		    hlg_image_n_bases(image) == 1)
			fprintf(f, " %s@0x%" PRIx64, image->typed, image->base);
	}
}

/*
 * "; base 0x4000 fits 100.00 %", for each image that some base fits. Where no image can
 * be decoded, none was tried.
 */
static void put_better(FILE *f, const struct hlg_trust *trust)
{
	bool any = false, tried = false;

	for (size_t i = 0; i < trust->n_images; i++) {
		const struct hlg_image_test *ti = &trust->images[i];
		const struct hlg_fit *fit = hlg_trust_elsewhere(ti);
		char percent[16];

		tried |= ti->code != NULL;
		if (!fit)
			continue;
		any = true;
		hlg_interval_part(percent, fit->on_samples, fit->off_samples);
		if (trust->n_images > 1)
			fprintf(f, "; %s at base", ti->image->path);
		else
			fputs("; base", f);
		fprintf(f, " 0x%" PRIx64 " fits %s %%", fit->base, percent);
		if (ti->found.n > 1) {
			fprintf(f, ", and %zu more bases fit others (use %s@auto)",
				ti->found.n - 1, ti->image->typed);
		} else {
			fprintf(f, " (use %s@0x%" PRIx64, ti->image->typed, fit->base);
			put_others(f, trust, i);
			fputc(')', f);
		}
	}
	if (tried && !any)
		fputs("; no base fits", f);
}

/* Is one recording alone known to have samples of an image? */
static bool is_of_one(const struct hlg_profile *profile, const struct hlg_image *image)
{
	const struct hlg_origins *origins = &profile->origins;
	size_t first, n = hlg_origins_of(origins, HLG_ORIGIN_IMAGE, &first);

	for (size_t i = first; i < first + n; i++)
		if (strcmp(origins->at[i].key, hlg_identity_key(image)) == 0)
			return origins->at[i].n == 1;
	return false;
}

/* " in b.data and others": in which another build ran, where others tell
 * something else, or nothing. */
static void put_where(FILE *f, const struct hlg_ran *ran, bool mixed)
{
	if (ran->identities == 1u << HLG_IDENTITY_OTHER || hlg_rans_is_absent(ran))
		return;
	if (!ran->in)
		fputs(mixed ? " in some recordings" : "", f);
	else
		fprintf(f, " in %s%s", ran->in, ran->more_in ? " and others" : "");
}

/* "another build ran: h.elf with build id 3f187df6, not h.elf with 7296eff6 (give the
 * ELF that ran)": as recordings tell. Where ids do not, record noted what it was; of
 * another name it is another file, and nothing tells whether this one has changed.
 * mixed: this one ran in some, or beside it. proposed: how to name it follows. */
static void put_build(FILE *f, const struct hlg_profile *profile,
		      const struct hlg_image *image, const struct hlg_ran *ran,
		      bool mixed, bool proposed)
{
	const bool both = mixed && is_of_one(profile, image);
	const char *shared = proposed ? NULL : profile->options->shared;
	const bool ids = has_other_id(image, ran);
	const bool called = ids || hlg_identity_is_called(image, ran->file);

	fprintf(f, "%s ran", called ? "another build" : ran->file);
	if (both)
		fputs(", too", f);
	else
		put_where(f, ran, mixed);
	if (ids)
		fprintf(f, ": %s with build id %.8s, not %s with %.8s", ran->file,
			ran->id, image->path, image->elf.build_id);
	else if (called)
		fprintf(f, ": %s as record noted it, not %s as it is now", ran->file,
			image->path);
	else
		fprintf(f, ", as record noted, not %s", image->path);
	fprintf(f, " (%s%s)",
		both     ? "name both"
		: mixed  ? "report them apart, each with the ELF that ran"
		: shared ? "give the ELF that ran: each side can have its own, behind "
			 : "give the ELF that ran",
		both || mixed || !shared ? "" : shared);
}

static bool put_builds(FILE *f, const struct hlg_report *r)
{
	bool any = false;

	for (size_t i = 0; i < r->trust.n_images; i++) {
		const struct hlg_image_test *ti = &r->trust.images[i];

		if (ti->identity != HLG_IDENTITY_OTHER)
			continue;
		fputs(any ? "; " : "", f);
		put_build(f, r->profile, ti->image, ti->ran,
			  hlg_identity_verdict(ti->ran) == HLG_TRUST_MIXED, r->unnamed);
		any = true;
	}
	return any;
}

char *hlg_banner_build(const struct hlg_profile *profile, const struct hlg_image *image,
		       const struct hlg_ran *ran)
{
	const struct hlg_options *options = profile->options;
	struct hlg_image_test test = {
		.image = image, .ran = ran, .identity = hlg_rans_worst(ran)};
	const struct hlg_trust trust = {.images = &test, .n_images = 1};
	char *unnamed =
		options->unnamed ? options->unnamed(options->unnamed_of, &trust) : NULL;
	struct hlg_memstream m;
	FILE *f = hlg_memstream_open(&m);

	if (f) {
		put_build(f, profile, image, ran,
			  hlg_identity_verdict(ran) == HLG_TRUST_MIXED, unnamed);
		if (unnamed)
			fprintf(f, "; %s", unnamed);
	}
	free(unnamed);
	return f ? hlg_memstream_close(&m) : NULL;
}

/* Are at least half of those that do not fit of code that has moved? */
static bool has_moved(const struct hlg_image_test *ti)
{
	return ti->tail.shift && ti->tail.samples >= ti->tested.samples.off / 2;
}

/* Another build has much of its code where it is, or moved. A part that two programs
 * share, as of one library, fits moved as well. */
static bool is_build(const struct hlg_image_test *ti)
{
	const struct hlg_boundaries *samples = &ti->tested.samples;

	return has_moved(ti) ||
	       (ti->tail.shift &&
		samples->on + ti->tail.samples >= (samples->on + samples->off) / 2);
}

bool hlg_banner_is_explained(const struct hlg_report *r)
{
	const struct hlg_trust *trust = &r->trust;

	for (size_t i = 0; i < trust->n_images; i++) {
		const struct hlg_image_test *ti = &trust->images[i];

		if (hlg_trust_elsewhere(ti) || has_moved(ti))
			return true;
	}
	return false;
}

/* Who of those that fit, and those that do not, is a sandbox: one that runs before it is
 * known whose it is, or in another recording, is a thread. */
static size_t count_sandboxes(const struct hlg_trust *trust)
{
	size_t n = 0;

	for (size_t i = 0; i < trust->n_fitting; i++)
		n += hlg_profile_sandbox_of(trust->fitting[i]) > 0;
	for (size_t i = 0; i < trust->n_threads; i++)
		n += hlg_profile_sandbox_of(trust->threads[i].tid) > 0;
	return n;
}

/* " (alone: --sandbox=1,3)", of a few. */
static void put_fitting(FILE *f, const struct hlg_report *r, bool sandboxes)
{
	const struct hlg_trust *trust = &r->trust;
	const size_t n = trust->n_fitting;

	if (sandboxes ? r->options->no_sandbox : r->options->no_tid)
		return;
	for (size_t i = 0; n <= FITTING && i < n; i++) {
		/* The numbers of sandboxes fall. */
		const int32_t of = trust->fitting[sandboxes ? n - 1 - i : i];

		fprintf(f, "%s%" PRId32,
			i           ? ","
			: sandboxes ? " (alone: --sandbox="
				    : " (alone: --tid=",
			sandboxes ? hlg_profile_sandbox_of(of) : of);
	}
	if (n <= FITTING)
		fputc(')', f);
}

/* "1 thread fits (alone: --tid=17), and 2 do not (if they run another ELF, report tells
 * them apart, with both named)". Of other verbs not all do. Of threads and sandboxes
 * together no option takes those that fit. */
static bool put_threads(FILE *f, const struct hlg_report *r, const char *before)
{
	static const char *const nouns[][2] = {
		{"thread", "threads"},
		{"sandbox", "sandboxes"},
		{"sandbox or thread", "sandboxes or threads"}};
	const struct hlg_trust *trust = &r->trust;
	const size_t fit = trust->n_fitting, others = trust->n_threads;
	const size_t sandboxes = count_sandboxes(trust);
	const size_t noun = sandboxes == 0 ? 0 : sandboxes == fit + others ? 1 : 2;

	if (fit == 0 || others == 0 || hlg_banner_is_explained(r))
		return false;
	fprintf(f, "%s%zu %s fit%s", before, fit, nouns[noun][fit > 1],
		fit == 1 ? "s" : "");
	if (noun < 2)
		put_fitting(f, r, noun);
	fprintf(f, ", and %zu do%s not", others, others == 1 ? "es" : "");
	if (!r->unnamed)
		fprintf(f,
			" (if %s another ELF, report tells them apart, with both named)",
			others == 1 ? "it runs" : "they run");
	return true;
}

/* What does not fit, then why not all of them are named that have samples. */
static void put_mixed(FILE *f, const struct hlg_report *r, bool threads)
{
	const struct hlg_tested *all = &r->trust.all;
	const struct hlg_boundaries *samples = &all->samples;
	/* Where all series have one table its rows are what is not named. */
	const bool parted = r->n_groups && !r->options->one_table;
	const struct hlg_misfits *misfits = parted ? &r->parted : &r->misfits;
	const bool one = misfits->n == 1;
	const char *noun = hlg_banner_noun(r, false);
	const bool told = put_builds(f, r) || (threads && put_threads(f, r, ""));
	char percent[16];

	if (!told)
		fprintf(f, "some %s are of other code", noun);
	if (samples->off)
		fprintf(f,
			"; %" PRIu64 " of %" PRIu64
			" %s %s not lie on instruction starts",
			samples->off, samples->on + samples->off, noun,
			samples->off == 1 ? "does" : "do");
	if (hlg_verdict_is_padded(all)) {
		hlg_interval_part(percent, all->padding, samples->on + samples->off);
		fprintf(f, "; %s %% lie in padding between functions, where nothing runs",
			percent);
	}
	if (!misfits->n)
		return;
	hlg_interval_percent(percent,
			     (double)hlg_count_weigh(r->all.weight, misfits->count) /
				     (double)hlg_count_weigh(r->all.weight, r->all.kept));
	fprintf(f,
		"; %zu function%s with %s %% of the %s %s %s off %s instructions%s, and "
		"%s not named%s%s",
		misfits->n, one ? "" : "s", percent,
		r->profile->of_addresses ? "addresses" : "overhead", one ? "has" : "have",
		r->profile->of_addresses ? "some" : "samples", one ? "its" : "their",
		parted ? " in some groups" : "", one ? "is" : "are",
		parted ? " there" : "",
		r->unnamed                            ? ""
		: told || r->profile->sandboxes.n > 0 ? BUILD "? " FORCE
						      : BUILD
			", or another guest in turn with it? " FORCE);
}

static void put_place(FILE *f, const struct hlg_report *r, const char *before,
		      const struct hlg_place *place)
{
	char *name = hlg_place_name(place, r->options->demangle);

	if (name)
		fprintf(f, "%s%s", before, name);
	free(name);
}

/* "another build of this ELF ran: from 0x36870 on, samples fit if moved by -400 ...". If
 * that explains few of those that do not fit, more than one function differs. */
static void put_tail(FILE *f, const struct hlg_report *r, const struct hlg_image_test *ti)
{
	const struct hlg_boundaries *samples = &ti->tested.samples;
	const struct hlg_tail *tail = &ti->tail;
	struct hlg_place last, from;

	if (!has_moved(ti)) {
		fprintf(f,
			"another build of %s ran: only %" PRIu64 " of %" PRIu64
			" samples fit if moved (give the ELF that ran)",
			r->trust.n_images > 1 ? ti->image->path : "this ELF",
			tail->samples, samples->on + samples->off);
		return;
	}
	hlg_image_lookup(ti->image, tail->last, &last);
	hlg_image_lookup(ti->image, tail->from + (uint64_t)tail->shift, &from);
	fprintf(f,
		"another build of %s ran: from 0x%" PRIx64
		" on, samples fit if moved by %+" PRId64 ", so it differs",
		r->trust.n_images > 1 ? ti->image->path : "this ELF", tail->from,
		tail->shift);
	put_place(f, r, last.symbol == from.symbol ? " in " : " between ", &last);
	if (last.symbol != from.symbol)
		put_place(f, r, " and ", &from);
	fputs(" (give the ELF that ran, or use --assume-shift)", f);
}

static bool put_tails(FILE *f, const struct hlg_report *r)
{
	bool any = false;

	for (size_t i = 0; i < r->trust.n_images; i++) {
		if (!is_build(&r->trust.images[i]))
			continue;
		fputs(any ? "; " : ": ", f);
		any = true;
		put_tail(f, r, &r->trust.images[i]);
	}
	return any;
}

/* Of what may be another build, or another program that shares a part of its code. */
static void put_shared(FILE *f, const struct hlg_report *r)
{
	for (size_t i = 0; i < r->trust.n_images; i++) {
		const struct hlg_image_test *ti = &r->trust.images[i];
		const struct hlg_boundaries *samples = &ti->tested.samples;

		if (ti->tail.shift)
			fprintf(f,
				", or another build of %s (%" PRIu64 " of %" PRIu64
				" samples fit if moved)",
				r->trust.n_images > 1 ? ti->image->path : "this ELF",
				ti->tail.samples, samples->on + samples->off);
	}
}

/* Nothing says that the image lies where it is. */
static void put_guess(FILE *f, const struct hlg_report *r, const struct hlg_image *image)
{
	const bool outside = r->all.kinds[HLG_OUTSIDE].samples == r->all.guest.samples;

	fprintf(f, "base 0x%" PRIx64 " of %s is only assumed, and ", image->base,
		image->path);
	if (outside)
		fprintf(f, "no %s lies there", hlg_banner_noun(r, true));
	else
		fputs("the samples do not confirm it: functions are not named", f);
	if (!r->unnamed && outside)
		fprintf(f, " (is it the guest's ELF? use %s@BASE)", image->typed);
	else if (!r->unnamed)
		fputs(" (" FORCE, f);
}

static void put_banner(FILE *f, const struct hlg_report *r, bool threads)
{
	const struct hlg_tested *all = &r->trust.all;
	char percent[16], chance[16];

	/* Its samples may lie on instruction starts, all the same. */
	if (all->verdict == HLG_TRUST_MISMATCH && put_builds(f, r))
		return;
	if (all->verdict == HLG_TRUST_MIXED) {
		put_mixed(f, r, threads);
		return;
	}
	hlg_interval_part(percent, all->samples.on, all->samples.off);
	hlg_interval_percent(chance, all->chance);
	if (all->bytes == 0)
		fprintf(f, "no %s lies in a function", hlg_banner_noun(r, true));
	else
		fprintf(f,
			"%s %% of %" PRIu64
			" %s lie on instruction starts (%s %% by chance)",
			percent, all->samples.on + all->samples.off,
			hlg_banner_noun(r, false), chance);
	if (!(threads && put_threads(f, r, ": ")) && !put_tails(f, r) &&
	    (!r->unnamed || hlg_banner_is_explained(r))) {
		fputs(": wrong ELF or wrong base", f);
		put_shared(f, r);
		put_better(f, &r->trust);
	}
}

static char *text_of(const struct hlg_report *r, bool threads)
{
	const struct hlg_checked *checked = &r->profile->checked;
	const struct hlg_image *guess = r->suppressed ? hlg_trust_guess(&r->trust) : NULL;
	struct hlg_memstream m;
	FILE *f;

	if (guess && r->trust.all.verdict == HLG_TRUST_MISMATCH &&
	    hlg_image_has_code(guess))
		guess = NULL;
	if (r->trust.all.verdict < HLG_TRUST_MIXED && !guess && !r->suppressed)
		return NULL;
	f = hlg_memstream_open(&m);
	if (!f)
		return NULL;
	if (checked->word && hlg_space_is_made(r->space))
		fprintf(f, "when it was saved: %s",
			checked->said ? checked->said : "its samples did not fit");
	else if (guess)
		put_guess(f, r, guess);
	else
		put_banner(f, r, threads);
	if (r->unnamed)
		fprintf(f, "; %s", r->unnamed);
	return hlg_memstream_close(&m);
}

char *hlg_banner_text(const struct hlg_report *r)
{
	return text_of(r, true);
}

char *hlg_banner_saved(const struct hlg_report *r)
{
	struct hlg_report alone = *r;

	/* It may be read where these ELFs are not. */
	alone.unnamed = NULL;
	return text_of(&alone, false);
}
