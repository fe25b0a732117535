// SPDX-License-Identifier: GPL-2.0-only
#include "filter/report/notes.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "filter/report/banner.h"
#include "filter/report/in-turn.h"
#include "filter/report/nothing.h"
#include "filter/report/rates.h"
#include "filter/stats/interval.h"
#include "filter/trust/base-kvm.h"
#include "filter/trust/base-search.h"
#include "symtab/name/demangle.h"
#include "symtab/plural.h"

static void note_image(struct hlg_report *r, const struct hlg_image *image)
{
	if (image->from == HLG_BASE_DEFAULT && image->elf.hyperlight[0])
		hlg_note_list_warn(
			&r->notes,
			"%s: base 0x%" PRIx64 " is assumed, its Hyperlight note says "
			"version '%s', whose base is not known (use %s@BASE)",
			image->path, image->base, image->elf.hyperlight, image->typed);
	else if (image->from == HLG_BASE_DEFAULT && image->elf.needs_loader)
		hlg_note_list_warn(&r->notes,
				   "%s: needs Linux's ld.so, and has no "
				   "Hyperlight guest inside: its base 0x%" PRIx64
				   " is assumed (name the ELF that it loads, or %s@BASE)",
				   image->path, image->base, image->typed);
	else if (image->from == HLG_BASE_DEFAULT)
		hlg_note_list_warn(&r->notes,
				   "%s: base 0x%" PRIx64
				   " is assumed, nothing in the file states "
				   "it (use %s@BASE)",
				   image->path, image->base, image->typed);
	if (image->from == HLG_BASE_NONE)
		hlg_note_list_warn(&r->notes,
				   "%s: no sample fits it anywhere, and it is left out "
				   "(if it ran, state where: %s@BASE)",
				   image->path, image->typed);
	if (!image->map && !image->made && !hlg_image_has_code(image))
		hlg_note_list_warn(&r->notes,
				   "%s: holds no code, as debug files do: nothing checks "
				   "that its names are right (name the ELF that ran)",
				   image->path);
	if (image->debug_path)
		hlg_note_list_add(&r->notes, "%s: is stripped; names are those of %s",
				  image->path, image->debug_path);
	if (image->debug_refused)
		(image->debug_denied ? hlg_note_list_add : hlg_note_list_warn)(
			&r->notes, "%s", image->debug_refused);
	if (image->elf.dynsym)
		hlg_note_list_add(
			&r->notes,
			"%s: has no .symtab; names are .dynsym's, functions that are "
			"not exported show as gaps",
			image->path);
	if (image->skipped)
		hlg_note_list_add(&r->notes,
				  "%s: %zu line%s no perf map's and %s skipped",
				  image->path, image->skipped,
				  hlg_plural_word(image->skipped, " is", "s are"),
				  hlg_plural_word(image->skipped, "was", "were"));
}

void hlg_notes_tell_outside(const struct hlg_report *r, struct hlg_note_list *notes)
{
	const struct hlg_view *v = &r->all;
	const uint64_t outside = v->kinds[HLG_OUTSIDE].samples;

	if (r->space->n_images && !r->banner && !r->unnamed &&
	    2 * outside > v->guest.samples && 2 * v->ip_zero.samples < outside)
		hlg_note_list_warn(
			notes, "most %s%s lie outside of every image%s",
			r->profile->of_addresses ? "" : "guest ",
			hlg_banner_noun(r, false),
			r->trust.all.verdict == HLG_TRUST_VERIFIED
				? " (another guest's, or of another part of this one? "
				  "name that ELF, too)"
				: ": is this the guest's ELF, and the base right (use "
				  "FILE@BASE)?");
}

static void note_guest(struct hlg_report *r)
{
	const struct hlg_view *v = &r->all;
	struct hlg_err why;

	if (hlg_nothing_why(r->profile, NULL, &why))
		hlg_note_list_add(&r->notes, "%s", why.msg);
	else if (r->profile->injected)
		hlg_note_list_warn(
			&r->notes,
			"%" PRIu64 " of the host's samples %s a guest's, which hlguest "
			"inject wrote as %s of processes: rows and shares lack %s (give "
			"the recording that it was made from)",
			r->profile->injected,
			hlg_plural_word(r->profile->injected, "is", "are"),
			hlg_plural_word(r->profile->injected, "one", "those"),
			hlg_plural_word(r->profile->injected, "it", "them"));
	hlg_notes_tell_outside(r, &r->notes);
	if (v->ip_zero.samples)
		hlg_note_list_warn(&r->notes,
				   "%" PRIu64
				   " guest sample%s address 0: a guest whose state is "
				   "protected (SEV-ES, TDX) hides addresses",
				   v->ip_zero.samples,
				   hlg_plural_word(v->ip_zero.samples, " has", "s have"));
	if (v->stretched.samples)
		hlg_note_list_add(&r->notes,
				  "gaps=stretch: %" PRIu64
				  " gap sample%s credited to the symbol before",
				  v->stretched.samples,
				  hlg_plural_word(v->stretched.samples, " is", "s are"));
}

