// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/apart.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/trust/base-search.h"
#include "filter/trust/base-seek.h"
#include "filter/trust/runners.h"
#include "filter/trust/verdict.h"
#include "symtab/plural.h"

enum {
	WAY = 300, /* bytes of two names of files, */
	TEXT = 200 /* and of what else a message says */
};

#define SHARE 0.1 /* of a guest, of all samples: less may be chance, or shared code */

struct fit {
	uint64_t on, off; /* samples */
};

bool hlg_apart_begin(struct hlg_apart *apart, const struct hlg_space *space,
		     const struct hlg_options *options)
{
	*apart = (struct hlg_apart){.space = space, .options = options};
	/* What cannot be decoded tells by its addresses alone. */
	apart->codes = hlg_code_open_all(space);
	return apart->codes;
}

void hlg_apart_finish(struct hlg_apart *apart)
{
	hlg_code_close_all(apart->codes, apart->space);
	*apart = (struct hlg_apart){0};
}

/* Does a sample fit a lane? */
static enum hlg_boundary try(const struct hlg_apart *apart,
			     const struct hlg_runner_sample *sample, unsigned lane)
{
	struct hlg_place place;

	hlg_space_lookup(apart->space, sample->ip + hlg_lane_move(lane), &place);
	return place.image ? hlg_verdict_at(apart->codes[place.image->number], &place)
			   : HLG_BOUNDARY_OFF;
}

