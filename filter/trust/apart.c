// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/apart.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/trust/verdict.h"

enum {
	MOST_NAMED = 5 /* of whom it cannot be told */
};

/* Why it cannot be told of a guest. */
enum untold {
	TOLD,
	TOO_FEW,
	SEVERAL,
	NONE
};

/* A stretch of a sandbox, or a thread of those that are of none. */
struct unit {
	int32_t sandbox, tid; /* -1: not known */
	size_t begin, end;    /* of its samples */
	unsigned lane;
	enum untold untold;
	uint64_t samples;
};

struct sampled {
	int32_t sandbox, tid;
	uint32_t stretch;
	uint64_t ip, samples;
};

struct fit {
	uint64_t on, off; /* samples */
};

bool hlg_apart_begin(struct hlg_apart *apart, const struct hlg_space *space,
		     const struct hlg_options *options)
{
	*apart = (struct hlg_apart){.space = space, .options = options};
	apart->codes = calloc(space->n_images + 1, sizeof(*apart->codes));
	if (!apart->codes)
		return false;
	for (size_t i = 0; i < space->n_images; i++) {
		struct hlg_err err;

		/* What cannot be decoded tells by its addresses alone. */
		if (hlg_code_open(&apart->codes[i], space->images[i], &err) ==
		    HLG_ESYSTEM)
			return false;
	}
	return true;
}

void hlg_apart_finish(struct hlg_apart *apart)
{
	for (size_t i = 0; apart->codes && i < apart->space->n_images; i++)
		hlg_code_close(apart->codes[i]);
	free(apart->codes);
	*apart = (struct hlg_apart){0};
}