/* ", about 1.2 us each", where exits were counted and samples are time; else "". */
static void time_each(char buf[static 48], const struct hlg_report *r,
		      struct hlg_count at)
{
	uint64_t exits = hlg_border_exits(&r->border, r->space, r->profile), tenths;
	bool time = true;

	for (uint32_t i = 0; i < r->n_events; i++)
		time &= r->events[i].count.samples == 0 ||
			r->profile->events[r->events[i].event].kind == HLG_EVENT_TIMER;
	buf[0] = '\0';
	if (exits == 0 || exits > UINT64_MAX / 1000 || !time || r->by & HLG_BY_EVENT)
		return;
	tenths = (at.period + 50 * exits) / (100 * exits);
	if (tenths < 100)
		snprintf(buf, 48, ", about %" PRIu64 ".%" PRIu64 " us each", tenths / 10,
			 tenths % 10);
	else
		snprintf(buf, 48, ", about %" PRIu64 " us each",
			 (at.period + 500 * exits) / (1000 * exits));
}

/* Intervals know of phases (stats/phases.h). */
static void note_phases(struct hlg_report *r)
{
	const struct hlg_view *v = &r->all;
	double n = v->guest_observations, worth = n / v->design;
	char in_step[80] = "", equal[64] = "";

	if (v->design < 1.5)
		return;
	if (n + 0.5 < (double)v->guest.samples)
		snprintf(equal, sizeof(equal), " (as many as %.0f of equal periods)", n);
	hlg_rates_put_step(in_step, sizeof(in_step), r);
	hlg_note_list_add(&r->notes,
			  "phases: %" PRIu64 " guest samples%s%s are worth %.0f "
			  "independent ones: what runs changes with time, and intervals "
			  "are wider %s (a longer recording has more phases%s)",
			  v->guest.samples, r->by ? " of all groups" : "", equal, worth,
			  r->by ? "in groups where it does" : "for it", in_step);
}

/* Were exits recorded, maybe without their addresses? Other events of KVM, as that of a
 * guest that halts, are in recordings without. */
static bool knows_exits(const struct hlg_profile *p)
{
	for (uint32_t i = 0; i < p->n_events; i++)
		if (strcmp(p->events[i].name, "kvm:kvm_exit") == 0 ||
		    strcmp(p->events[i].name, "kvm:kvm_userspace_exit") == 0)
			return true;
	return p->transits.n;
}

/* What is not in the functions of a report although it has their addresses. */
static void note_border(struct hlg_report *r, struct hlg_count at)
{
	const struct hlg_view *v = &r->all;
	double guest = (double)hlg_count_weigh(v->weight, v->guest);
	char percent[16], each[48];

	if (at.samples == 0)
		return;
	hlg_interval_percent(percent, (double)hlg_count_weigh(v->weight, at) /
					      (guest > 0 ? guest : 1));
	time_each(each, r, at);
	hlg_note_list_add(&r->notes,
			  "%s %% of the guest's samples are at VM exits%s, which is "
			  "no function's time: report's percentages are of the others "
			  "(%shlguest exits tells why)",
			  percent, each,
			  knows_exits(r->profile) ? "" : "record --exits, and ");
}

/* Of few samples, what a longer recording would have told. */
static void note_doubtful(struct hlg_report *r)
{
	char percent[16];

	if (r->border.doubtful < 3 ||
	    (double)r->border.doubtful < (double)r->all.guest.samples / 100)
		return;
	hlg_interval_percent(percent,
			     (double)r->border.doubtful / (double)r->all.guest.samples);
	hlg_note_list_add(&r->notes,
			  "%s %% of the guest's samples may be at VM exits, but are too "
			  "few to tell: functions have them (record longer)",
			  percent);
}

