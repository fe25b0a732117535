// SPDX-License-Identifier: GPL-2.0-only
#include "filter/profile/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/profile/select.h"
#include "symtab/grow.h"
#include "symtab/hash.h"

#ifndef HLG_FIRST_BITS
#define HLG_FIRST_BITS 12
#endif

/*
 * Free cells. Each page is written at once: one that is looked at first gets the kernel's
 * page of zeros, and a page of its own only later, with all processors told.
 */
static struct hlg_cell *new_cells(size_t n)
{
	struct hlg_cell *cells = calloc(n, sizeof(*cells));

	for (size_t i = 0; cells && i < n; i += 4096 / sizeof(*cells))
		*(volatile uint64_t *)&cells[i].ip = 0;
	return cells;
}

bool hlg_profile_init(struct hlg_profile *profile, const struct hlg_options *options)
{
	memset(profile, 0, sizeof(*profile));
	profile->options = options;
	profile->restricts = hlg_select_restricts(options);
	profile->window = hlg_select_window(options);
	profile->span = HLG_SAMPLE_SPAN_NONE;
	profile->last_series = HLG_NO_SERIES;
	profile->shift = 64 - HLG_FIRST_BITS;
	profile->cells = new_cells((size_t)1 << HLG_FIRST_BITS);
	return profile->cells != NULL;
}

void hlg_profile_finish(struct hlg_profile *profile)
{
	hlg_strings_finish(&profile->event_names);
	free(profile->named);
	free(profile->events);
	free(profile->series);
	hlg_index_finish(&profile->series_index);
	free(profile->cells);
	hlg_transits_finish(&profile->transits);
	hlg_slices_finish(&profile->by_thread);
	hlg_slices_finish(&profile->by_address);
	hlg_moments_finish(&profile->moments);
	hlg_starts_finish(&profile->starts);
	hlg_sandboxes_finish(&profile->sandboxes);
	hlg_builds_finish(&profile->builds);
	hlg_rans_finish(&profile->ran);
	hlg_checked_finish(&profile->checked);
	hlg_origins_finish(&profile->origins);
	free(profile->moves);
	memset(profile, 0, sizeof(*profile));
}

static uint32_t add_event(struct hlg_profile *p, uint32_t name, unsigned precise_ip)
{
	const char *text = hlg_strings_get(&p->event_names, name);
	struct hlg_event *e = &p->events[p->n_events];
	const struct hlg_options *options = p->options;

	*e = (struct hlg_event){
		.name = text,
		.precise_ip = (uint8_t)precise_ip,
		.selected = hlg_select_event(options, text),
		.next = HLG_NO_SERIES,
		.series = HLG_NO_SERIES,
	};
	e->plain = e->selected && !p->restricts && !p->sandboxes.n && !p->apart &&
		   !(options->by & ~(unsigned)HLG_BY_EVENT) &&
		   options->stacks != HLG_STACKS_COUNTERS && !options->slices;
	e->plain_host = e->plain && options->mode == HLG_SHOW_GUEST;
	return p->n_events++;
}

/* One that is called so; HLG_NO_SERIES: there is none. */
static uint32_t find_event(const struct hlg_profile *profile, const char *name,
			   unsigned precise_ip)
{
	uint32_t known = hlg_strings_find(&profile->event_names, name);
	uint32_t i = known ? profile->named[known - 1] : HLG_NO_SERIES;

	while (i != HLG_NO_SERIES && profile->events[i].precise_ip != (uint8_t)precise_ip)
		i = profile->events[i].next;
	return i;
}

uint32_t hlg_profile_event(struct hlg_profile *profile, const char *name,
			   unsigned precise_ip)
{
	uint32_t event = find_event(profile, name, precise_ip), known, number, first;

	if (event != HLG_NO_SERIES)
		return event;
	/* There are not more names than events. */
	if (!HLG_GROW(profile->events, profile->n_events) ||
	    !HLG_GROW(profile->named, profile->n_events))
		return HLG_NO_SERIES;
	known = hlg_strings_find(&profile->event_names, name);
	first = known ? profile->named[known - 1] : HLG_NO_SERIES;
	number = hlg_strings_add(&profile->event_names, name);
	if (number == HLG_NO_STRING)
		return HLG_NO_SERIES;
	event = add_event(profile, number, precise_ip);
	profile->named[number - 1] = event;
	if (known) {
		profile->events[event].next = first;
		profile->events[event].shared = profile->events[first].shared = true;
	}
	return event;
}

