// SPDX-License-Identifier: GPL-2.0-only
/* From what was counted, and the space it lies in, to a saved profile. */
#include <stdlib.h>
#include <string.h>

#include "filter/trust/per-file.h"
#include "filter/view/place-name.h"
#include "tools/pprof/pprof.h"
#include "tools/pprof/saved.h"

struct saver {
	const struct hlg_run *run;
	struct hlg_saved *saved;
	struct hlg_border border;
	const void *owner;             /* of the function added last, */
	bool in_border;                /* or of its border */
	const struct hlg_image *image; /* of the cell saved last, if its, at this bias */
	uint64_t bias;
	uint32_t number; /* of its mapping */
};

/* A copy of a string made for us, which is freed; NULL without memory. */
static const char *keep(struct hlg_saved *saved, char *text)
{
	const char *copy = text ? hlg_saved_text(saved, text) : NULL;

	free(text);
	return copy;
}

static bool save_events(struct saver *s)
{
	const struct hlg_profile *p = &s->run->profile;

	for (uint32_t i = 0; i < p->n_events; i++) {
		Pprof__Extra__Event *event = HLG_SAVED_MORE(s->saved->events);

		if (!event)
			return false;
		*event = (Pprof__Extra__Event)PPROF__EXTRA__EVENT__INIT;
		event->precise_ip = p->events[i].precise_ip;
		event->kind = (uint32_t)p->events[i].kind;
		event->member = p->events[i].member;
		event->name = hlg_saved_text(s->saved, p->events[i].name);
		if (!event->name)
			return false;
	}
	return true;
}

/* An image at one of its bases: a mapping of its own. */
static bool save_image(struct saver *s, const struct hlg_image *from, struct hlg_base at)
{
	struct hlg_saved_image *image = HLG_SAVED_MORE(s->saved->images);

	if (!image)
		return false;
	image->extra = (Pprof__Extra__Image)PPROF__EXTRA__IMAGE__INIT;
	image->extra.map = from->map;
	image->extra.load_base = at.base;
	image->extra.bias = at.bias;
	image->start = from->first + at.bias;
	image->limit = from->end + at.bias;
	image->path = hlg_saved_text(s->saved, from->path);
	image->build_id = hlg_saved_text(s->saved, from->elf.build_id);
	return image->path && image->build_id;
}

static bool save_images(struct saver *s)
{
	for (size_t i = 0; i < s->run->space.n_images; i++) {
		const struct hlg_image *image = s->run->space.images[i];

		for (size_t k = 0; k < hlg_image_n_bases(image); k++)
			if (!save_image(s, image, hlg_image_base(image, k)))
				return false;
	}
	return true;
}

/* Of a series; what is not asked for is 0. */
static struct hlg_saved_key key_of(const struct saver *s, uint32_t series)
{
	const struct hlg_series *from = &s->run->profile.series[series];
	struct hlg_saved_key key = {from->event,
				    {from->pid, from->tid, from->cpu, from->sandbox}};

	for (size_t i = 0; i < HLG_SAVED_N_KEYS; i++)
		if (!(s->saved->extra.by >> i & 1))
			key.part[i] = 0;
	return key;
}

/* The function at a place; cells come by address, so it is often the last again. */
static bool save_function(struct saver *s, const struct hlg_place *place)
{
	bool border = hlg_border_has(&s->border, place->image, place->addr);
	bool demangle = s->run->options.demangle;
	struct hlg_saved_function *f;
	const char *symbol;

	if (s->saved->functions.n && s->owner == place->owner && s->in_border == border)
		return true;
	f = HLG_SAVED_MORE(s->saved->functions);
	if (!f)
		return false;
	s->owner = place->owner;
	s->in_border = border;
	symbol = place->symbol && !border ? hlg_image_name(place->image, place->symbol)
					  : NULL;
	f->name = keep(s->saved, border ? hlg_place_name_border(place, demangle)
					: hlg_place_name(place, demangle));
	f->symbol = symbol ? hlg_saved_text(s->saved, symbol) : f->name;
	return f->name && f->symbol;
}

/* The number of the mapping that ip is in, as save_images has them; 0 outside. */
static uint32_t image_number(const struct saver *s, const struct hlg_place *place,
			     uint64_t ip)
{
	uint32_t n = 0;

	for (size_t i = 0; place->image && i < s->run->space.n_images; i++) {
		const struct hlg_image *image = s->run->space.images[i];

		for (size_t k = 0; k < hlg_image_n_bases(image); k++) {
			n++;
			if (image == place->image &&
			    hlg_image_base(image, k).bias == ip - place->addr)
				return n;
		}
	}
	return 0;
}

static bool save_cell(struct saver *s, const struct hlg_cell *from)
{
	struct hlg_saved_cell *cell = HLG_SAVED_MORE(s->saved->cells);
	struct hlg_place place;

	if (!cell)
		return false;
	hlg_view_place(&s->run->space, s->run->options.gaps, from->ip, &place);
	if (!save_function(s, &place))
		return false;
	cell->ip = from->ip;
	if (place.image != s->image || from->ip - place.addr != s->bias)
		s->number = image_number(s, &place, from->ip);
	s->image = place.image;
	s->bias = from->ip - place.addr;
	cell->image = s->number;
	cell->function = (uint32_t)s->saved->functions.n - 1;
	cell->key = key_of(s, from->series);
	cell->count = from->count;
	s->saved->extra.guest_samples += from->count.samples;
	s->saved->extra.guest_period += from->count.period;
	return true;
}