/* Fewer samples tell of fewer exits. */
static void note_part(struct hlg_report *r)
{
	if (r->profile->deselected.samples && (r->border.n || r->border.doubtful))
		hlg_note_list_add(&r->notes,
				  "what is at VM exits is told from the selected samples "
				  "alone: parts of a recording need not add up to all of "
				  "it (border=keep: they do)");
}

/*
 * kvm_arch_pmi_in_guest (arch/arm64/include/asm/kvm_host.h) asks only whether a vCPU is
 * loaded; x86's asks what the interrupt came from.
 */
static void note_arm64(struct hlg_report *r)
{
	bool any = false;

	for (size_t i = 0; i < r->space->n_images; i++)
		any |= r->space->images[i]->elf.machine == EM_AARCH64;
	if (any && r->all.kinds[HLG_OUTSIDE].samples < r->all.guest.samples)
		hlg_note_list_add(&r->notes,
				  "AArch64: KVM on arm64 counts as the guest's whatever "
				  "comes while a vCPU is loaded, so its own time for "
				  "exits, too, at the address where it stopped the guest "
				  "(hlguest(7), VM exits)");
}

/* The promise, checked: what the feed counted is what the rows hold. */
static void note_accounting(struct hlg_report *r)
{
	const struct hlg_profile *p = r->profile;
	struct hlg_count sum = p->deselected, kinds = {0, 0};

	hlg_count_add(&sum, p->host);
	hlg_count_add(&sum, r->all.guest);
	for (int k = 0; k < HLG_N_KINDS; k++)
		hlg_count_add(&kinds, r->all.kinds[k]);
	hlg_count_add(&kinds, r->all.border);
	if (sum.samples != p->seen.samples || sum.period != p->seen.period ||
	    kinds.samples != r->all.guest.samples || kinds.period != r->all.guest.period)
		hlg_note_list_warn(&r->notes,
				   "THE SUMS DO NOT AGREE: %" PRIu64 " samples, %" PRIu64
				   " accounted for; this is a bug, please report it",
				   p->seen.samples, sum.samples);
	if (p->overflow)
		hlg_note_list_warn(
			&r->notes,
			"the sum of the periods passed 2^64 and is wrong; believe "
			"weight=samples only");
	if (p->unrecorded)
		hlg_note_list_warn(&r->notes,
				   "%" PRIu64
				   " sample%s could not be counted: out of memory",
				   p->unrecorded, hlg_plural_s(p->unrecorded));
	if (p->transits.lost)
		hlg_note_list_warn(&r->notes,
				   "where the guest was left and entered could not be "
				   "counted: out of memory");
	if (r->host->unnamed.samples)
		hlg_note_list_warn(
			&r->notes, "%" PRIu64 " host sample%s no row: out of memory",
			r->host->unnamed.samples,
			hlg_plural_word(r->host->unnamed.samples, " has", "s have"));
	if (p->untold)
		hlg_note_list_warn(
			&r->notes,
			"%" PRIu64
			" sample%s filtered out because the recording does not "
			"have what was asked for (pid, tid, cpu or time)",
			p->untold, p->untold == 1 ? "" : "s");
}

void hlg_notes_tell_unread(const struct hlg_report *r, struct hlg_note_list *notes)
{
	for (size_t i = 0; i < r->space->n_images; i++)
		if (hlg_image_unread(r->space->images[i]))
			hlg_note_list_warn(
				notes,
				"%s: could not be read again: it has changed, or the "
				"disk fails; what needs its bytes is not complete: "
				"trust, padding, instructions (start again)",
				r->space->images[i]->path);
}

/* Last, when all that needs the bytes was built. */
static void note_unread(struct hlg_report *r)
{
	const size_t before = r->notes.n;

	hlg_notes_tell_unread(r, &r->notes);
	r->unread |= r->notes.n > before;
}

enum {
	SHOWN = 8 /* bases, threads */
};

/* What counts samples at a base where others are. AArch64's guests are not searched one
 * by one (guest-bases.h). */
static const char *how_to_count(const struct hlg_report *r, const struct hlg_image *image,
				uint64_t base)
{
	if (!hlg_image_overlaps(image, base))
		return " (FILE@auto counts them there)";
	if (image->elf.machine == EM_X86_64 && image->from != HLG_BASE_FOUND)
		return r->profile->of_addresses
			       ? ", which overlaps where it lies (hlguest report "
				 "FILE@auto tells the guests apart)"
			       : ", which overlaps where it lies (FILE@auto tells the "
				 "guests apart)";
	return ", which overlaps where it lies: report these guests apart (--tid=, "
	       "--sandbox=, or their recordings)";
}