/* How the samples of a unit fit a lane. */
static struct fit test(const struct hlg_apart *apart, const struct hlg_runner *unit,
		       const struct hlg_runner_sample *all, unsigned lane)
{
	struct fit fit = {0, 0};

	for (size_t i = unit->begin; i < unit->end; i++) {
		enum hlg_boundary is = try(apart, &all[i], lane);

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
static bool is_stated(const struct hlg_apart *apart, struct hlg_runner *unit)
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

/* How many samples of a unit are in no image of its lane. */
static uint64_t count_outside(const struct hlg_apart *apart,
			      const struct hlg_runner *unit,
			      const struct hlg_runner_sample *all)
{
	return hlg_runners_outside(all, unit->begin, unit->end, apart->space, unit->lane);
}

/* It cannot be told what a guest runs. Where all of it fits some lane, what it has in
 * images of all lanes is told. */
static void leave(const struct hlg_apart *apart, struct hlg_runner *unit,
		  const struct hlg_runner_sample *all, bool fits)
{
	unit->lane = fits ? HLG_LANE_SHARED : HLG_LANE_NOBODY;
	if (count_outside(apart, unit, all) == 0)
		unit->untold = HLG_TOLD;
}

/* Of the lane that fits best; alone: no other does as well. */
static enum hlg_untold why_untold(const struct fit *best, bool alone, uint64_t samples)
{
	const uint64_t tested = best->on + best->off;

	/* What could not be decoded fits alike. */
	if (tested < HLG_APART_LEAST)
		return alone || samples < HLG_APART_LEAST ? HLG_UNTOLD_FEW
							  : HLG_UNTOLD_SEVERAL;
	if ((double)best->on < HLG_VERDICT_NEARLY_ALL * (double)tested)
		return HLG_UNTOLD_NONE;
	return alone ? HLG_TOLD : HLG_UNTOLD_SEVERAL;
}

/* Where all lanes are others': does all of it fit what may be run with any of them? */
static bool is_shared(const struct hlg_apart *apart, struct hlg_runner *unit,
		      const struct hlg_runner_sample *all)
{
	unit->lane = HLG_LANE_SHARED;
	return test(apart, unit, all, HLG_LANE_SHARED).off == 0;
}

/* On in some lane that is not others'; else unknown in one; else off. */
static enum hlg_boundary try_any(const struct hlg_apart *apart,
				 const struct hlg_runner_sample *sample)
{
	enum hlg_boundary any = HLG_BOUNDARY_OFF;

	for (unsigned lane = 0; any != HLG_BOUNDARY_ON && lane < apart->space->n_lanes;
	     lane++) {
		const enum hlg_boundary is = is_others(apart, lane)
						     ? HLG_BOUNDARY_OFF
						     : try(apart, sample, lane);

		if (is != HLG_BOUNDARY_OFF)
			any = is;
	}
	return any;
}

/* With instructions of one size any code fits another's. */
static bool tells_instructions(const struct hlg_space *space)
{
	for (size_t i = 0; i < space->n_images; i++)
		if (!space->images[i]->map)
			return space->images[i]->elf.machine == EM_X86_64;
	return false;
}

/* Does a thread take turns? Its lane is the one that fits best. */
static bool takes_turns(const struct hlg_apart *apart, const struct hlg_runner *unit,
			const struct hlg_runner_sample *all)
{
	struct fit any = {0, 0};
	size_t others = 0;

	if (unit->sandbox >= 0 || !tells_instructions(apart->space))
		return false;
	for (size_t i = unit->begin; i < unit->end; i++) {
		enum hlg_boundary is = try(apart, &all[i], unit->lane);

		if (is == HLG_BOUNDARY_OFF) {
			is = try_any(apart, &all[i]);
			others += is == HLG_BOUNDARY_ON;
		}
		any.on += is == HLG_BOUNDARY_ON ? all[i].samples : 0;
		any.off += is == HLG_BOUNDARY_OFF ? all[i].samples : 0;
	}
	return others >= HLG_APART_TURNS &&
	       (double)any.on >= HLG_VERDICT_NEARLY_ALL * (double)(any.on + any.off);
}

bool hlg_apart_has_share(const struct hlg_tested *t)
{
	const double tested = (double)(t->samples.on + t->samples.off);

	return (double)t->samples.on / tested - t->chance >= SHARE * (1 - t->chance);
}

/* Do samples of a thread fit the lane that fits best more than by chance? */
static bool fits_partly(const struct hlg_apart *apart, const struct hlg_runner *unit,
			const struct hlg_runner_sample *all)
{
	struct hlg_tested tested = {0};

	if (unit->sandbox >= 0 || !tells_instructions(apart->space))
		return false;
	for (size_t i = unit->begin; i < unit->end; i++) {
		struct hlg_place place;

		hlg_space_lookup(apart->space, all[i].ip + hlg_lane_move(unit->lane),
				 &place);
		if (place.image)
			hlg_verdict_add(&tested, apart->codes[place.image->number],
					&place, false, all[i].samples);
	}
	hlg_verdict_judge(&tested, 0);
	return tested.samples.on && hlg_apart_has_share(&tested);
}

/* guest: all of one, and not a part of one that as a whole fits none. */
static void judge(const struct hlg_apart *apart, struct hlg_runner *unit,
		  const struct hlg_runner_sample *all, bool guest)
{
	struct fit best = {0, UINT64_MAX};
	bool alone = true;

	unit->untold = HLG_TOLD;
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
		unit->untold = is_shared(apart, unit, all) ? HLG_TOLD : HLG_UNTOLD_NONE;
	else
		unit->untold = why_untold(&best, alone, unit->samples);
	if (unit->untold == HLG_UNTOLD_NONE && best.off < UINT64_MAX - 1)
		unit->untold = takes_turns(apart, unit, all)   ? HLG_UNTOLD_TURNS
			       : fits_partly(apart, unit, all) ? HLG_UNTOLD_PARTLY
							       : HLG_UNTOLD_NONE;
	if (unit->untold)
		leave(apart, unit, all,
		      guest && unit->untold != HLG_UNTOLD_NONE && best.off == 0);
}

static bool has_code(const struct hlg_apart *apart)
{
	for (size_t i = 0; i < apart->space->n_images; i++)
		if (apart->codes[i])
			return true;
	return false;
}

/* Is it of all units one of these? Bits 1 << enum hlg_untold. */
static bool all_are(const struct hlg_runners *units, unsigned these)
{
	for (size_t i = 0; i < units->n; i++)
		if (!(these >> units->at[i].untold & 1))
			return false;
	return true;
}

/* Is a base looked for already? */
static bool is_any_sought(const struct hlg_space *space)
{
	for (size_t i = 0; i < space->n_images; i++)
		if (space->images[i]->sought)
			return true;
	return false;
}

/* "say who runs each: a.elf@0x4000:sandbox=N b.elf@0x4000:sandbox=N", where nothing in
 * the samples does: to name one alone would credit it with the samples of both. Names
 * that are too long are not cut: FILE stands for them. */
static void put_way(char buf[static WAY], const struct hlg_image *first,
		    const struct hlg_image *second, const struct hlg_runners_recording *r)
{
	const bool whole = strlen(first->typed) + strlen(second->typed) < WAY - 100;
	const char *who = r->profile->sandboxes.n ? "sandbox" : "tid";

	snprintf(buf, WAY,
		 "say who runs each: %s@0x%" PRIx64 ":%s=N %s@0x%" PRIx64 ":%s=N",
		 whole ? first->typed : "FILE", first->base, who,
		 whole ? second->typed : "FILE", second->base, who);
}

/* The first thread that takes turns, or NULL. */
static const struct hlg_runner *find_turns(const struct hlg_runners *units)
{
	for (size_t i = 0; i < units->n; i++)
		if (units->at[i].untold == HLG_UNTOLD_TURNS)
			return &units->at[i];
	return NULL;
}

/* The command that records anew, unless a message of so many bytes besides has no room
 * for it: what is cut is no command. *own is to be freed. */
static const char *again_behind(const struct hlg_runners_recording *r, size_t n,
				char **own)
{
	const char *again = hlg_runners_again(r, own);

	return *own && n + TEXT + strlen(again) > sizeof(((struct hlg_err *)0)->msg)
		       ? HLG_RUNNERS_AGAIN
		       : again;
}

int hlg_apart_fail_turns(const struct hlg_space *space,
			 const struct hlg_runners_recording *r, int32_t tid,
			 struct hlg_err *err)
{
	const bool two = space->n_images == 2;
	const char *a = two ? hlg_image_short_name(space->images[0]) : "";
	const char *b = two ? hlg_image_short_name(space->images[1]) : "";
	char *own;
	const char *again =
		again_behind(r, strlen(r->path) + strlen(a) + strlen(b), &own);

	hlg_err_set(err, HLG_EINPUT,
		    "%s: thread %" PRId32 " ran %s%s%s in turn, at the same addresses, "
		    "and the recording does not tell when which of them (record anew: "
		    "%s)",
		    r->path, tid, two ? a : "several of the ELFs", two ? " and " : "", b,
		    again);
	free(own);
	return err->code;
}

/* What the samples tell of two images that overlap; who ran when may be what they lack.
 * way: of put_way. */
static int fail_samples(const struct hlg_apart *apart, const struct hlg_image *first,
			const struct hlg_image *second, const char *way,
			const struct hlg_runners_recording *r,
			const struct hlg_runners *units, struct hlg_err *err)
{
	const struct hlg_runner *turns = find_turns(units);
	const bool none = all_are(units, 1 << HLG_UNTOLD_NONE);
	const bool partly =
		!none && all_are(units, 1 << HLG_UNTOLD_NONE | 1 << HLG_UNTOLD_PARTLY);
	const bool lacks = partly || r->profile->sandboxes.n == 0;
	const bool two = apart->space->n_images == 2;
	const char *a = hlg_image_short_name(first), *b = hlg_image_short_name(second);
	const size_t n = strlen(r->path) + strlen(a) + strlen(b) + strlen(way);
	char *own = NULL;
	const char *again;

	if (turns)
		return hlg_apart_fail_turns(apart->space, r, turns->tid, err);
	again = lacks ? again_behind(r, n, &own) : "";
	if (partly)
		hlg_err_set(
			err, HLG_EINPUT,
			"%s: some samples are of other code than %s%s%s (another build "
			"of one, or another guest in turn with them? " HLG_APART_ANEW
			"%s)",
			r->path, two ? a : "that of the ELFs", two ? " and " : "",
			two ? b : "", again);
	else if (none)
		hlg_err_set(
			err, HLG_EINPUT,
			"%s: its samples fit neither %s nor %s where these lie "
			"(name the ELFs that ran%s%s%s)",
			r->path, a, b,
			is_any_sought(apart->space) ? ""
						    : "; FILE@auto looks for their bases",
			lacks ? "; if they ran in turn on one thread, record anew: " : "",
			again);
	else
		hlg_err_set(
			err, HLG_EINPUT,
			"%s: its samples do not tell who runs %s and who %s, which lie "
			"at the same addresses (%s%s%s)",
			r->path, a, b, way,
			lacks ? ", or record anew: " : "; is their code the same?",
			again);
	free(own);
	return err->code;
}

/* Do two lie across each other, at their first bases? */
static bool are_across(const struct hlg_image *a, const struct hlg_image *b)
{
	return a->from != HLG_BASE_NONE && !a->map &&
	       hlg_base_seek_collide(a, a->base, b, b->base);
}

/* Of the first two that overlap. */
static int fail(const struct hlg_apart *apart, const struct hlg_runners_recording *r,
		const struct hlg_runners *units, struct hlg_err *err)
{
	const struct hlg_image *first = apart->space->images[0], *second = first;
	const char *path = r->path;
	char way[WAY];

	for (size_t i = 0; second->lane == 0 && i < apart->space->n_images; i++)
		second = apart->space->images[i];
	for (size_t i = apart->space->n_images; i-- > 0;)
		if (apart->space->images[i]->lane < second->lane &&
		    are_across(apart->space->images[i], second))
			first = apart->space->images[i];
	if (second->lane == 0)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: has no sample of those who are said to run %s "
				   "(leave it out to see what there is)",
				   path, hlg_image_short_name(first));
	if (strcmp(first->path, second->path) == 0)
		return hlg_err_set(err, HLG_EINPUT, "%s: is given twice (give it once)",
				   first->path);
	put_way(way, first, second, r);
	if (!has_code(apart))
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: %s and %s lie at the same addresses, and without "
				   "decoding them nothing tells who runs which (%s, or "
				   "install libzydis-dev and build again)",
				   path, hlg_image_short_name(first),
				   hlg_image_short_name(second), way);
	if (all_are(units, 1 << HLG_UNTOLD_FEW))
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: has too few samples to tell who runs %s and who "
				   "%s, which lie at the same addresses (%s)",
				   path, hlg_image_short_name(first),
				   hlg_image_short_name(second), way);
	return fail_samples(apart, first, second, way, r, units, err);
}