bool hlg_profile_call_events(struct hlg_profile *profile,
			     const struct hlg_event_names *names)
{
	struct hlg_strings called = {0};
	bool ok = true;

	for (uint32_t i = 0; ok && i < profile->n_events; i++) {
		char *name = hlg_event_names_called(names, profile->events[i].name,
						    profile->options);

		ok = name && hlg_strings_add(&called, name) != HLG_NO_STRING;
		free(name);
	}
	/* No two become one, so their numbers stay. */
	for (uint32_t i = 0; ok && i < profile->n_events; i++)
		profile->events[i].name = hlg_strings_get(
			&called,
			hlg_strings_find(&profile->event_names, profile->events[i].name));
	if (ok) {
		struct hlg_strings old = profile->event_names;

		profile->event_names = called;
		called = old;
	}
	hlg_strings_finish(&called);
	return ok;
}

void hlg_profile_describe(struct hlg_profile *profile, uint32_t event,
			  enum hlg_event_kind kind, bool member)
{
	struct hlg_event *e = &profile->events[event];

	/* The larger of both pairs, so that it does not matter which was first. */
	if (kind > e->kind || (kind == e->kind && member)) {
		e->kind = kind;
		e->member = member;
	}
}

/* What from knows of an event, as profile has it. */
static uint32_t map_event(struct hlg_profile *profile, const struct hlg_event *from)
{
	uint32_t event = hlg_profile_event(profile, from->name, from->precise_ip);

	if (event != HLG_NO_SERIES)
		hlg_profile_describe(profile, event, from->kind, from->member);
	return event;
}

static bool same_key(const struct hlg_series *a, const struct hlg_series *b)
{
	return a->event == b->event && a->pid == b->pid && a->tid == b->tid &&
	       a->cpu == b->cpu && a->sandbox == b->sandbox && a->stretch == b->stretch;
}

struct search {
	const struct hlg_profile *p;
	const struct hlg_series *key;
};

static bool same_series(const void *ctx, uint32_t number)
{
	const struct search *search = ctx;

	return same_key(&search->p->series[number], search->key);
}

static uint32_t find_series(struct hlg_profile *p, const struct hlg_series *key)
{
	const struct search search = {p, key};
	uint64_t hash = hlg_hash_word(hlg_hash_word(HLG_HASH_SEED, (uint32_t)key->pid),
				      (uint32_t)key->tid);
	uint32_t known;

	hash = hlg_hash_word(hash, (uint64_t)key->event << 32 | (uint32_t)key->cpu);
	hash = hlg_hash_word(hash, (uint64_t)key->stretch << 32 | (uint32_t)key->sandbox);
	known = hlg_index_find(&p->series_index, hash, same_series, &search);
	if (known != HLG_INDEX_NONE)
		return known;
	if (!HLG_GROW(p->series, p->n_series) ||
	    !hlg_index_add(&p->series_index, hash, p->n_series))
		return HLG_NO_SERIES;
	p->series[p->n_series] = *key;
	return p->n_series++;
}

uint32_t hlg_profile_series(struct hlg_profile *p, const struct hlg_sample *sample)
{
	unsigned by = p->options->by;
	struct hlg_series key;

	/* There are no others of an event. */
	if (!(by & ~(unsigned)HLG_BY_EVENT) && !p->apart &&
	    p->last_series != HLG_NO_SERIES && p->last.event == sample->event)
		return p->last_series;
	key = (struct hlg_series){
		sample->event,
		by & HLG_BY_PID ? sample->pid : -1,
		by & HLG_BY_TID ? sample->tid : -1,
		by & HLG_BY_CPU ? sample->cpu : -1,
		by & HLG_BY_SANDBOX && sample->sandbox ? (int32_t)sample->sandbox : -1,
		0,
		0};

	if (p->apart) {
		key.sandbox = sample->sandbox ? (int32_t)sample->sandbox : -1;
		key.stretch = sample->stretch;
		if (!sample->sandbox || hlg_options_states_tid(p->options))
			key.tid = sample->tid;
	}
	if (p->last_series != HLG_NO_SERIES && same_key(&p->last, &key))
		return p->last_series;
	p->last = key;
	p->last_series = find_series(p, &key);
	return p->last_series;
}

