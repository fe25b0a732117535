// SPDX-License-Identifier: GPL-2.0-only
/* From a saved profile to what was counted. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/pprof/pprof.h"
#include "tools/pprof/saved.h"

struct loader {
	struct hlg_saved saved;
	const char *path; /* as messages have it */
	const struct hlg_space *space;
	struct hlg_profile *profile;
	uint64_t *shift;  /* of each image: what its samples move by */
	uint32_t *events; /* of each event: its number in the profile */
	struct hlg_err *err;
};

/* by= and the selection need labels; nothing tells when a sample was taken. */
static int check_keys(struct loader *l)
{
	const struct hlg_options *o = l->profile->options;
	const struct {
		const char *name;
		unsigned bit;
		bool selects;
	} keys[] = {{"pid", HLG_BY_PID, o->pid.n != 0},
		    {"tid", HLG_BY_TID, o->tid.n != 0},
		    {"cpu", HLG_BY_CPU, o->cpu.n != 0}};

	if (o->start != 0 || o->stop != UINT64_MAX)
		return hlg_err_set(l->err, HLG_EINPUT,
				   "%s: --time cannot select from a saved profile, which "
				   "has no times (select when it is saved)",
				   l->path);
	for (size_t i = 0; i < 3; i++)
		if ((keys[i].selects || o->by & keys[i].bit) &&
		    !(l->saved.by & keys[i].bit))
			return hlg_err_set(
				l->err, HLG_EINPUT,
				"%s: --%s%s needs the %s of each sample, which was not "
				"saved (save it again with --by=%s)",
				l->path, keys[i].selects ? "" : "by=", keys[i].name,
				keys[i].name, keys[i].name);
	return 0;
}

/* Is it the same file at whatever base? Without a build id, by its extent. */
static bool is_image(const struct hlg_image *here, const struct hlg_saved_image *saved)
{
	if (here->map != saved->map)
		return false;
	if (saved->build_id[0] || here->elf.build_id[0])
		return strcmp(here->elf.build_id, saved->build_id) == 0;
	return here->first == saved->start - saved->bias &&
	       here->end == saved->limit - saved->bias;
}

/* Does the image lie with this bias here? */
static bool lies_at(const struct hlg_image *here, uint64_t bias)
{
	for (size_t i = 0; i < hlg_image_n_bases(here); i++)
		if (hlg_image_base(here, i).bias == bias)
			return true;
	return false;
}

/* One at the same base rather than another one. */
static const struct hlg_image *find_image(const struct hlg_space *space,
					  const struct hlg_saved_image *saved)
{
	const struct hlg_image *found = NULL;

	for (size_t i = 0; i < space->n_images; i++) {
		const struct hlg_image *here = space->images[i];

		if (is_image(here, saved) && (!found || lies_at(here, saved->bias)))
			found = here;
	}
	return found;
}

/* One whose base is still to be found keeps its samples where they were. */
static uint64_t shift_of(const struct hlg_image *here,
			 const struct hlg_saved_image *saved)
{
	if (here->from == HLG_BASE_NONE || lies_at(here, saved->bias))
		return 0;
	return here->bias - saved->bias;
}

static int find_images(struct loader *l)
{
	const struct hlg_saved_cell *cells = l->saved.cells.items;

	for (uint32_t i = 0; i < l->saved.cells.n; i++) {
		uint32_t image = cells[i].image;
		const struct hlg_saved_image *saved;
		const struct hlg_image *here;

		if (image == 0 || (i && cells[i - 1].image == image))
			continue;
		saved = HLG_SAVED(image, &l->saved.images, image - 1);
		here = find_image(l->space, saved);
		if (!here)
			return hlg_err_set(
				l->err, HLG_EINPUT,
				"%s: has samples in %s (%s%s), which is not among the "
				"images (name the same build)",
				l->path, saved->path,
				saved->build_id[0] ? "build id " : "no build id",
				saved->build_id);
		l->shift[image - 1] = shift_of(here, saved);
	}
	return 0;
}

/*
 * When an image was saved at another base, what lay outside of it could lie in it now and
 * would be credited to bytes it never ran.
 */
static int check_outside(struct loader *l)
{
	const struct hlg_saved_cell *cells = l->saved.cells.items;
	bool shifted = false;

	for (uint32_t i = 0; i < l->saved.images.n; i++)
		shifted |= l->shift[i] != 0;
	/* Outside comes first in the order of cells. */
	for (uint32_t i = 0; shifted && i < l->saved.cells.n && !cells[i].image; i++) {
		struct hlg_place place;

		hlg_space_lookup(l->space, cells[i].ip, &place);
		if (place.image)
			return hlg_err_set(l->err, HLG_EINPUT,
					   "%s: has samples outside of its images that "
					   "lie in %s at its base here (say @BASE: the "
					   "one it was saved with, or one that is free)",
					   l->path, place.image->path);
	}
	return 0;
}

static int find_events(struct loader *l)
{
	for (uint32_t i = 0; i < l->saved.events.n; i++) {
		const struct hlg_saved_event *event =
			HLG_SAVED(event, &l->saved.events, i);

		l->events[i] =
			hlg_profile_event(l->profile, event->name, event->precise_ip);
		if (l->events[i] == HLG_NO_SERIES)
			return hlg_err_memory(l->err, l->path);
		hlg_profile_describe(l->profile, l->events[i],
				     (enum hlg_event_kind)event->kind, event->member);
	}
	return 0;
}