static int compare_guests(const struct sampled *x, const struct sampled *y)
{
	if (x->sandbox != y->sandbox)
		return x->sandbox < y->sandbox ? -1 : 1;
	/* A sandbox moves from thread to thread. */
	if (x->sandbox < 0 && x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return 0;
}

static int compare_units(const void *a, const void *b)
{
	const struct sampled *x = a, *y = b;
	int order = compare_guests(x, y);

	if (order == 0)
		order = x->stretch < y->stretch ? -1 : x->stretch > y->stretch;
	return order;
}

static struct sampled key_of(const struct hlg_profile *p, uint32_t series)
{
	if (hlg_options_states_tid(p->options))
		return (struct sampled){.sandbox = -1, .tid = p->series[series].tid};
	return (struct sampled){.sandbox = p->series[series].sandbox,
				.tid = p->series[series].tid,
				.stretch = p->series[series].stretch};
}

/* All samples by sandbox and thread; NULL without memory. */
static struct sampled *collect(const struct hlg_profile *p, size_t *n)
{
	struct sampled *all = malloc((p->n_cells + 1) * sizeof(*all));

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

/* NULL without memory. */
static struct unit *find_units(const struct sampled *all, size_t n, size_t *n_units)
{
	struct unit *units = calloc(n + 1, sizeof(*units));

	*n_units = 0;
	if (!units)
		return NULL;
	for (size_t i = 0, j; i < n; i = j) {
		struct unit *unit = &units[(*n_units)++];

		*unit = (struct unit){all[i].sandbox, all[i].tid, .begin = i};
		for (j = i; j < n && compare_units(&all[j], &all[i]) == 0; j++)
			unit->samples += all[j].samples;
		unit->end = j;
	}
	return units;
}

/* How the samples of a unit fit a lane. */
static struct fit test(const struct hlg_apart *apart, const struct unit *unit,
		       const struct sampled *all, unsigned lane)
{
	struct fit fit = {0, 0};

	for (size_t i = unit->begin; i < unit->end; i++) {
		struct hlg_place place;
		enum hlg_boundary is = HLG_BOUNDARY_OFF;

		hlg_space_lookup(apart->space, all[i].ip + hlg_lane_move(lane), &place);
		if (place.image)
			is = hlg_verdict_at(apart->codes[place.image->number], &place);
		if (is == HLG_BOUNDARY_ON)
			fit.on += all[i].samples;
		if (is == HLG_BOUNDARY_OFF)
			fit.off += all[i].samples;
	}
	return fit;
}

/* What the user said of an image; NULL: nothing of who runs it. */
static const struct hlg_image_arg *statement(const struct hlg_apart *apart, size_t image)
{
	const struct hlg_image_arg *arg = &apart->options->images[image];

	return image < apart->options->n_images && hlg_options_states_who(arg) ? arg
									       : NULL;
}

/* Is it stated what a guest runs? */
static bool is_stated(const struct hlg_apart *apart, struct unit *unit)
{
	for (size_t i = 0; i < apart->space->n_images; i++) {
		const struct hlg_image_arg *arg = statement(apart, i);

		if (!arg || !(hlg_number_list_has(&arg->tid, unit->tid) ||
			      hlg_number_list_has(&arg->sandbox, unit->sandbox)))
			continue;
		unit->lane = apart->space->images[i]->lane;
		return true;
	}
	return false;
}

/* Is it stated who runs what is in a lane? */
static bool is_others(const struct hlg_apart *apart, unsigned lane)
{
	for (size_t i = 0; i < apart->space->n_images; i++)
		if (apart->space->images[i]->lane == lane && statement(apart, i))
			return true;
	return false;
}

static void judge(const struct hlg_apart *apart, struct unit *unit,
		  const struct sampled *all)
{
	struct fit best = {0, UINT64_MAX};
	bool alone = true;

	unit->untold = TOLD;
	if (is_stated(apart, unit))
		return;
	for (unsigned lane = 0; lane < apart->space->n_lanes; lane++) {
		struct fit fit = {0, UINT64_MAX - 1};

		if (!is_others(apart, lane))
			fit = test(apart, unit, all, lane);

		alone = fit.off < best.off || (alone && fit.off > best.off);
		if (fit.off >= best.off)
			continue;
		best = fit;
		unit->lane = lane;
	}
	if (best.off == UINT64_MAX - 1)
		unit->untold = NONE;
	else if (best.on + best.off < HLG_APART_LEAST)
		/* What could not be decoded fits alike. */
		unit->untold =
			alone || unit->samples < HLG_APART_LEAST ? TOO_FEW : SEVERAL;
	else if ((double)best.on < HLG_VERDICT_NEARLY_ALL * (double)(best.on + best.off))
		unit->untold = NONE;
	else if (!alone)
		unit->untold = SEVERAL;
	if (unit->untold)
		unit->lane = HLG_LANE_NOBODY;
}

static bool has_code(const struct hlg_apart *apart)
{
	for (size_t i = 0; i < apart->space->n_images; i++)
		if (apart->codes[i])
			return true;
	return false;
}

static bool too_few(const struct unit *units, size_t n)
{
	size_t few = 0;

	for (size_t i = 0; i < n; i++)
		few += units[i].untold == TOO_FEW;
	return few == n;
}

/* The first two that overlap. few: everybody has too few samples. */
static int fail(const struct hlg_apart *apart, const char *path, bool few,
		struct hlg_err *err)
{
	const struct hlg_image *first = apart->space->images[0], *second = first;

	for (size_t i = 0; second->lane == 0 && i < apart->space->n_images; i++)
		second = apart->space->images[i];
	if (second->lane == 0)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: has no sample of those who are said to run %s "
				   "(leave it out to see what there is)",
				   path, hlg_image_short_name(first));
	if (strcmp(first->path, second->path) == 0)
		return hlg_err_set(err, HLG_EINPUT, "%s: is given twice (give it once)",
				   first->path);
	if (!has_code(apart))
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: %s and %s lie at the same addresses, and without "
				   "decoding them nothing tells who runs which (name one "
				   "of them, or install libzydis-dev and build again)",
				   path, hlg_image_short_name(first),
				   hlg_image_short_name(second));
	if (few)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: has too few samples to tell who runs %s and who "
				   "%s, which lie at the same addresses (name one of "
				   "them)",
				   path, hlg_image_short_name(first),
				   hlg_image_short_name(second));
	return hlg_err_set(
		err, HLG_EINPUT,
		"%s: its samples do not tell who runs %s and who %s, which lie "
		"at the same addresses (name one of them, or record with "
		"--sandboxes)",
		path, hlg_image_short_name(first), hlg_image_short_name(second));
}

static void note(const struct unit *unit, struct hlg_note_list *notes)
{
	static const char *const why[] = {
		[TOO_FEW] = "too few to tell which ELF it runs",
		[SEVERAL] = "which fit several of the ELFs alike",
		[NONE] = "which fit none of the ELFs",
	};
	bool may_run_several = unit->untold == NONE && unit->sandbox < 0;

	hlg_note_list_warn(
		notes, "%s %" PRId32 " has %" PRIu64 " sample%s, %s: outside here%s",
		unit->sandbox < 0 ? "thread" : "sandbox",
		unit->sandbox < 0 ? unit->tid : unit->sandbox, unit->samples,
		unit->samples == 1 ? "" : "s", why[unit->untold],
		may_run_several ? " (if it runs several in turn, record --sandboxes)"
				: "");
}

/* Judges the stretches of a sandbox together, and each that does not fit so by itself;
 * returns if they are told of together. */