static struct hlg_cell *find_cell(const struct hlg_profile *p, uint64_t ip,
				  uint32_t series)
{
	size_t mask = hlg_profile_room(p) - 1, i = hlg_profile_slot(p, ip, series);

	while (p->cells[i].count.samples &&
	       (p->cells[i].ip != ip || p->cells[i].series != series))
		i = (i + 1) & mask;
	return &p->cells[i];
}

static bool grow(struct hlg_profile *p)
{
	struct hlg_cell *old = p->cells;
	size_t n = hlg_profile_room(p);
	struct hlg_cell *cells = new_cells(2 * n);

	if (!cells)
		return false;
	p->cells = cells;
	p->shift--;
	for (size_t i = 0; i < n; i++)
		if (old[i].count.samples)
			*find_cell(p, old[i].ip, old[i].series) = old[i];
	free(old);
	return true;
}

/* Takes a free cell for a new key. Past half full without memory, keys are refused. */
static struct hlg_cell *claim(struct hlg_profile *p, struct hlg_cell *cell, uint64_t ip,
			      uint32_t series, int32_t tid)
{
	if (2 * (p->n_cells + 1) > hlg_profile_room(p)) {
		if (!grow(p))
			return NULL;
		cell = find_cell(p, ip, series);
	}
	p->n_cells++;
	cell->ip = ip;
	cell->series = series;
	cell->tid = tid;
	return cell;
}

/* PERF_RECORD_MISC_CPUMODE_MASK has room for eight. */
static enum hlg_state state_of(unsigned cpumode)
{
	static const enum hlg_state states[] = {
		HLG_OTHER,        HLG_HOST_KERNEL, HLG_HOST_USER, HLG_HYPERVISOR,
		HLG_GUEST_KERNEL, HLG_GUEST_USER,  HLG_OTHER,     HLG_OTHER};

	return states[cpumode % 8];
}

/* What ran. What tracepoints made on the host is none of its time. */
static void add_slice(struct hlg_profile *p, const struct hlg_sample *sample,
		      struct hlg_count count)
{
	const struct hlg_event *event = &p->events[sample->event];
	uint32_t what = HLG_SLICES_STATE + state_of(sample->cpumode);

	if (event->kind == HLG_EVENT_TRACEPOINT &&
	    !hlg_sample_is_guest(sample->cpumode)) {
		if (strcmp(event->name, "kvm:kvm_exit") == 0)
			what = HLG_SLICES_EXITS;
		else if (strcmp(event->name, "kvm:kvm_userspace_exit") == 0)
			what = HLG_SLICES_USER_EXITS;
		else
			return;
	}
	hlg_slices_add(&p->by_thread, sample->time, 0, what, sample->tid, count);
}

static bool add_guest(struct hlg_profile *p, const struct hlg_sample *sample,
		      struct hlg_count count, hlg_u128 squares)
{
	uint32_t series = hlg_profile_series(p, sample);
	/* One alone is told from nobody: its threads are. */
	int32_t tid = p->sandboxes.n > 1 && sample->sandbox
			      ? hlg_profile_tid_of(sample->sandbox)
			      : sample->tid;
	struct hlg_cell *cell;

