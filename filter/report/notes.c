// SPDX-License-Identifier: GPL-2.0-only
#include "filter/report/notes.h"

#include <inttypes.h>

#include "symtab/name/demangle.h"

static void note_image(struct hlg_report *r, const struct hlg_image *image)
{
	if (image->from == HLG_BASE_DEFAULT && image->elf.hyperlight[0])
		hlg_report_note(
			r,
			"%s: base 0x%" PRIx64 " is assumed, its Hyperlight note says "
			"version '%s', whose base is not known (say %s@BASE)",
			image->path, image->base, image->elf.hyperlight, image->path);
	else if (image->from == HLG_BASE_DEFAULT)
		hlg_report_note(r,
				"%s: base 0x%" PRIx64
				" is assumed, nothing in the file states "
				"it (say %s@BASE)",
				image->path, image->base, image->path);
	if (image->elf.dynsym)
		hlg_report_note(
			r,
			"%s: has no .symtab; names are .dynsym's, functions that are "
			"not exported show as gaps",
			image->path);
	if (image->skipped)
		hlg_report_note(r, "%s: %zu lines are no perf map's and were skipped",
				image->path, image->skipped);
}

static void note_guest(struct hlg_report *r)
{
	const struct hlg_view *v = &r->all;

	if (r->profile->seen.samples == 0)
		hlg_report_note(r, HLG_NOTES_NO_SAMPLE);
	else if (v->guest.samples == 0 && r->profile->deselected.samples)
		hlg_report_note(
			r,
			"no guest sample is left: event=, pid=, tid=, cpu= or time= "
			"deselect %" PRIu64 " of the %" PRIu64 " samples",
			r->profile->deselected.samples, r->profile->seen.samples);
	else if (v->guest.samples == 0)
		hlg_report_note(
			r, "no guest sample was seen: was it recorded without `perf kvm` "
			   "or `-e EVENT:G`, with a modifier that leaves guests out "
			   "(:P, :pp, :H), or does a mediated PMU keep the guest to "
			   "itself? `perf kvm --guest record -e cpu-clock` counts "
			   "everywhere");
	if (r->space->n_images && v->kinds[HLG_OUTSIDE].samples > v->guest.samples / 2 &&
	    v->ip_zero.samples < v->kinds[HLG_OUTSIDE].samples / 2)
		hlg_report_note(
			r, "most guest samples lie outside of every image: is this the "
			   "guest's ELF, and the base right (say FILE@BASE)?");
	if (v->ip_zero.samples)
		hlg_report_note(r,
				"%" PRIu64
				" guest samples have address 0: a guest whose state "
				"is protected (SEV-ES, TDX) does not tell",
				v->ip_zero.samples);
	if (v->stretched.samples)
		hlg_report_note(r,
				"gaps=stretch: %" PRIu64
				" gap samples are credited to the "
				"symbol before them",
				v->stretched.samples);
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
	if (sum.samples != p->seen.samples || sum.period != p->seen.period ||
	    kinds.samples != r->all.guest.samples || kinds.period != r->all.guest.period)
		hlg_report_note(r,
				"THE SUMS DO NOT AGREE: %" PRIu64
				" samples seen, %" PRIu64
				" accounted for; this is a bug, please report it",
				p->seen.samples, sum.samples);
	if (p->overflow)
		hlg_report_note(
			r, "the sum of the periods passed 2^64 and is wrong; believe "
			   "weight=samples only");
	if (p->unrecorded)
		hlg_report_note(r,
				"%" PRIu64 " samples could not be counted: out of memory",
				p->unrecorded);
	if (r->host->unnamed.samples)
		hlg_report_note(r, "%" PRIu64 " host samples have no row: out of memory",
				r->host->unnamed.samples);
	if (p->untold)
		hlg_report_note(r,
				"%" PRIu64
				" samples are deselected because the recording does "
				"not tell what was asked for (pid, tid, cpu or time)",
				p->untold);
}

/* Last, when all that needs the bytes was built. */
static void note_unread(struct hlg_report *r)
{
	for (size_t i = 0; i < r->space->n_images; i++) {
		if (!hlg_image_unread(r->space->images[i]))
			continue;
		r->unread = true;
		hlg_report_note(r,
				"%s: could not be read again: it has changed, or the "
				"disk fails; what needs its bytes is not complete: "
				"trust, padding, instructions (start again)",
				r->space->images[i]->path);
	}
}

void hlg_notes_add(struct hlg_report *r)
{
	for (size_t i = 0; i < r->space->n_images; i++)
		note_image(r, r->space->images[i]);
	note_unread(r);
	if (r->options->demangle && !hlg_demangle_available())
		hlg_report_note(r,
				"names are shown as they are in the symbol table: built "
				"without libiberty");
	note_guest(r);
	note_accounting(r);
	if (r->by & ~r->options->by & HLG_BY_EVENT)
		hlg_report_note(
			r, "several events: one table each; overall percentages weigh "
			   "samples, because periods of different events do not add up");
}