static int compare_cells(const void *a, const void *b)
{
	const struct hlg_cell *x = a, *y = b;

	return x->ip < y->ip ? -1 : x->ip > y->ip;
}

static bool save_cells(struct saver *s)
{
	const struct hlg_profile *p = &s->run->profile;
	struct hlg_cell *cells = malloc((p->n_cells + 1) * sizeof(*cells));
	size_t n = 0;
	bool ok = cells != NULL;

	for (size_t i = 0; ok && i < hlg_profile_room(p); i++)
		if (p->cells[i].count.samples)
			cells[n++] = p->cells[i];
	if (ok)
		qsort(cells, n, sizeof(*cells), compare_cells);
	for (size_t i = 0; ok && i < n; i++)
		ok = save_cell(s, &cells[i]);
	free(cells);
	return ok;
}

static bool save_series(struct saver *s)
{
	const struct hlg_profile *p = &s->run->profile;

	for (uint32_t i = 0; i < p->n_series; i++) {
		struct hlg_saved_key key = key_of(s, i);
		Pprof__Extra__Series *series;

		if (p->series[i].squares == 0)
			continue; /* of the host only, or nothing to tell */
		series = HLG_SAVED_MORE(s->saved->series);
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

static bool save_hosts(struct saver *s)
{
	for (size_t i = 0; i < s->run->host.n_rows; i++) {
		const struct hlg_host_row *from = &s->run->host.rows[i];
		struct hlg_saved_key key = key_of(s, from->series);
		Pprof__Extra__HostRow *row = HLG_SAVED_MORE(s->saved->hosts);

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
		row->dso = hlg_saved_text(s->saved, from->dso);
		row->process = hlg_saved_text(s->saved, from->comm);
		if (!row->dso || !row->process)
			return false;
	}
	return true;
}

static void save_totals(struct saver *s, const struct hlg_recording_sums *sums)
{
	const struct hlg_profile *p = &s->run->profile;
	Pprof__Extra *t = &s->saved->extra;

	t->seen_samples = p->seen.samples;
	t->seen_period = p->seen.period;
	t->deselected_samples = p->deselected.samples;
	t->deselected_period = p->deselected.period;
	t->host_samples = p->host.samples;
	t->host_period = p->host.period;
	t->unnamed_samples = s->run->host.unnamed.samples;
	t->unnamed_period = s->run->host.unnamed.period;
	t->untold = p->untold;
	t->unrecorded = p->unrecorded;
	t->overflow = p->overflow;
	t->recorded = sums->samples;
	t->lost = sums->lost;
	t->throttled = sums->throttled;
	t->skipped = sums->skipped;
	t->left = sums->left;
}

/* A saved profile shows no verdict; who saves it is told by the exit status. */
static int judge(struct hlg_run *run, struct hlg_err *err)
{
	struct hlg_per_file_verdict fit = {0};
	struct hlg_per_file fits;
	bool ok = hlg_per_file_begin(&fits, &run->space, run->options.gaps) &&
		  hlg_per_file_judge(&fits, &run->profile, &fit);

	hlg_per_file_finish(&fits);
	run->mismatch = fit.verdict == HLG_TRUST_MISMATCH;
	return ok ? 0 : hlg_err_memory(err, "profile");
}

/* What is of the border; nothing where the samples do not fit. */
static int find_border(struct saver *s, struct hlg_err *err)
{
	const struct hlg_run *run = s->run;
	int rc;

	if (run->options.border == HLG_BORDER_KEEP || run->mismatch)
		return 0;
	rc = hlg_border_of(&s->border, &run->space, &run->profile, err);
	for (size_t i = 0; rc == 0 && i < run->space.n_images; i++)
		if (hlg_image_unread(run->space.images[i]))
			rc = hlg_image_fail_unread(run->space.images[i], err);
	return rc;
}

static int save(struct saver *s, struct hlg_err *err)
{
	int rc = find_border(s, err);

	if (rc == 0 &&
	    (!save_events(s) || !save_images(s) || !save_cells(s) || !save_series(s) ||
	     !save_hosts(s) || !hlg_pprof_resolve(s->saved)))
		rc = hlg_err_memory(err, "profile");
	hlg_border_finish(&s->border);
	return rc;
}

int hlg_pprof_report(struct hlg_run *run, const struct hlg_recording_sums *sums,
		     FILE *stream, struct hlg_err *err)
{
	struct hlg_saved saved = HLG_SAVED_INIT;
	struct saver s = {.run = run, .saved = &saved};
	int rc = hlg_run_settle(run, err);

	if (rc == 0)
		rc = judge(run, err);
	if (rc < 0)
		return rc;
	saved.extra.by = HLG_SAVED_BY(run->options.by);
	save_totals(&s, sums);
	rc = save(&s, err);
	if (rc == 0)
		rc = hlg_pprof_write(&saved, run->options.out, stream, err);
	hlg_saved_finish(&saved);
	return rc;
}