	if (series == HLG_NO_SERIES)
		return false;
	cell = find_cell(p, sample->ip, series);
	if (cell->count.samples == 0)
		cell = claim(p, cell, sample->ip, series, tid);
	if (!cell)
		return false;
	hlg_profile_cell_see(cell, tid);
	hlg_count_add(&cell->count, count);
	p->series[series].squares += squares;
	hlg_moments_add(&p->moments, sample->time, sample->ip, series);
	hlg_sandboxes_count(&p->sandboxes, sample->sandbox, count);
	if (p->events[sample->event].plain)
		p->events[sample->event].series = series;
	if (p->options->slices) {
		add_slice(p, sample, count);
		hlg_slices_add(&p->by_address, sample->time, sample->ip, series, 0,
			       count);
	}
	return true;
}

/* Where the window lies that is relative to the recording's start, with no more known of
 * that than its first sample. */
static void settle_window(struct hlg_profile *p, uint64_t time)
{
	if (p->window.open && time != HLG_NO_TIME)
		p->window = hlg_select_window_of(p->options, time, time);
}

/* Keeps in mind what was left out, for who finds nothing. */
static void pass(struct hlg_profile *p, const struct hlg_sample *sample,
		 struct hlg_count count)
{
	const struct hlg_options *o = p->options;

	hlg_count_add(&p->deselected, count);
	if (!p->events[sample->event].selected)
		return;
	if (hlg_select_lacks(o, sample))
		p->untold += count.samples;
	if (!hlg_sample_is_guest(sample->cpumode))
		return;
	if (o->pid.n)
		hlg_few_add(&p->passed[HLG_ID_PID], sample->pid);
	if (o->tid.n)
		hlg_few_add(&p->passed[HLG_ID_TID], sample->tid);
	if (o->cpu.n)
		hlg_few_add(&p->passed[HLG_ID_CPU], sample->cpu);
	if (o->sandbox.n && sample->sandbox)
		hlg_few_add(&p->passed[HLG_ID_SANDBOX], (int32_t)sample->sandbox);
}

enum hlg_disposition hlg_profile_add_many(struct hlg_profile *p,
					  const struct hlg_sample *sample,
					  struct hlg_count count, hlg_u128 squares)
{
	enum hlg_disposition disposition = HLG_GUEST;

	settle_window(p, sample->time);
	hlg_sample_span_see(&p->span, sample->time);
	if (!p->events[sample->event].selected ||
	    (p->restricts && !hlg_select_keeps(p->options, &p->window, sample))) {
		disposition = HLG_DESELECTED;
		pass(p, sample, count);
	} else if (!hlg_sample_is_guest(sample->cpumode)) {
		disposition = HLG_HOST;
		if (sample->tid >= HLG_SAMPLE_INJECTED)
			p->injected += count.samples;
		hlg_count_add(&p->host, count);
		hlg_count_add(&p->events[sample->event].host, count);
		if (p->options->slices)
			add_slice(p, sample, count);
	} else if (!add_guest(p, sample, count, squares)) {
		p->unrecorded += count.samples;
		return HLG_DESELECTED;
	}
	if (disposition != HLG_DESELECTED && p->options->stacks == HLG_STACKS_COUNTERS)
		hlg_count_add(&p->states[state_of(sample->cpumode)], count);
	p->overflow |= count.period > UINT64_MAX - p->seen.period;
	hlg_count_add(&p->seen, count);
	return disposition;
}

bool hlg_profile_tell_sandboxes(struct hlg_profile *p,
				const struct hlg_sandboxes *sandboxes)
{
	hlg_sandboxes_merge(&p->sandboxes, sandboxes);
	return !p->sandboxes.lost;
}

void hlg_profile_no_short_cut(struct hlg_profile *p, uint32_t event)
{
	p->events[event].plain = false;
	p->events[event].plain_host = false;
}

enum hlg_disposition hlg_profile_add(struct hlg_profile *p,
				     const struct hlg_sample *sample)
{
	return hlg_profile_add_many(p, sample, (struct hlg_count){1, sample->period},
				    (hlg_u128)sample->period * sample->period);
}

void hlg_profile_keep_apart(struct hlg_profile *p)
{
	p->apart = true;
	for (uint32_t i = 0; i < p->n_events; i++)
		hlg_profile_no_short_cut(p, i);
}