/* "40 of which fit none of the ELFs, and 9 of which are too few ...": why samples of a
 * guest are outside, by why it cannot be told. */
static void put_why(char buf[static 256], uint64_t samples,
		    const uint64_t outside[static HLG_N_UNTOLD])
{
	static const char *const why[HLG_N_UNTOLD][2] = {
		[HLG_UNTOLD_FEW] = {"are too few to tell which ELF it runs",
				    "is too few to tell which ELF it runs"},
		[HLG_UNTOLD_SEVERAL] = {"fit several of the ELFs alike",
					"fits several of the ELFs alike"},
		[HLG_UNTOLD_NONE] = {"fit none of the ELFs", "fits none of the ELFs"},
		[HLG_UNTOLD_PARTLY] = {"fit the ELFs only in part", ""},
		[HLG_UNTOLD_TURNS] = {"fit the ELFs only together", ""},
	};
	char part[32] = "";
	size_t n = 0;

	buf[0] = '\0';
	for (int i = HLG_TOLD + 1; i < HLG_N_UNTOLD; i++) {
		if (!outside[i])
			continue;
		if (outside[i] < samples)
			snprintf(part, sizeof(part), "%" PRIu64 " of ", outside[i]);
		n += (size_t)snprintf(buf + n, 256 - n, "%s%swhich %s", n ? ", and " : "",
				      part, why[i][outside[i] == 1]);
	}
}