/* Addresses that fit another base, in a report that is not a mismatch. */
void hlg_notes_tell_elsewhere(const struct hlg_report *r, struct hlg_note_list *notes)
{
	for (size_t i = 0; i < r->trust.n_images; i++) {
		const struct hlg_image_test *ti = &r->trust.images[i];
		const struct hlg_fit *fit = hlg_trust_elsewhere(ti);

		if (r->trust.all.verdict == HLG_TRUST_MISMATCH || !fit)
			continue;
		hlg_note_list_warn(
			notes, "%" PRIu64 " %s would fit %s at base 0x%" PRIx64 "%s",
			fit->on_samples, hlg_banner_noun(r, fit->on_samples == 1),
			ti->image->path, hlg_space_ip(r->space, fit->base),
			how_to_count(r, ti->image, fit->base));
	}
}

static void tell_images(struct hlg_report *r)
{
	char percent[16];

	for (size_t i = 0; r->trust.n_images > 1 && i < r->trust.n_images; i++) {
		const struct hlg_image_test *ti = &r->trust.images[i];
		const struct hlg_boundaries *s = &ti->tested.samples;
		const char *word = hlg_verdict_said(ti->tested.verdict);
		uint64_t n = s->on + s->off;

		if (n == 0)
			hlg_note_list_detail(&r->remarks, "%s: %s",
					     hlg_image_word(ti->image), word);
		else
			hlg_note_list_detail(&r->remarks,
					     "%s: %s, %s %% of %" PRIu64 " sample%s",
					     hlg_image_word(ti->image), word,
					     hlg_interval_part(percent, s->on, s->off), n,
					     n == 1 ? "" : "s");
	}
}

static void tell_more_builds(struct hlg_report *r)
{
	if (r->profile->ran.more)
		hlg_note_list_warn(&r->remarks,
				   "a recording tells of more than %d builds of a guest: "
				   "of those behind, nothing is checked",
				   HLG_BUILDS_MAX);
}

/* Where nothing tells which build ran. Files that were copied together are as old. */
static void tell_newer(struct hlg_report *r)
{
	const int64_t written = r->profile->ran.written, together = 60;

	for (size_t i = 0; written && i < r->trust.n_images; i++) {
		const struct hlg_image_test *ti = &r->trust.images[i];
		const int64_t mtime = ti->image->elf.id.mtime.tv_sec;

		if (!ti->ran || !(ti->ran->identities >> HLG_IDENTITY_UNKNOWN & 1) ||
		    ti->identity > HLG_IDENTITY_SAME || ti->image->map ||
		    mtime <= written + together)
			continue;
		hlg_note_list_add(&r->remarks,
				  "%s: is newer than the recording: is it the build that "
				  "ran? (hlguest record notes which it is)",
				  ti->image->path);
	}
}

/* Names of an ELF are those of its code, whatever its build id. */
static void tell_same_code(struct hlg_report *r)
{
	for (size_t i = 0; i < r->trust.n_images; i++) {
		const struct hlg_image_test *ti = &r->trust.images[i];

		if (ti->ran && ti->ran->identities >> HLG_IDENTITY_CODE & 1)
			hlg_note_list_add(
				&r->remarks,
				"%s: a build with another build id ran, but its "
				"code is the same: so are the names",
				ti->image->path);
	}
}

static void tell_any_fits(struct hlg_report *r)
{
	for (size_t i = 0; i < r->trust.n_images; i++)
		if (r->trust.images[i].any_fits &&
		    r->trust.all.verdict != HLG_TRUST_MISMATCH)
			hlg_note_list_warn(
				&r->remarks,
				"%s: of AArch64 more samples are needed to tell "
				"this ELF and base from others like it: nothing checks "
				"its names",
				r->trust.images[i].image->path);
}

/* A few addresses may all lie on instructions of another build, too, as one or two of a
 * hot loop do; refusing these would refuse the right ELF with them. Where a recording
 * tells that this build ran there is no doubt. */