uint32_t hlg_profile_map(struct hlg_profile *to, const struct hlg_profile *from,
			 uint32_t series)
{
	struct hlg_series key = from->series[series];

	if (from->apart && !to->apart) {
		key.tid = to->options->by & HLG_BY_TID ? key.tid : -1;
		key.sandbox = to->options->by & HLG_BY_SANDBOX ? key.sandbox : -1;
		key.stretch = 0;
	}
	key.squares = 0;
	key.event = map_event(to, &from->events[key.event]);
	return key.event == HLG_NO_SERIES ? HLG_NO_SERIES : find_series(to, &key);
}

static void merge_cell(struct hlg_profile *to, const struct hlg_cell *from,
		       uint32_t series, uint64_t move)
{
	struct hlg_cell *cell = NULL;

	if (series != HLG_NO_SERIES) {
		cell = find_cell(to, from->ip + move, series);
		if (cell->count.samples == 0)
			cell = claim(to, cell, from->ip + move, series, from->tid);
	}
	if (cell) {
		hlg_profile_cell_see(cell, from->tid);
		hlg_count_add(&cell->count, from->count);
		return;
	}
	to->unrecorded += from->count.samples;
	hlg_count_sub(&to->seen, from->count);
}

static void merge_event(struct hlg_profile *to, const struct hlg_event *from)
{
	uint32_t event = map_event(to, from);

	if (event != HLG_NO_SERIES) {
		hlg_count_add(&to->events[event].host, from->host);
		return;
	}
	to->unrecorded += from->host.samples;
	hlg_count_sub(&to->host, from->host);
	hlg_count_sub(&to->seen, from->host);
}

static void merge_totals(struct hlg_profile *to, const struct hlg_profile *from)
{
	to->overflow |=
		from->overflow || from->seen.period > UINT64_MAX - to->seen.period;
	hlg_count_add(&to->seen, from->seen);
	hlg_count_add(&to->host, from->host);
	hlg_count_add(&to->deselected, from->deselected);
	if (hlg_sample_span_known(&from->span)) {
		hlg_sample_span_see(&to->span, from->span.first);
		hlg_sample_span_see(&to->span, from->span.last);
	}
	for (int i = 0; i < HLG_N_STATES; i++)
		hlg_count_add(&to->states[i], from->states[i]);
	to->untold += from->untold;
	to->injected += from->injected;
	for (int i = 0; i < HLG_N_IDS; i++)
		hlg_few_merge(&to->passed[i], &from->passed[i]);
	to->unrecorded += from->unrecorded;
}

/* series: what those of from are; NULL without memory. What has none is taken out of the
 * totals again, which have it. */
static void merge_cells(struct hlg_profile *to, const struct hlg_profile *from,
			const uint32_t *series)
{
	for (uint32_t i = 0; series && i < from->n_series; i++)
		if (series[i] != HLG_NO_SERIES)
			to->series[series[i]].squares += from->series[i].squares;
	/*
	 * Cells come in the order of their slots, which does not depend on its size: all
	 * of a smaller table's would crowd at its front before it is grown.
	 */
	while (from->n_cells && 2 * (to->n_cells + from->n_cells) > hlg_profile_room(to))
		if (!grow(to))
			break;
	for (size_t i = 0; i < hlg_profile_room(from); i++)
		if (from->cells[i].count.samples)
			merge_cell(to, &from->cells[i],
				   series ? series[from->cells[i].series] : HLG_NO_SERIES,
				   hlg_profile_move(from, from->cells[i].series));
}

void hlg_profile_merge_told(struct hlg_profile *to, const struct hlg_profile *from)
{
	hlg_builds_merge(&to->builds, &from->builds);
	hlg_rans_merge(&to->ran, &from->ran);
	hlg_origins_merge(&to->origins, &from->origins);
}

