// SPDX-License-Identifier: GPL-2.0-only
#include "tools/pprof/save-tables.h"

#include <stdlib.h>
#include <string.h>

#include "filter/report/banner.h"
#include "tools/pprof/pprof.h"

struct hlg_saved_key hlg_save_tables_key(const struct hlg_saved *saved,
					 const struct hlg_run *run, uint32_t series)
{
	const struct hlg_series *from = &run->profile.series[series];
	struct hlg_saved_key key = {from->event,
				    {from->pid, from->tid, from->cpu, from->sandbox}};

	for (size_t i = 0; i < HLG_SAVED_N_KEYS; i++)
		if (!(saved->extra.by >> i & 1))
			key.part[i] = 0;
	return key;
}

static bool save_events(struct hlg_saved *saved, const struct hlg_run *run)
{
	const struct hlg_profile *p = &run->profile;

	for (uint32_t i = 0; i < p->n_events; i++) {
		Pprof__Extra__Event *event = HLG_SAVED_MORE(saved->events);

		if (!event)
			return false;
		*event = (Pprof__Extra__Event)PPROF__EXTRA__EVENT__INIT;
		event->precise_ip = p->events[i].precise_ip;
		event->kind = (uint32_t)p->events[i].kind;
		event->member = p->events[i].member;
		event->name = hlg_saved_text(saved, p->events[i].name);
		if (!event->name)
			return false;
	}
	return true;
}

/* What recordings told of the build; also that some told nothing, which lifts ABSENT. */
static bool save_ran(struct hlg_saved *saved, const struct hlg_run *run, size_t number,
		     struct hlg_saved_image *image)
{
	const struct hlg_rans *rans = &run->profile.ran;
	const struct hlg_ran *ran = number < rans->n ? &rans->at[number] : NULL;
	const char *file = "", *id = "";

	if (ran && ran->file) {
		file = hlg_saved_text(saved, ran->file);
		id = hlg_saved_text(saved, ran->id);
	}
	for (int i = 0; ran && file && id && i < HLG_N_IDENTITIES; i++)
		if (ran->identities >> i & 1)
			hlg_saved_add_ran(image, (enum hlg_identity)i, file, id);
	return file && id;
}

/* An image at one of its bases: a mapping of its own. */
static bool save_image(struct hlg_saved *saved, const struct hlg_run *run,
		       const struct hlg_image *from, struct hlg_base at)
{
	struct hlg_saved_image *image = HLG_SAVED_MORE(saved->images);

	if (!image)
		return false;
	*image = (struct hlg_saved_image){.extra = PPROF__EXTRA__IMAGE__INIT};
	image->extra.map = from->map;
	image->extra.load_base = at.base;
	image->extra.bias = at.bias;
	image->start = from->first + at.bias;
	image->limit = from->end + at.bias;
	image->path = hlg_saved_text(saved, from->path);
	image->build_id = hlg_saved_text(saved, from->elf.build_id);
	return image->path && image->build_id &&
	       save_ran(saved, run, from->number, image);
}

static bool save_images(struct hlg_saved *saved, const struct hlg_run *run)
{
	for (size_t i = 0; i < run->space.n_images; i++) {
		const struct hlg_image *image = run->space.images[i];

		for (size_t k = 0; k < hlg_image_n_bases(image); k++)
			if (!save_image(saved, run, image, hlg_image_base(image, k)))
				return false;
	}
	return true;
}

static bool save_series(struct hlg_saved *saved, const struct hlg_run *run)
{
	const struct hlg_profile *p = &run->profile;

	for (uint32_t i = 0; i < p->n_series; i++) {
		struct hlg_saved_key key = hlg_save_tables_key(saved, run, i);
		Pprof__Extra__Series *series;

		if (p->series[i].squares == 0)
			continue; /* of the host only, or nothing to tell */
		series = HLG_SAVED_MORE(saved->series);
		if (!series)
			return false;
		*series = (Pprof__Extra__Series)PPROF__EXTRA__SERIES__INIT;
		series->event = key.event;
		series->pid = key.part[0];
		series->tid = key.part[1];
		series->cpu = key.part[2];
		series->sandbox = key.part[3];
		series->squares_low = (uint64_t)p->series[i].squares;
		series->squares_high = (uint64_t)(p->series[i].squares >> 64);
	}
	return true;
}