/* Of the i-th such guest. */
static void note(const struct hlg_apart *apart, const struct hlg_runner *guest,
		 const uint64_t outside[static HLG_N_UNTOLD], size_t i,
		 const struct hlg_runners_recording *r)
{
	hlg_note_list_adder *add = hlg_note_list_crowd_adder(i);
	const bool thread = guest->sandbox < 0;
	const bool again = outside[HLG_UNTOLD_TURNS] || outside[HLG_UNTOLD_PARTLY] ||
			   (thread && outside[HLG_UNTOLD_NONE]);
	char why[256], *own = NULL;

	if (!add)
		return;
	put_why(why, guest->samples, outside);
	add(r->notes, "%s %" PRId32 " has %" PRIu64 " sample%s, %s: outside here%s%s%s",
	    thread ? "thread" : "sandbox", thread ? guest->tid : guest->sandbox,
	    guest->samples, hlg_plural_s(guest->samples), why,
	    outside[HLG_UNTOLD_TURNS] ? " (it ran several in turn; record anew: "
	    : outside[HLG_UNTOLD_PARTLY]
		    ? " (another build of one, or another guest in turn with "
		      "them? " HLG_APART_ANEW
	    : again                       ? " (if it ran several in turn, record anew: "
	    : !outside[HLG_UNTOLD_NONE]   ? ""
	    : is_any_sought(apart->space) ? " (another ELF? name it, too"
					  : " (another ELF? name it, too; at another "
					    "base? FILE@auto looks for it",
	    again ? hlg_runners_again(r, &own) : "",
	    again || outside[HLG_UNTOLD_NONE] ? ")" : "");
	free(own);
}

/* Judges the stretches of a sandbox together, and each that does not fit so by itself. */
static void judge_guest(const struct hlg_apart *apart, struct hlg_runner *units, size_t n,
			const struct hlg_runner_sample *all)
{
	struct hlg_runner whole = hlg_runners_sum(units, n);

	judge(apart, &whole, all, true);
	for (size_t i = 0; i < n; i++) {
		struct hlg_runner part = units[i];

		units[i].lane = whole.lane;
		units[i].untold = whole.untold;
		if (n == 1 ||
		    (whole.untold != HLG_TOLD && whole.untold != HLG_UNTOLD_NONE) ||
		    (whole.untold == HLG_TOLD &&
		     test(apart, &part, all, whole.lane).off == 0))
			continue;
		judge(apart, &part, all, false);
		/* The few that lie off in one that fits are its own. */
		if (part.untold == HLG_TOLD || whole.untold == HLG_UNTOLD_NONE)
			units[i] = part;
	}
}