static bool judge_guest(const struct hlg_apart *apart, struct unit *units, size_t n,
			const struct sampled *all, struct unit *whole)
{
	*whole = units[0];
	whole->end = units[n - 1].end;
	for (size_t i = 1; i < n; i++)
		whole->samples += units[i].samples;
	judge(apart, whole, all);
	for (size_t i = 0; i < n; i++) {
		struct unit part = units[i];

		units[i].lane = whole->lane;
		units[i].untold = whole->untold;
		if (n == 1 || (whole->untold != TOLD && whole->untold != NONE) ||
		    (whole->untold == TOLD &&
		     test(apart, &part, all, whole->lane).off == 0))
			continue;
		judge(apart, &part, all);
		/* The few that lie off in one that fits are its own. */
		if (part.untold == TOLD || whole->untold == NONE)
			units[i] = part;
	}
	return whole->untold != NONE || n == 1;
}

/* Whose samples are in which lane; returns of how many it can be told. */
static size_t judge_all(const struct hlg_apart *apart, struct unit *units, size_t n,
			const struct sampled *all, struct hlg_note_list *notes)
{
	size_t untold = 0, told = 0;

	for (size_t i = 0, j; i < n; i = j) {
		struct unit whole;
		bool one;

		for (j = i + 1; j < n && compare_guests(&all[units[j].begin],
							&all[units[i].begin]) == 0;
		     j++)
			;
		one = judge_guest(apart, &units[i], j - i, all, &whole);
		for (size_t k = i; k < (one ? i + 1 : j); k++) {
			told += !units[k].untold;
			if (units[k].untold && untold++ < MOST_NAMED)
				note(one ? &whole : &units[k], notes);
		}
	}
	if (untold > MOST_NAMED)
		hlg_note_list_warn(notes, "and so have %zu more",
				   untold - (size_t)MOST_NAMED);
	return told;
}

static void add_lane(struct hlg_sandbox *sandbox, unsigned lane)
{
	if (sandbox->lane == HLG_LANE_NOBODY)
		sandbox->lane = lane;
	else if (sandbox->lane != lane)
		sandbox->lane = HLG_LANE_SEVERAL;
}

/* NULL: it has no guest samples. */
static const struct unit *unit_of(const struct sampled *key, const struct sampled *all,
				  const struct unit *units, size_t n)
{
	size_t from = 0;

	while (from < n) {
		size_t mid = from + (n - from) / 2;
		int order = compare_units(key, &all[units[mid].begin]);

		if (order == 0)
			return &units[mid];
		if (order > 0)
			from = mid + 1;
		else
			n = mid;
	}
	return NULL;
}

/* False without memory. */
static bool set_moves(struct hlg_profile *p, const struct sampled *all,
		      const struct unit *units, size_t n)
{
	p->moves = calloc(p->n_series + 1, sizeof(*p->moves));
	for (uint32_t i = 0; p->moves && i < p->n_series; i++) {
		const struct sampled key = key_of(p, i);
		const struct unit *unit = unit_of(&key, all, units, n);

		if (unit)
			p->moves[i] = hlg_lane_move(unit->lane);
	}
	for (uint32_t i = 0; i < p->sandboxes.n; i++)
		p->sandboxes.at[i].lane = HLG_LANE_NOBODY;
	for (size_t i = 0; i < n; i++)
		if (!units[i].untold && units[i].sandbox > 0 &&
		    (uint32_t)units[i].sandbox <= p->sandboxes.n)
			add_lane(&p->sandboxes.at[units[i].sandbox - 1], units[i].lane);
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
static bool fold(const struct hlg_apart_recording *r, unsigned n_lanes)
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
	hlg_host_finish(r->host);
	hlg_profile_finish(r->profile);
	*r->host = host;
	*r->profile = profile;
	return true;
}

int hlg_apart_settle(struct hlg_apart *apart, const struct hlg_apart_recording *r,
		     struct hlg_err *err)
{
	size_t n, n_units = 0;
	struct sampled *all = collect(r->profile, &n);
	struct unit *units = all ? find_units(all, n, &n_units) : NULL;
	size_t told = 0;
	int rc = 0;

	if (!units)
		rc = hlg_err_memory(err, r->path);
	else
		told = judge_all(apart, units, n_units, all, r->notes);
	/* What could not be read told nothing. */
	for (size_t i = 0; rc == 0 && i < apart->space->n_images; i++)
		if (hlg_image_unread(apart->space->images[i]))
			rc = hlg_image_fail_unread(apart->space->images[i], err);
	if (rc == 0 && n && told == 0)
		rc = fail(apart, r->path, too_few(units, n_units), err);
	if (rc == 0 && (!set_moves(r->profile, all, units, n_units) ||
			!fold(r, apart->space->n_lanes)))
		rc = hlg_err_memory(err, r->path);
	free(all);
	free(units);
	return rc;
}