static void tell_few(struct hlg_report *r)
{
	const struct hlg_tested *t = &r->trust.all;

	if (t->verdict != HLG_TRUST_TOO_FEW || r->options->mode == HLG_SHOW_HOST ||
	    r->suppressed || t->addrs.on + t->addrs.off >= HLG_VERDICT_LEAST_ADDRS)
		return;
	for (size_t i = 0; i < r->trust.n_images; i++) {
		const struct hlg_image_test *ti = &r->trust.images[i];

		if (ti->tested.samples.on && !ti->any_fits &&
		    ti->identity != HLG_IDENTITY_SAME)
			hlg_note_list_warn(&r->remarks,
					   "%s: so few addresses may fit another build "
					   "of it as well: nothing checks its names "
					   "(hlguest record notes which build runs)",
					   ti->image->path);
	}
}

/* Where samples of all are counted together, only addresses that a unit alone has tell of
 * it (trust.h). */
static const char *of_which(const struct hlg_report *r, bool sandbox)
{
	return r->by & (sandbox ? HLG_BY_SANDBOX : HLG_BY_TID)
		       ? ""
		       : " at addresses of its own";
}

static void tell_threads(struct hlg_report *r)
{
	const struct hlg_trust *trust = &r->trust;

	for (size_t i = 0; i < trust->n_threads && i < SHOWN; i++) {
		const struct hlg_thread_test *m = &trust->threads[i];
		const int32_t sandbox = hlg_profile_sandbox_of(m->tid);
		char percent[16];

		hlg_note_list_warn(
			&r->remarks,
			"%s %" PRId32 " does not fit: %s %% of %" PRIu64
			" tested samples%s%s",
			sandbox > 0 ? "sandbox" : "thread",
			sandbox > 0 ? sandbox : m->tid,
			hlg_interval_part(percent, m->samples.on, m->samples.off),
			m->samples.on + m->samples.off, of_which(r, sandbox > 0),
			/* Where some surely fit, the banner has said so. */
			i == 0 && (!r->banner || trust->n_fitting == 0)
				? " (if it runs another ELF, name that, too)"
				: "");
	}
	if (trust->n_threads > SHOWN)
		hlg_note_list_warn(&r->remarks, "%zu more %s", trust->n_threads - SHOWN,
				   hlg_profile_sandbox_of(trust->threads[SHOWN].tid) > 0
					   ? hlg_plural_word(trust->n_threads - SHOWN,
							     "sandbox does not fit",
							     "sandboxes do not fit")
					   : hlg_plural_word(trust->n_threads - SHOWN,
							     "thread does not fit",
							     "threads do not fit"));
}