/* Whose samples are in which lane; returns of how many units it can be told. */
static size_t judge_all(const struct hlg_apart *apart, const struct hlg_runners *units)
{
	size_t told = 0;

	for (size_t i = 0, j; i < units->n; i = j) {
		j = hlg_runners_guest(units, i);
		judge_guest(apart, &units->at[i], j - i, units->all);
		for (size_t k = i; k < j; k++)
			told += !units->at[k].untold;
	}
	return told;
}

/* Do the samples of a guest fit an image elsewhere than where its file has it? 1: they
 * do; 0: not, or without memory -1. */
static int refuse(const struct hlg_apart *apart, const struct hlg_runners *units,
		  size_t begin, size_t end)
{
	struct hlg_addresses addrs;
	int refused = hlg_runners_addresses(units, begin, end, &addrs) ? 0 : -1;

	for (size_t i = 0; refused == 0 && i < apart->space->n_images; i++) {
		struct hlg_found found = {0};

		if (apart->codes[i])
			refused = hlg_base_search_refuses(apart->space->images[i],
							  apart->codes[i], apart->options,
							  &addrs, &found);
		hlg_base_find_finish(&found);
	}
	hlg_addresses_finish(&addrs);
	return refused;
}

/* Asks those who fit no lane, of as many as bases are sought of. False without memory. */
static bool refuse_all(struct hlg_apart *apart, const struct hlg_runners *units)
{
	int refused = 0;
	size_t asked = 0;

	if (apart->refused || !tells_instructions(apart->space))
		return true;
	for (size_t i = 0, j; refused == 0 && asked < HLG_RUNNERS_SOUGHT && i < units->n;
	     i = j) {
		j = hlg_runners_guest(units, i);
		if (units->at[i].untold != HLG_UNTOLD_NONE)
			continue;
		refused = refuse(apart, units, i, j);
		asked++;
	}
	apart->refused = refused > 0;
	return refused >= 0;
}

/* Tells of whom it cannot be told. */
static void note_all(const struct hlg_apart *apart, const struct hlg_runners *units,
		     const struct hlg_runners_recording *r)
{
	size_t untold = 0;

	for (size_t i = 0, j; i < units->n; i = j) {
		uint64_t outside[HLG_N_UNTOLD] = {0}, any = 0;

		j = hlg_runners_guest(units, i);
		for (size_t k = i; k < j; k++) {
			uint64_t n = count_outside(apart, &units->at[k], units->all);

			outside[units->at[k].untold] += n;
			any += units->at[k].untold ? n : 0;
		}
		if (any) {
			const struct hlg_runner whole =
				hlg_runners_sum(&units->at[i], j - i);

			note(apart, &whole, outside, untold++, r);
		}
	}
	hlg_note_list_crowd_rest(r->notes, untold, "samples that are outside here");
}

int hlg_apart_settle(struct hlg_apart *apart, const struct hlg_runners_recording *r,
		     struct hlg_err *err)
{
	struct hlg_runners units;
	size_t told = 0;
	int rc = 0;

	if (!hlg_runners_collect(&units, r->all ? r->all : r->profile))
		rc = hlg_err_memory(err, r->path);
	else
		told = judge_all(apart, &units);
	if (rc == 0 && !refuse_all(apart, &units))
		rc = hlg_err_memory(err, r->path);
	/* What could not be read told nothing. */
	for (size_t i = 0; rc == 0 && i < apart->space->n_images; i++)
		if (hlg_image_unread(apart->space->images[i]))
			rc = hlg_image_fail_unread(apart->space->images[i], err);
	if (rc == 0 && units.n && told == 0)
		rc = fail(apart, r, &units, err);
	if (rc == 0 && r->all && !r->units && !hlg_runners_narrow(&units, r->profile))
		rc = hlg_err_memory(err, r->path);
	if (rc == 0 && !hlg_runners_move(&units, r, apart->space->n_lanes))
		rc = hlg_err_memory(err, r->path);
	/* A recording that cannot be told apart is left out, its samples are nowhere. */
	if (rc == 0)
		note_all(apart, &units, r);
	if (rc == 0 && r->units)
		*r->units = units;
	else
		hlg_runners_finish(&units);
	return rc;
}