static struct hlg_sample sample_of(const struct loader *l,
				   const struct hlg_saved_key *key)
{
	return (struct hlg_sample){.time = HLG_NO_TIME,
				   .pid = key->pid,
				   .tid = key->tid,
				   .cpu = key->cpu,
				   .event = l->events[key->event]};
}

static hlg_u128 squares_of(const struct hlg_saved *saved, const struct hlg_saved_key *key)
{
	uint32_t low = 0, high = saved->series.n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		const struct hlg_saved_series *s = HLG_SAVED(series, &saved->series, mid);
		int order = hlg_saved_compare_keys(&s->key, key);

		if (order == 0)
			return s->squares;
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return 0;
}

static int compare_by_key(const void *a, const void *b)
{
	const struct hlg_saved_cell *x = a, *y = b;

	return hlg_saved_compare_keys(&x->key, &y->key);
}

/* Series by series: its squares come with its first cell. */
static void add_cells(struct loader *l)
{
	struct hlg_saved_cell *cells = l->saved.cells.items;

	if (l->saved.cells.n)
		qsort(cells, l->saved.cells.n, sizeof(*cells), compare_by_key);
	for (uint32_t i = 0; i < l->saved.cells.n; i++) {
		bool first = i == 0 || compare_by_key(&cells[i - 1], &cells[i]) != 0;
		struct hlg_sample s = sample_of(l, &cells[i].key);

		s.cpumode = HLG_MODE_GUEST_KERNEL;
		s.ip = cells[i].ip;
		if (cells[i].image)
			s.ip += l->shift[cells[i].image - 1];
		hlg_profile_add_many(l->profile, &s, cells[i].count,
				     first ? squares_of(&l->saved, &cells[i].key) : 0);
	}
}

/* The rows that are selected go to host, if it wants them. */
static int add_hosts(struct loader *l, struct hlg_host *host)
{
	struct hlg_host kept = {.unnamed = l->saved.totals.unnamed};

	kept.rows = calloc((size_t)l->saved.hosts.n + 1, sizeof(*kept.rows));
	if (!kept.rows)
		return hlg_err_memory(l->err, l->path);
	for (uint32_t i = 0; i < l->saved.hosts.n; i++) {
		const struct hlg_saved_host *row = HLG_SAVED(host, &l->saved.hosts, i);
		struct hlg_sample s = sample_of(l, &row->key);

		if (hlg_profile_add_many(l->profile, &s, row->count, 0) != HLG_HOST)
			continue;
		kept.rows[kept.n_rows].series = hlg_profile_series(l->profile, &s);
		kept.rows[kept.n_rows].dso = (char *)row->dso;
		kept.rows[kept.n_rows].comm = (char *)row->comm;
		kept.rows[kept.n_rows].count = row->count;
		if (kept.rows[kept.n_rows].series != HLG_NO_SERIES)
			kept.n_rows++;
		else
			hlg_count_add(&kept.unnamed, row->count);
	}
	if (host)
		hlg_host_merge(host, l->profile, &kept, l->profile);
	free(kept.rows);
	return 0;
}

static void add_totals(struct loader *l, struct hlg_recording_sums *sums)
{
	const struct hlg_saved_totals *t = &l->saved.totals;
	struct hlg_profile *p = l->profile;
	struct hlg_count more = t->deselected;

	hlg_count_add(&more, t->unnamed); /* their rows are lost, they are not */
	p->overflow |= t->overflow || more.period > UINT64_MAX - p->seen.period;
	hlg_count_add(&p->seen, more);
	hlg_count_add(&p->deselected, t->deselected);
	hlg_count_add(&p->host, t->unnamed);
	p->untold += t->untold;
	p->unrecorded += t->unrecorded;
	sums->samples = t->samples;
	sums->lost = t->lost;
	sums->throttled = t->throttled;
	sums->skipped = t->skipped;
	sums->left = t->left;
}

static int load(struct loader *l, struct hlg_host *host, struct hlg_recording_sums *sums)
{
	int rc = check_keys(l);

	if (rc < 0)
		return rc;
	l->shift = calloc((size_t)l->saved.images.n + 1, sizeof(*l->shift));
	l->events = calloc((size_t)l->saved.events.n + 1, sizeof(*l->events));
	if (!l->shift || !l->events)
		return hlg_err_memory(l->err, l->path);
	rc = find_images(l);
	if (rc == 0)
		rc = check_outside(l);
	if (rc == 0)
		rc = find_events(l);
	if (rc == 0)
		rc = add_hosts(l, host);
	if (rc < 0)
		return rc;
	add_cells(l);
	add_totals(l, sums);
	return 0;
}

int hlg_pprof_read(const char *path, const struct hlg_space *space,
		   struct hlg_progress *progress, struct hlg_profile *profile,
		   struct hlg_host *host, struct hlg_recording_sums *sums,
		   struct hlg_err *err)
{
	struct loader l = {.path = hlg_pprof_name(path),
			   .space = space,
			   .profile = profile,
			   .err = err};
	uint64_t seen = profile->seen.samples, deselected = profile->deselected.samples;
	uint64_t of_host = profile->host.samples;
	int rc;

	memset(sums, 0, sizeof(*sums));
	rc = hlg_pprof_load(&l.saved, path, progress, err);
	if (rc == 0)
		rc = load(&l, host, sums);
	sums->deselected = profile->deselected.samples - deselected;
	sums->host = profile->host.samples - of_host;
	sums->guest = profile->seen.samples - seen - sums->deselected - sums->host;
	free(l.shift);
	free(l.events);
	hlg_saved_finish(&l.saved);
	return rc;
}