void hlg_profile_merge(struct hlg_profile *to, const struct hlg_profile *from)
{
	uint32_t *series = malloc((from->n_series + 1) * sizeof(*series));

	merge_totals(to, from);
	for (uint32_t i = 0; i < from->n_events; i++)
		merge_event(to, &from->events[i]);
	for (uint32_t i = 0; series && i < from->n_series; i++)
		series[i] = hlg_profile_map(to, from, i);
	merge_cells(to, from, series);
	hlg_transits_merge(&to->transits, &from->transits);
	hlg_starts_merge(&to->starts, &from->starts);
	hlg_sandboxes_merge(&to->sandboxes, &from->sandboxes);
	to->unlisted |= from->unlisted;
	hlg_profile_merge_told(to, from);
	(void)hlg_checked_merge(&to->checked, &from->checked);
	if (series) {
		hlg_slices_merge(&to->by_address, &from->by_address, series, from->moves);
		hlg_moments_merge(&to->moments, &from->moments, series, from->moves);
	}
	to->by_address.lost |= !series;
	to->moments.lost |= !series;
	hlg_slices_merge(&to->by_thread, &from->by_thread, NULL, NULL);
	free(series);
}

static bool relocate_cells(struct hlg_profile *p, hlg_profile_where_fn *where,
			   const void *ctx)
{
	struct hlg_cell *old = p->cells;
	struct hlg_cell *cells = new_cells(hlg_profile_room(p));

	if (!cells)
		return false;
	p->cells = cells;
	p->n_cells = 0;
	for (size_t i = 0; i < hlg_profile_room(p); i++) {
		uint64_t ip = old[i].count.samples ? where(ctx, old[i].ip) : 0;
		struct hlg_cell *cell;

		if (!old[i].count.samples)
			continue;
		cell = find_cell(p, ip, old[i].series);
		if (cell->count.samples == 0)
			cell = claim(p, cell, ip, old[i].series, old[i].tid);
		hlg_profile_cell_see(cell, old[i].tid);
		hlg_count_add(&cell->count, old[i].count);
	}
	free(old);
	return true;
}

static bool relocate_transits(struct hlg_transits *t, hlg_profile_where_fn *where,
			      const void *ctx)
{
	struct hlg_transits moved = {.ports = t->ports, .lost = t->lost};

	for (uint32_t i = 0; i < t->n; i++) {
		struct hlg_transit at = t->at[i];

		at.ip = where(ctx, at.ip);
		hlg_transits_add(&moved, at);
	}
	hlg_transits_finish(t);
	*t = moved;
	return !t->lost;
}

bool hlg_profile_relocate(struct hlg_profile *p, hlg_profile_where_fn *where,
			  const void *ctx)
{
	bool lost = p->transits.lost;

	for (size_t i = 0; i < p->moments.n; i++)
		p->moments.at[i].ip = where(ctx, p->moments.at[i].ip);
	for (uint32_t i = 0; i < p->by_address.n; i++)
		p->by_address.entries[i].ip = where(ctx, p->by_address.entries[i].ip);
	hlg_slices_sort(&p->by_address);
	return relocate_cells(p, where, ctx) &&
	       (relocate_transits(&p->transits, where, ctx) || lost);
}

int hlg_profile_compare_series(const struct hlg_profile *p, uint32_t a, uint32_t b)
{
	const struct hlg_series *x = &p->series[a], *y = &p->series[b];
	const struct hlg_event *ex = &p->events[x->event], *ey = &p->events[y->event];
	int order = strcmp(ex->name, ey->name);

	if (order == 0)
		order = ex->precise_ip - ey->precise_ip;
	if (order == 0)
		order = x->pid < y->pid ? -1 : x->pid > y->pid;
	if (order == 0)
		order = x->tid < y->tid ? -1 : x->tid > y->tid;
	if (order == 0)
		order = x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
	if (order == 0)
		order = x->sandbox < y->sandbox ? -1 : x->sandbox > y->sandbox;
	return order;
}

struct hlg_count hlg_profile_traced(const struct hlg_profile *profile)
{
	struct hlg_count traced = {0, 0};

	for (uint32_t i = 0; i < profile->n_events; i++)
		if (profile->events[i].kind == HLG_EVENT_TRACEPOINT)
			hlg_count_add(&traced, profile->events[i].host);
	return traced;
}

struct hlg_count hlg_profile_host(const struct hlg_profile *profile)
{
	struct hlg_count host = profile->host;

	hlg_count_sub(&host, hlg_profile_traced(profile));
	return host;
}
