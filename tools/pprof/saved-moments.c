// SPDX-License-Identifier: GPL-2.0-only
/*
 * When samples were taken, in saved profiles. A moment is of a cell, which has the
 * address and the labels: so it goes where the cell goes, whatever is selected or merged.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/pprof/saved.h"

struct sample {
	const struct hlg_saved *saved;
	const uint32_t *first;
	size_t n, n_events;
	uint32_t events;
};

/* The place of the cell that number names, as Moments.sample has it; UINT32_MAX: none. */
static uint32_t find_cell(const struct sample *s, uint64_t number)
{
	uint64_t sample = s->n_events ? number / s->n_events : s->n;
	uint32_t low, high, event;

	if (sample >= s->n)
		return UINT32_MAX;
	event = s->events + (uint32_t)(number % s->n_events);
	low = s->first[sample];
	high = s->first[sample + 1];
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (s->saved->cells.at[middle].key.event < event)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->first[sample + 1] && s->saved->cells.at[low].key.event == event
		       ? low
		       : UINT32_MAX;
}

bool hlg_saved_moments_decode(struct hlg_saved *saved, const Pprof__Extra *extra,
			      const uint32_t *first, size_t n, uint32_t events)
{
	const struct sample sample = {saved, first, n, extra->n_event, events};
	const Pprof__Extra__Moments *from = extra->moments;
	struct hlg_moments kept = {0};
	uint64_t time = 0;

	if (!from || from->seen != extra->seen_samples)
		return true;
	kept.halved = from->halved;
	if (from->halved > HLG_MOMENTS_HALVED || from->n_time != from->n_sample ||
	    from->n_time > HLG_MOMENTS_MOST || from->n_time > extra->guest_samples)
		return false;
	/* Keeps no more of those before than there would be of all together. */
	hlg_moments_merge(&saved->moments, &kept, NULL, NULL);
	for (size_t i = 0; i < from->n_time; i++) {
		uint32_t cell = find_cell(&sample, from->sample[i]);

		if (cell == UINT32_MAX ||
		    __builtin_add_overflow(time, from->time[i], &time) ||
		    time == HLG_NO_TIME ||
		    hlg_moments_hash(time) >= hlg_moments_below(&kept))
			return false;
		hlg_moments_add(&saved->moments, time, 0, cell);
	}
	return true;
}

static bool same_but_stack(const struct hlg_saved_cell *a, const struct hlg_saved_cell *b)
{
	return a->at.image == b->at.image && a->at.ip == b->at.ip &&
	       memcmp(a->key.part, b->key.part, sizeof(a->key.part)) == 0;
}

static int compare(const void *a, const void *b)
{
	const struct hlg_moment *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->series < y->series ? -1 : x->series > y->series;
}

bool hlg_saved_moments_first(const struct hlg_saved *saved, uint32_t **first)
{
	const struct hlg_saved_cell *cells = saved->cells.at;
	/* The last such of each event; what it has of other places is seen to be so. */
	uint32_t *of_event = calloc(saved->events.n + 1, sizeof(*of_event));
	size_t begin = 0;

	*first = calloc(saved->cells.n + 1, sizeof(**first));
	for (size_t i = 0; *first && of_event && i < saved->cells.n; i++) {
		uint32_t event = cells[i].key.event, *of = &of_event[event];

		if (i && !same_but_stack(&cells[i - 1], &cells[i]))
			begin = i;
		if (*of < begin || cells[*of].key.event != event)
			*of = (uint32_t)i;
		(*first)[i] = *of;
	}
	free(of_event);
	return *first && of_event;
}

bool hlg_saved_moments_resolve(struct hlg_saved *saved, const uint32_t *places)
{
	struct hlg_moments *m = &saved->moments;
	uint32_t *first = NULL;
	bool ok = !m->lost && hlg_saved_moments_first(saved, &first);

	for (size_t i = 0; ok && i < m->n; i++)
		m->at[i].series = first[places[m->at[i].series]];
	if (ok && m->n)
		qsort(m->at, m->n, sizeof(*m->at), compare);
	free(first);
	return ok;
}

bool hlg_saved_moments_encode(const struct hlg_saved *saved, const uint32_t *samples,
			      struct hlg_saved_arena *arena, Pprof__Extra *to)
{
	const struct hlg_moments *m = &saved->moments;
	Pprof__Extra__Moments *moments;
	uint64_t time = 0;

	if (m->n == 0 && m->halved == 0)
		return true;
	moments = hlg_saved_arena_alloc(arena, 1, sizeof(*moments));
	if (!moments)
		return false;
	*moments = (Pprof__Extra__Moments)PPROF__EXTRA__MOMENTS__INIT;
	moments->seen = saved->extra.seen_samples;
	moments->halved = m->halved;
	moments->n_time = moments->n_sample = m->n;
	moments->time = hlg_saved_arena_alloc(arena, m->n, sizeof(uint64_t));
	moments->sample = hlg_saved_arena_alloc(arena, m->n, sizeof(uint64_t));
	for (size_t i = 0; moments->time && moments->sample && i < m->n; i++) {
		uint32_t cell = m->at[i].series;

		moments->time[i] = m->at[i].time - time;
		moments->sample[i] = (uint64_t)samples[cell] * saved->events.n +
				     saved->cells.at[cell].key.event;
		time = m->at[i].time;
	}
	to->moments = moments;
	return moments->time && moments->sample;
}