static bool save_hosts(struct hlg_saved *saved, const struct hlg_run *run)
{
	for (size_t i = 0; i < run->host.n_rows; i++) {
		const struct hlg_host_row *from = &run->host.rows[i];
		struct hlg_saved_key key = hlg_save_tables_key(saved, run, from->series);
		Pprof__Extra__HostRow *row = HLG_SAVED_MORE(saved->hosts);

		if (!row)
			return false;
		*row = (Pprof__Extra__HostRow)PPROF__EXTRA__HOST_ROW__INIT;
		row->event = key.event;
		row->pid = key.part[0];
		row->tid = key.part[1];
		row->cpu = key.part[2];
		row->sandbox = key.part[3];
		row->samples = from->count.samples;
		row->period = from->count.period;
		row->dso = hlg_saved_text(saved, from->dso);
		row->process = hlg_saved_text(saved, from->comm);
		if (!row->dso || !row->process)
			return false;
	}
	return true;
}

static void save_totals(struct hlg_saved *saved, const struct hlg_run *run,
			const struct hlg_recording_sums *sums)
{
	const struct hlg_profile *p = &run->profile;
	Pprof__Extra *t = &saved->extra;

	t->seen_samples = p->seen.samples;
	t->seen_period = p->seen.period;
	t->deselected_samples = p->deselected.samples;
	t->deselected_period = p->deselected.period;
	t->host_samples = p->host.samples;
	t->host_period = p->host.period;
	t->unnamed_samples = run->host.unnamed.samples;
	t->unnamed_period = run->host.unnamed.period;
	t->untold = p->untold;
	t->unrecorded = p->unrecorded;
	t->overflow = p->overflow;
	saved->recordings = sums->recordings;
	t->recorded = sums->samples;
	t->lost = sums->lost;
	t->throttled = sums->throttled;
	t->skipped = sums->skipped;
	t->left = sums->left;
	t->packed = sums->packed;
	t->unjoined = sums->unjoined;
	t->no_end = sums->no_end;
	t->unknown = sums->unknown;
	t->late = sums->late;
	t->damaged = sums->damaged;
	t->undecoded = sums->undecoded;
	t->marks = run->stacks.marks;
	saved->began = sums->began;
	saved->took = sums->took;
}

/* What the report says of its samples, as who reads the profile has no ELF perhaps. */
static bool save_check(struct hlg_saved *saved, const struct hlg_report *r)
{
	Pprof__Extra__Check *check;
	char *said;

	if (r->all.guest.samples == 0)
		return true;
	check = HLG_SAVED_MORE(saved->checks);
	if (!check)
		return false;
	*check = (Pprof__Extra__Check)PPROF__EXTRA__CHECK__INIT;
	check->word = hlg_verdict_to_checked(r->trust.all.verdict);
	check->suppressed = r->suppressed;
	said = r->banner ? hlg_banner_saved(r) : strdup("");
	check->said = said ? hlg_saved_text(saved, said) : NULL;
	free(said);
	return check->said;
}

/* Which recordings it is of, and what could not be read. */
static bool save_origins(struct hlg_saved *saved, const struct hlg_run *run)
{
	const struct hlg_origins *from = &run->profile.origins;
	struct hlg_origins *to = &saved->origins;

	to->unread = from->unread;
	to->unread_profiles = from->unread_profiles;
	to->lost = from->lost;
	for (size_t i = 0; i < from->n; i++) {
		const char *key = hlg_saved_text(saved, from->at[i].key);
		const char *name = hlg_saved_text(saved, from->at[i].name);

		if (!key || !name)
			return false;
		hlg_origins_add(to, from->at[i].kind, key, name, from->at[i].n);
	}
	return !to->lost;
}

bool hlg_save_tables_fill(struct hlg_saved *saved, const struct hlg_report *r,
			  const struct hlg_run *run,
			  const struct hlg_recording_sums *sums)
{
	save_totals(saved, run, sums);
	return save_check(saved, r) && save_events(saved, run) &&
	       save_images(saved, run) && save_series(saved, run) &&
	       save_hosts(saved, run) && save_origins(saved, run);
}