static void tell_events(struct hlg_report *r)
{
	for (uint32_t i = 0; i < r->n_events; i++) {
		const struct hlg_event *event = &r->profile->events[r->events[i].event];

		if (r->events[i].count.samples == 0)
			continue;
		hlg_note_list_detail(&r->remarks, "%s is %s", event->name,
				     hlg_event_meaning(event->kind, event->precise_ip));
		if (event->member)
			hlg_note_list_detail(
				&r->remarks,
				"%s is a member of a group: its samples are taken when "
				"the leader overflows, its period is what it counted "
				"since the last one",
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
	if (follows)
		hlg_note_list_warn(&r->remarks,
				   "hot region 0x%" PRIx64 ": %" PRIu64
				   " samples do not tell which of its %zu functions is "
				   "hot: believe the region, not the functions in it",
				   s->region->addr, s->samples, s->functions);
	hlg_note_list_detail(
		&r->remarks,
		"in the hot region 0x%" PRIx64 " the %" PRIu64
		" samples of %zu functions %s their sizes (chi-square %" PRIu64
		", %u degree%s of freedom, %s)",
		s->region->addr, s->samples, s->functions,
		follows ? "may just follow" : "do not just follow",
		(uint64_t)s->chi_square, s->df, s->df == 1 ? "" : "s", p);
}

void hlg_notes_tell_unnamed(const struct hlg_report *r, struct hlg_note_list *notes)
{
	const uint64_t outside = r->all.kinds[HLG_OUTSIDE].samples;

	if (r->unnamed && !r->banner &&
	    hlg_verdict_is_much(outside, r->all.guest.samples))
		hlg_note_list_warn(notes, "%" PRIu64 " of %" PRIu64 " %s lie outside: %s",
				   outside, r->all.guest.samples,
				   hlg_banner_noun(r, false), r->unnamed);
}

/* What the trust block says in words, alike in every format. */
static void tell_trust(struct hlg_report *r)
{
	tell_images(r);
	tell_more_builds(r);
	tell_newer(r);
	tell_same_code(r);
	tell_any_fits(r);
	tell_few(r);
	tell_threads(r);
	hlg_in_turn_note(r);
	hlg_notes_tell_elsewhere(r, &r->remarks);
	hlg_notes_tell_unnamed(r, &r->remarks);
	tell_events(r);
	tell_sizes(r);
	if (r->suppressed && r->trust.all.verdict == HLG_TRUST_MISMATCH &&
	    !hlg_space_is_made(r->space))
		hlg_note_list_warn(&r->remarks, "%s", hlg_banner_suppressed(r));
}

/* Bases that are not those that the files state. */
static void warn_bases(struct hlg_report *r)
{
	for (size_t i = 0; i < r->space->n_images; i++) {
		char *text;

		if (!hlg_base_search_differs(r->space->images[i]))
			continue;
		text = hlg_base_search_warning(r->space->images[i]);
		if (text)
			hlg_note_list_warn(&r->notes, "%s", text);
		else
			r->notes.lost = true;
		free(text);
	}
}

static void warn_starts(struct hlg_report *r)
{
	if (r->profile->starts.full)
		hlg_note_list_warn(
			&r->notes,
			"more than %d sandboxes or threads began: where the "
			"others lie was not kept (name their bases: FILE@BASE)",
			HLG_STARTS);
}

/* Of by=cpu. perf records it with -a, and where it is asked to. */
static void warn_cpus(struct hlg_report *r)
{
	uint64_t samples = 0;

	for (size_t i = 0; r->by & HLG_BY_CPU && i < r->n_cells; i++)
		if (r->profile->series[r->cells[i].series].cpu < 0)
			samples += r->cells[i].count.samples;
	if (samples)
		hlg_note_list_warn(&r->notes,
				   "the CPU of %" PRIu64 " sample%s was not recorded "
				   "(record with hlguest record, or perf's --sample-cpu)",
				   samples, hlg_plural_s(samples));
}

/* Where only what guests halt with was recorded, of what tells sandboxes apart. */
static void note_sandboxes(struct hlg_report *r)
{
	struct hlg_base_kvm_shared shared;
	char who[32];

	if (r->profile->sandboxes.n)
		return;
	shared = hlg_base_kvm_shared(r->space, &r->profile->starts);
	if (shared.threads == 0)
		return;
	if (shared.threads == 1)
		snprintf(who, sizeof(who), "thread %" PRId32, shared.tid);
	else
		snprintf(who, sizeof(who), "%" PRIu32 " threads", shared.threads);
	hlg_note_list_add(&r->notes,
			  "%" PRIu32 " sandboxes ran on %s, and are reported as one "
			  "(hlguest record --sandboxes tells them apart)",
			  shared.sandboxes, who);
}

/* Of skid=, whose column says little by itself. */
static void note_edges(struct hlg_report *r)
{
	if (r->options->skid && !r->suppressed && r->all.guest.samples)
		hlg_note_list_add(
			&r->notes,
			"edge %%: share of a function's samples that may belong "
			"to a neighbour, as late ones do");
}

void hlg_notes_add(struct hlg_report *r)
{
	warn_bases(r);
	warn_starts(r);
	warn_cpus(r);
	for (size_t i = 0; i < r->space->n_images; i++)
		note_image(r, r->space->images[i]);
	note_unread(r);
	if (r->options->demangle && !hlg_demangle_available())
		hlg_note_list_add(
			&r->notes,
			"names are shown as they are in the symbol table: built "
			"without libiberty");
	note_guest(r);
	note_sandboxes(r);
	note_phases(r);
	hlg_rates_note(r);
	note_edges(r);
	note_arm64(r);
	note_accounting(r);
	if (r->by & ~r->options->by & HLG_BY_EVENT)
		hlg_note_list_add(
			&r->notes,
			"several events: one table each; overall percentages weigh "
			"samples, because periods of different events do not add up");
	tell_trust(r);
}

void hlg_notes_add_border(struct hlg_report *r)
{
	note_border(r, r->all.border);
	note_doubtful(r);
	note_part(r);
}

int hlg_notes_add_exits(struct hlg_report *r, struct hlg_err *err)
{
	int rc = r->suppressed ? 0
			       : hlg_border_find(&r->border, r->space, r->profile,
						 r->cells, r->n_cells, err);

	if (rc == 0)
		note_border(r, hlg_view_exits(&r->all, &r->border));
	return rc;
}
