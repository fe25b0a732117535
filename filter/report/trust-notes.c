// SPDX-License-Identifier: GPL-2.0-only
#include "filter/report/trust-notes.h"
#include "filter/stats/interval.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	SHOWN = 8 /* bases, threads */
};

static double share(uint64_t part, uint64_t rest)
{
	return part + rest ? (double)part / (double)(part + rest) : 0;
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
		const struct hlg_fit *fit = ti->found.fits;
		char percent[16];

		tried |= ti->code != NULL;
		if (ti->found.n == 0 || fit->base == ti->image->base)
			continue;
		any = true;
		hlg_interval_percent(percent, share(fit->on_samples, fit->off_samples));
		if (trust->n_images > 1)
			fprintf(f, "; %s at base", ti->image->path);
		else
			fputs("; base", f);
		fprintf(f, " 0x%" PRIx64 " fits %s %%", fit->base, percent);
		if (ti->found.n > 1)
			fprintf(f, ", and %zu more bases fit others (say %s@auto)",
				ti->found.n - 1, ti->image->path);
		else
			fprintf(f, " (say %s@0x%" PRIx64 ")", ti->image->path, fit->base);
	}
	if (tried && !any)
		fputs("; no base fits", f);
}

char *hlg_trust_notes_banner(const struct hlg_report *r)
{
	const struct hlg_tested *all = &r->trust.all;
	char percent[16], chance[16], *text = NULL;
	size_t size;
	FILE *f;

	if (all->verdict != HLG_TRUST_MISMATCH)
		return NULL;
	f = open_memstream(&text, &size);
	if (!f)
		return NULL;
	hlg_interval_percent(percent, all->by_samples.share);
	hlg_interval_percent(chance, all->chance);
	if (all->bytes == 0)
		fputs("no sample lies in a function", f);
	else
		fprintf(f,
			"%s %% of %" PRIu64
			" samples on instruction boundaries, chance is "
			"%s %%",
			percent, all->samples.on + all->samples.off, chance);
	fputs(": this is not the ELF or not the base these samples come from", f);
	put_better(f, &r->trust);
	if (fclose(f) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

static bool overlaps(const struct hlg_image *image, uint64_t base)
{
	uint64_t size = image->end - image->first;

	for (size_t i = 0; i < hlg_image_n_bases(image); i++) {
		uint64_t other = hlg_image_base(image, i).base;

		if (base - other < size || other - base < size)
			return true;
	}
	return false;
}

/* Addresses that fit another base, in a report that is not a mismatch. */
static void tell_elsewhere(struct hlg_report *r)
{
	for (size_t i = 0; i < r->trust.n_images; i++) {
		const struct hlg_image_test *ti = &r->trust.images[i];
		const struct hlg_fit *fit = ti->found.fits;

		if (r->trust.all.verdict == HLG_TRUST_MISMATCH || ti->found.n == 0 ||
		    fit->base == ti->image->base)
			continue;
		hlg_report_remark(
			r, "%" PRIu64 " samples would fit %s at base 0x%" PRIx64 "%s",
			fit->on_samples, ti->image->path, fit->base,
			overlaps(ti->image, fit->base)
				? ", which overlaps where it lies: report these "
				  "guests apart (tid=, or their recordings)"
				: " (FILE@auto counts them there)");
	}
}

static void tell_images(struct hlg_report *r)
{
	char percent[16];

	for (size_t i = 0; r->trust.n_images > 1 && i < r->trust.n_images; i++) {
		const struct hlg_image_test *ti = &r->trust.images[i];
		const struct hlg_boundaries *s = &ti->tested.samples;
		const char *word = hlg_verdict_word(ti->tested.verdict);
		uint64_t n = s->on + s->off;

		if (n == 0)
			hlg_report_remark(r, "%s: %s", ti->image->path, word);
		else
			hlg_report_remark(
				r, "%s: %s, %s %% of %" PRIu64 " sample%s",
				ti->image->path, word,
				hlg_interval_percent(percent, share(s->on, s->off)), n,
				n == 1 ? "" : "s");
	}
}

static void tell_any_fits(struct hlg_report *r)
{
	for (size_t i = 0; i < r->trust.n_images; i++)
		if (r->trust.images[i].any_fits &&
		    r->trust.all.verdict != HLG_TRUST_MISMATCH)
			hlg_report_remark(r,
					  "%s: all instructions have four bytes, so the "
					  "samples fit other bases as well",
					  r->trust.images[i].image->path);
}

static void tell_threads(struct hlg_report *r)
{
	const struct hlg_trust *trust = &r->trust;

	for (size_t i = 0; i < trust->n_threads && i < SHOWN; i++) {
		const struct hlg_thread_test *m = &trust->threads[i];
		char percent[16];

		hlg_report_remark(r,
				  "thread %" PRId32 " does not fit: %s %% of %" PRIu64
				  " samples",
				  m->tid,
				  hlg_interval_percent(
					  percent, share(m->samples.on, m->samples.off)),
				  m->samples.on + m->samples.off);
	}
	if (trust->n_threads > SHOWN)
		hlg_report_remark(r, "%zu more threads do not fit",
				  trust->n_threads - SHOWN);
}

static void tell_events(struct hlg_report *r)
{
	for (uint32_t i = 0; i < r->n_events; i++) {
		const struct hlg_event *event = &r->profile->events[r->events[i].event];

		if (r->events[i].count.samples == 0)
			continue;
		hlg_report_remark(r, "%s is %s", event->name,
				  hlg_event_meaning(event->kind, event->precise_ip));
		if (event->member)
			hlg_report_remark(r,
					  "%s is of a group: its samples are taken when "
					  "the leader overflows, its period is what it "
					  "counted since",
					  event->name);
	}
}

static void tell_sizes(struct hlg_report *r)
{
	const struct hlg_size_test *s = &r->size_test;
	bool follows = s->p > HLG_SIZE_TEST_LEVEL;
	long parts = (long)(s->p * 10000); /* printf would ask the locale for a point */
	char p[48];

	if (!s->region)
		return;
	if (s->p < 0.0001)
		snprintf(p, sizeof(p), "p < 0.0001");
	else
		snprintf(p, sizeof(p), "p = %ld.%04ld", parts / 10000, parts % 10000);
	hlg_report_remark(
		r,
		"in the hot region 0x%" PRIx64 " the %" PRIu64
		" samples of %zu functions %s (chi-square %" PRIu64 ", %u degree%s of "
		"freedom, %s)",
		s->region->addr, s->samples, s->functions,
		follows ? "just follow their sizes: there, believe the region, not the "
			  "functions"
			: "do not just follow their sizes",
		(uint64_t)s->chi_square, s->df, s->df == 1 ? "" : "s", p);
}

void hlg_trust_notes_add(struct hlg_report *r)
{
	tell_images(r);
	tell_any_fits(r);
	tell_threads(r);
	tell_elsewhere(r);
	tell_events(r);
	tell_sizes(r);
	if (r->suppressed)
		hlg_report_remark(r, "functions are not named, because they would be "
				     "wrong: addresses are (force=yes names them)");
}
