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
	const void *owner;             /* of the function added last */
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
		struct hlg_saved_event *event =
			hlg_saved_more(&s->saved->events, sizeof(*event));

		if (!event)
			return false;
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
	struct hlg_saved_image *image = hlg_saved_more(&s->saved->images, sizeof(*image));

	if (!image)
		return false;
	image->map = from->map;
	image->base = at.base;
	image->bias = at.bias;
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

static struct hlg_saved_key key_of(const struct hlg_profile *p, uint32_t series)
{
	const struct hlg_series *s = &p->series[series];

	return (struct hlg_saved_key){s->event, s->pid, s->tid, s->cpu};
}

/* The function at a place; cells come by address, so it is often the last again. */
static bool save_function(struct saver *s, const struct hlg_place *place)
{
	struct hlg_saved_function *f;
	const char *symbol;

	if (s->saved->functions.n && s->owner == place->owner)
		return true;
	f = hlg_saved_more(&s->saved->functions, sizeof(*f));
	if (!f)
		return false;
	s->owner = place->owner;
	symbol = place->symbol ? hlg_image_name(place->image, place->symbol) : NULL;
	f->name = keep(s->saved, hlg_place_name(place, s->run->options.demangle));
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
	struct hlg_saved_cell *cell = hlg_saved_more(&s->saved->cells, sizeof(*cell));
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
	cell->function = s->saved->functions.n - 1;
	cell->key = key_of(&s->run->profile, from->series);
	cell->count = from->count;
	hlg_count_add(&s->saved->totals.guest, from->count);
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
		struct hlg_saved_series *series;

		if (p->series[i].squares == 0)
			continue; /* of the host only, or nothing to tell */
		series = hlg_saved_more(&s->saved->series, sizeof(*series));
		if (!series)
			return false;
		series->key = key_of(p, i);
		series->squares = p->series[i].squares;
	}
	return true;
}

static bool save_hosts(struct saver *s)
{
	for (size_t i = 0; i < s->run->host.n_rows; i++) {
		const struct hlg_host_row *from = &s->run->host.rows[i];
		struct hlg_saved_host *row =
			hlg_saved_more(&s->saved->hosts, sizeof(*row));

		if (!row)
			return false;
		row->key = key_of(&s->run->profile, from->series);
		row->count = from->count;
		row->dso = hlg_saved_text(s->saved, from->dso);
		row->comm = hlg_saved_text(s->saved, from->comm);
		if (!row->dso || !row->comm)
			return false;
	}
	return true;
}

static void save_totals(struct saver *s, const struct hlg_recording_sums *sums)
{
	const struct hlg_profile *p = &s->run->profile;
	struct hlg_saved_totals *t = &s->saved->totals;

	t->seen = p->seen;
	t->deselected = p->deselected;
	t->host = p->host;
	t->unnamed = s->run->host.unnamed;
	t->untold = p->untold;
	t->unrecorded = p->unrecorded;
	t->overflow = p->overflow;
	t->samples = sums->samples;
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

int hlg_pprof_report(struct hlg_run *run, const struct hlg_recording_sums *sums,
		     FILE *stream, struct hlg_err *err)
{
	struct hlg_saved saved = {.by = run->options.by &
					(HLG_BY_PID | HLG_BY_TID | HLG_BY_CPU)};
	struct saver s = {.run = run, .saved = &saved};
	int rc = hlg_run_settle(run, err);

	if (rc == 0)
		rc = judge(run, err);
	if (rc < 0)
		return rc;
	save_totals(&s, sums);
	if (!save_events(&s) || !save_images(&s) || !save_cells(&s) || !save_series(&s) ||
	    !save_hosts(&s) || !hlg_pprof_resolve(&saved))
		rc = hlg_err_memory(err, "profile");
	if (rc == 0)
		rc = hlg_pprof_write(&saved, run->options.out, stream, err);
	hlg_saved_finish(&saved);
	return rc;
}
