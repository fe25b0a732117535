// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/runners.h"

#include <stdlib.h>

#include "symtab/image/lane.h"

static int compare_guests(const void *a, const void *b)
{
	const struct hlg_runner_sample *x = a, *y = b;

	if (x->sandbox != y->sandbox)
		return x->sandbox < y->sandbox ? -1 : 1;
	/* A sandbox moves from thread to thread. */
	if (x->sandbox < 0 && x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return 0;
}

static int compare_units(const void *a, const void *b)
{
	const struct hlg_runner_sample *x = a, *y = b;
	int order = compare_guests(x, y);

	if (order == 0)
		order = x->stretch < y->stretch ? -1 : x->stretch > y->stretch;
	return order;
}

static struct hlg_runner_sample key_of(const struct hlg_profile *p, uint32_t series)
{
	if (hlg_options_states_tid(p->options))
		return (struct hlg_runner_sample){.sandbox = -1,
						  .tid = p->series[series].tid};
	return (struct hlg_runner_sample){.sandbox = p->series[series].sandbox,
					  .tid = p->series[series].tid,
					  .stretch = p->series[series].stretch};
}

/* All samples by sandbox and thread; NULL without memory. */
static struct hlg_runner_sample *collect(const struct hlg_profile *p, size_t *n)
{
	struct hlg_runner_sample *all = malloc((p->n_cells + 1) * sizeof(*all));

	*n = 0;
	for (size_t i = 0; all && i < hlg_profile_room(p); i++) {
		const struct hlg_cell *cell = &p->cells[i];

		if (!cell->count.samples)
			continue;
		all[*n] = key_of(p, cell->series);
		all[*n].ip = cell->ip;
		all[(*n)++].samples = cell->count.samples;
	}
	if (all)
		qsort(all, *n, sizeof(*all), compare_units);
	return all;
}

bool hlg_runners_collect(struct hlg_runners *units, const struct hlg_profile *profile)
{
	*units = (struct hlg_runners){0};
	units->all = collect(profile, &units->n_all);
	units->at = units->all ? calloc(units->n_all + 1, sizeof(*units->at)) : NULL;
	if (!units->at)
		return false;
	for (size_t i = 0, j; i < units->n_all; i = j) {
		const struct hlg_runner_sample *all = units->all;
		struct hlg_runner *unit = &units->at[units->n++];

		*unit = (struct hlg_runner){all[i].sandbox, all[i].tid, .begin = i};
		for (j = i; j < units->n_all && compare_units(&all[j], &all[i]) == 0; j++)
			unit->samples += all[j].samples;
		unit->end = j;
	}
	return true;
}

void hlg_runners_finish(struct hlg_runners *units)
{
	free(units->all);
	free(units->at);
	*units = (struct hlg_runners){0};
}

uint64_t hlg_runners_outside(const struct hlg_runner_sample *all, size_t begin,
			     size_t end, const struct hlg_space *space, unsigned lane)
{
	uint64_t outside = 0;

	for (size_t i = begin; i < end; i++) {
		struct hlg_place place;

		hlg_space_lookup(space, all[i].ip + hlg_lane_move(lane), &place);
		outside += place.image ? 0 : all[i].samples;
	}
	return outside;
}

struct hlg_runner hlg_runners_sum(const struct hlg_runner *units, size_t n)
{
	struct hlg_runner whole = units[0];

	whole.end = units[n - 1].end;
	for (size_t i = 1; i < n; i++)
		whole.samples += units[i].samples;
	return whole;
}

bool hlg_runners_addresses(const struct hlg_runners *units, size_t begin, size_t end,
			   struct hlg_addresses *addrs)
{
	const size_t first = units->at[begin].begin, last = units->at[end - 1].end;

	addrs->n = 0;
	addrs->at = malloc((last - first + 1) * sizeof(*addrs->at));
	for (size_t i = first; addrs->at && i < last; i++)
		addrs->at[addrs->n++] =
			(struct hlg_sampled){units->all[i].ip, units->all[i].samples};
	if (!addrs->at)
		return false;
	hlg_addresses_sort(addrs);
	return true;
}

const char *hlg_runners_again(const struct hlg_runners_recording *r, char **own)
{
	*own = r->again ? r->again(r->again_of) : NULL;
	return *own ? *own : HLG_RUNNERS_AGAIN;
}

size_t hlg_runners_guest(const struct hlg_runners *units, size_t i)
{
	const struct hlg_runner_sample *first = &units->all[units->at[i].begin];

	while (++i < units->n &&
	       compare_guests(&units->all[units->at[i].begin], first) == 0)
		;
	return i;
}

static void add_lane(struct hlg_sandbox *sandbox, unsigned lane)
{
	if (sandbox->lane == HLG_LANE_NOBODY)
		sandbox->lane = lane;
	else if (sandbox->lane != lane)
		sandbox->lane = HLG_LANE_SEVERAL;
}

/* The number of the first unit that is not in front of a key. */
static size_t first_of(const struct hlg_runners *units,
		       const struct hlg_runner_sample *key,
		       int (*compare)(const void *, const void *))
{
	size_t from = 0, n = units->n;

	while (from < n) {
		size_t mid = from + (n - from) / 2;

		if (compare(&units->all[units->at[mid].begin], key) < 0)
			from = mid + 1;
		else
			n = mid;
	}
	return from;
}

/* NULL: it has no guest samples. */
static const struct hlg_runner *unit_of(const struct hlg_runners *units,
					const struct hlg_runner_sample *key)
{
	const size_t i = first_of(units, key, compare_units);
	bool is =
		i < units->n && compare_units(&units->all[units->at[i].begin], key) == 0;

	return is ? &units->at[i] : NULL;
}

bool hlg_runners_narrow(struct hlg_runners *units, const struct hlg_profile *profile)
{
	struct hlg_runners some;
	const bool ok = hlg_runners_collect(&some, profile);

	for (size_t i = 0; ok && i < some.n; i++) {
		struct hlg_runner *to = &some.at[i];
		const struct hlg_runner *of = unit_of(units, &some.all[to->begin]);

		to->lane = of ? of->lane : HLG_LANE_NOBODY;
		to->untold = of ? of->untold : 1;
		to->settled = of && of->settled;
	}
	hlg_runners_finish(units);
	*units = some;
	return ok;
}

const struct hlg_runner *hlg_runners_find(const struct hlg_runners *units,
					  int32_t sandbox, int32_t tid, uint32_t stretch)
{
	const struct hlg_runner_sample key = {
		.sandbox = sandbox, .tid = tid, .stretch = stretch};
	const struct hlg_runner *unit = unit_of(units, &key), *first = NULL;

	if (unit)
		return unit;
	for (size_t i = first_of(units, &key, compare_guests); i < units->n; i++) {
		if (compare_guests(&units->all[units->at[i].begin], &key) != 0)
			break;
		first = first ? first : &units->at[i];
		if (units->at[i].lane != first->lane)
			return NULL;
	}
	return first;
}

/* NULL: it is of none that is listed. */
static struct hlg_sandbox *sandbox_of(struct hlg_profile *p,
				      const struct hlg_runner *unit)
{
	const bool listed =
		unit->sandbox > 0 && (uint32_t)unit->sandbox <= p->sandboxes.n;

	return listed ? &p->sandboxes.at[unit->sandbox - 1] : NULL;
}

/* Whose image a sandbox runs; one of whom a stretch cannot be told, several. */
static void set_lanes(struct hlg_profile *p, const struct hlg_runners *units)
{
	struct hlg_sandbox *sandbox;

	for (uint32_t i = 0; i < p->sandboxes.n; i++)
		p->sandboxes.at[i].lane = HLG_LANE_NOBODY;
	for (size_t i = 0; i < units->n; i++) {
		sandbox = sandbox_of(p, &units->at[i]);
		if (sandbox && !units->at[i].untold)
			add_lane(sandbox, units->at[i].lane);
	}
	for (size_t i = 0; i < units->n; i++) {
		sandbox = sandbox_of(p, &units->at[i]);
		if (sandbox && units->at[i].untold && sandbox->lane != HLG_LANE_NOBODY)
			sandbox->lane = HLG_LANE_SEVERAL;
	}
}

/* False without memory. */
static bool set_moves(struct hlg_profile *p, const struct hlg_runners *units)
{
	p->moves = calloc(p->n_series + 1, sizeof(*p->moves));
	for (uint32_t i = 0; p->moves && i < p->n_series; i++) {
		const struct hlg_runner_sample key = key_of(p, i);
		const struct hlg_runner *unit = unit_of(units, &key);

		if (unit)
			p->moves[i] = hlg_lane_move(unit->lane);
	}
	return p->moves != NULL;
}

/* Where guests are left and entered is told without saying whose. */
static void copy_transits(struct hlg_transits *transits, unsigned n_lanes)
{
	uint32_t n = transits->n;

	for (unsigned lane = 1; lane < n_lanes; lane++)
		for (uint32_t i = 0; i < n && !transits->lost; i++) {
			struct hlg_transit copy = transits->at[i];

			copy.ip += hlg_lane_move(lane);
			hlg_transits_add(transits, copy);
		}
}

/* All moved, and no longer apart. False without memory. */
static bool fold(const struct hlg_runners_recording *r, unsigned n_lanes)
{
	const struct hlg_options *options = r->profile->options;
	struct hlg_profile profile;
	struct hlg_host host = {0};
	struct hlg_stacks stacks = {0};

	if (!hlg_profile_init(&profile, options))
		return false;
	if (r->stacks && !hlg_stacks_init(&stacks, options)) {
		hlg_stacks_finish(&stacks);
		hlg_profile_finish(&profile);
		return false;
	}
	copy_transits(&r->profile->transits, n_lanes);
	hlg_profile_merge(&profile, r->profile);
	hlg_host_merge(&host, &profile, r->host, r->profile);
	if (r->stacks) {
		hlg_stacks_merge(&stacks, r->stacks, &profile, r->profile);
		hlg_stacks_finish(r->stacks);
		*r->stacks = stacks;
	}
	if (r->moved) {
		free(r->moved->by);
		*r->moved = (struct hlg_runners_moved){r->profile->moves,
						       r->profile->n_series};
		r->profile->moves = NULL;
	}
	hlg_host_finish(r->host);
	hlg_profile_finish(r->profile);
	*r->host = host;
	*r->profile = profile;
	return true;
}

bool hlg_runners_move(const struct hlg_runners *units,
		      const struct hlg_runners_recording *recording, unsigned n_lanes)
{
	set_lanes(recording->profile, units);
	return set_moves(recording->profile, units) && fold(recording, n_lanes);
}

bool hlg_runners_move_all(const struct hlg_runners_recording *recording, unsigned lane,
			  unsigned n_lanes)
{
	struct hlg_profile *p = recording->profile;

	p->moves = calloc(p->n_series + 1, sizeof(*p->moves));
	if (!p->moves)
		return false;
	for (uint32_t i = 0; i < p->n_series; i++)
		p->moves[i] = hlg_lane_move(lane);
	for (uint32_t i = 0; i < p->sandboxes.n; i++)
		p->sandboxes.at[i].lane = lane;
	return fold(recording, n_lanes);
}
