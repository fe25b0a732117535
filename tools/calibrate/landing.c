// SPDX-License-Identifier: GPL-2.0-only
#include "tools/calibrate/landing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "symtab/code/code.h"
#include "tools/vm/machine.h"

#define LINE       64 /* bytes of a cache line: the chain has a link in each */
#define WALL_LIMIT 8  /* times as long as the processor time that is asked for */
#define NOP        0x90

static const struct {
	const char *name, *function, *caller;
	const char *hot; /* prefix of its symbols, or NULL */
	uint64_t turns;  /* between two exits: a few milliseconds */
	char insn[4];    /* the hot instruction's bytes */
	unsigned length;
} kinds[HLG_LANDING_GUESTS] = {
	{"rep movsb", "landing_rep", NULL, "landing_rep", 1000, "\xf3\xa4", 2},
	{"div", "landing_div", NULL, "landing_div", 400000, "\x48\xf7\xf1", 3},
	{"load chain", "landing_load", NULL, "landing_load", 100000, "\x48\x8b\x00", 3},
	{"branches", "landing_branches", NULL, NULL, 400000, "", 0},
	{"mixed lengths", "landing_mixed", NULL, NULL, 100000, "", 0},
	{"hot, gap, cold", "neighbour_hot", "landing_neighbour", NULL, 100000, "", 0},
};

const char *hlg_landing_name(size_t guest)
{
	return kinds[guest].name;
}

bool hlg_landing_hot(size_t guest)
{
	return kinds[guest].hot != NULL;
}

/* The address of PREFIX_SUFFIX. */
static uint64_t mark_of(const struct hlg_guests *guests, size_t kind, const char *suffix)
{
	char name[64];

	snprintf(name, sizeof(name), "%s_%s", kinds[kind].hot, suffix);
	return hlg_guest_image_symbol(guests, name);
}

static bool check_field(const struct hlg_guests *guests, size_t kind)
{
	uint64_t field = mark_of(guests, kind, "field");
	uint64_t hot = mark_of(guests, kind, "hot");
	uint64_t end = mark_of(guests, kind, "end");
	unsigned length = kinds[kind].length;
	uint8_t bytes[256];

	if (field > hot || end < hot + length || end - field > sizeof(bytes) ||
	    hlg_image_read(guests->image, field, bytes, end - field) != end - field)
		return false;
	if (memcmp(bytes + (hot - field), kinds[kind].insn, length) != 0)
		return false;
	for (uint64_t at = field; at < end; at++)
		if ((at < hot || at >= hot + length) && bytes[at - field] != NOP)
			return false;
	return true;
}

bool hlg_landing_check(const struct hlg_guests *guests, char fault[static 256])
{
	for (size_t i = 0; i < HLG_LANDING_GUESTS; i++)
		if (kinds[i].hot && !check_field(guests, i)) {
			snprintf(fault, 256,
				 "landing, %s: the hot instruction is not where its "
				 "symbol is, or its field is not of single bytes",
				 kinds[i].name);
			return false;
		}
	fault[0] = '\0';
	return true;
}

/* The least distance that has the share of a guest's samples; HLG_LANDING_FAR: none. */
static uint64_t window_of(const struct hlg_land *land)
{
	uint64_t n = 0, within = 0;

	while (n < HLG_LANDING_FAR) {
		within += land->distance[n];
		if ((double)within >= HLG_LANDING_SHARE * (double)land->guest)
			break;
		n++;
	}
	return n;
}

void hlg_landing_window(struct hlg_landed *landed, const struct hlg_sampling *event)
{
	uint64_t window = 0;

	landed->window = HLG_WINDOW_UNKNOWN;
	landed->why = "no guest has all of its instructions in one place";
	if (!event->time)
		return;
	for (size_t i = 0; i < HLG_LANDING_GUESTS; i++) {
		uint64_t n = kinds[i].hot ? window_of(&landed->guests[i]) : 0;

		landed->why = "too few samples: raise --time";
		if (kinds[i].hot && landed->guests[i].guest < HLG_LANDING_ENOUGH)
			return;
		landed->why = "samples lie too far behind";
		if (n == HLG_LANDING_FAR)
			return;
		window = n > window ? n : window;
	}
	landed->window = window;
	landed->why = "";
}

bool hlg_landing_refutes(const struct hlg_landed *landed,
			 const struct hlg_sampling *event, char fault[static 256])
{
	const struct hlg_land *rep = &landed->guests[0];
	size_t most = 0;

	for (size_t i = 0; i < HLG_LANDING_GUESTS; i++)
		if (landed->guests[i].off) {
			snprintf(fault, 256,
				 "landing, %s, %s: %ju of %ju samples lie in the middle "
				 "of "
				 "an instruction",
				 event->name, kinds[i].name,
				 (uintmax_t)landed->guests[i].off,
				 (uintmax_t)landed->guests[i].guest);
			return true;
		}
	for (size_t i = 0; i <= HLG_LANDING_FAR; i++)
		most = rep->distance[i] > rep->distance[most] ? i : most;
	if (!event->timer || rep->guest < HLG_LANDING_ENOUGH || most == 0)
		return false;
	snprintf(fault, 256,
		 "landing, %s, %s: most samples lie %zu instructions behind the one that "
		 "has the time, and a timer finds it there",
		 event->name, kinds[0].name, most);
	return true;
}

/*
 * A circle through every line of both buffers, in an order that no prefetcher knows.
 * False without memory.
 */
static bool make_chain(struct hlg_guest *guest)
{
	size_t n = 2 * GUESTS_BUFFER / LINE - 2 * GUESTS_PAGE / LINE, at = 0;
	uint64_t base = hlg_guest_image_symbol(guest->guests, "source"), seed = 1;
	char *memory = hlg_guest_bytes(guest, "source");
	uint32_t *order = calloc(n, sizeof(*order));

	if (!order)
		return false;
	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	for (size_t i = n; i-- > 1;) {
		uint32_t other, kept = order[i];

		seed = seed * 6364136223846793005 +
		       1442695040888963407; /* Knuth's MMIX */
		other = (uint32_t)((seed >> 33) % (i + 1));
		order[i] = order[other];
		order[other] = kept;
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t next = base + (uint64_t)order[i] * LINE;

		memcpy(memory + at, &next, sizeof(next));
		at = (size_t)order[i] * LINE;
	}
	memcpy(memory + at, &base, sizeof(base));
	free(order);
	*hlg_guest_word(guest, GUESTS_CHAIN) = base;
	return true;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Runs a guest for ns of processor time; again: a program, which ends, begins anew. */
static int run(struct hlg_guest *guest, const char *function, bool again,
	       struct hlg_sampler *sampler, struct hlg_landing_truth *truth, uint64_t ns,
	       struct hlg_err *err)
{
	uint64_t until = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
	uint64_t limit = clock_ns(CLOCK_MONOTONIC) + WALL_LIMIT * ns;
	uint64_t lost = sampler->lost;
	int rc = hlg_guest_start(guest, function, 3, false, err);

	hlg_sampler_start(sampler);
	while (rc >= 0 && clock_ns(CLOCK_THREAD_CPUTIME_ID) < until &&
	       clock_ns(CLOCK_MONOTONIC) < limit) {
		rc = hlg_guest_step(guest, err);
		if (rc == 1 && again)
			rc = hlg_guest_start(guest, function, 3, false, err);
		hlg_sampler_drain(sampler, hlg_landing_place, truth);
	}
	hlg_sampler_stop(sampler);
	hlg_sampler_drain(sampler, hlg_landing_place, truth);
	truth->land->lost += sampler->lost - lost;
	return rc < 0 ? rc : 0;
}

/* Returns a negative value without memory only. */
static int sample_guest(struct hlg_landed *landed, struct hlg_guest *guest,
			struct hlg_code *code, struct hlg_sampler *sampler, size_t kind,
			uint64_t ns)
{
	struct hlg_landing_truth truth = {
		.guests = guest->guests,
		.code = code,
		.function = kinds[kind].function,
		.caller = kinds[kind].caller,
		.land = &landed->guests[kind],
	};
	const char *start = kinds[kind].caller ? kinds[kind].caller : truth.function;
	bool known = make_chain(guest) &&
		     hlg_landing_place_know(
			     &truth,
			     kinds[kind].hot ? mark_of(guest->guests, kind, "hot") : 0);
	struct hlg_err err;

	*hlg_guest_word(guest, GUESTS_HOT) = kinds[kind].turns;
	if (known && run(guest, start, false, sampler, &truth, ns, &err) < 0)
		snprintf(landed->reason, sizeof(landed->reason), "%.255s", err.msg);
	hlg_landing_place_forget(&truth);
	return known ? 0 : HLG_ESYSTEM;
}

static int sample_event(struct hlg_landings *landings, const struct hlg_guests *guests,
			struct hlg_code *code, size_t event, uint64_t ns)
{
	struct hlg_landed *landed = &landings->events[event];
	struct hlg_sampler sampler;
	struct hlg_guest guest;
	struct hlg_err err;
	int rc = 0;

	landed->window = HLG_WINDOW_UNKNOWN;
	if (hlg_guest_init(&guest, guests, &err) < 0)
		snprintf(landed->reason, sizeof(landed->reason), "%.255s", err.msg);
	if (hlg_sampler_open(&sampler, &hlg_samplings[event], landed->reason))
		for (size_t i = 0;
		     rc == 0 && !landed->reason[0] && i < HLG_LANDING_GUESTS; i++)
			rc = sample_guest(landed, &guest, code, &sampler, i, ns);
	hlg_sampler_finish(&sampler);
	hlg_guest_finish(&guest);
	if (rc == 0 && !landed->reason[0]) {
		hlg_landing_window(landed, &hlg_samplings[event]);
		if (!landings->fault[0])
			hlg_landing_refutes(landed, &hlg_samplings[event],
					    landings->fault);
	}
	return rc;
}

/* One string program. Returns a negative value without memory only. */
static int sample_program(struct hlg_landings *landings, struct hlg_guest *guest,
			  struct hlg_code *code, struct hlg_sampler *sampler, size_t i,
			  uint64_t ns)
{
	const struct hlg_law *law = &hlg_count_laws[i];
	struct hlg_landing_truth truth = {.guests = guest->guests,
					  .code = code,
					  .function = law->program,
					  .program = true,
					  .land = &landings->programs[i]};
	bool known = hlg_landing_place_know(&truth, 0);
	struct hlg_err err;

	/* Three instructions end it; one before is the loop, or it itself. */
	truth.hot = (size_t)law->besides - 3;
	if (known && run(guest, law->program, true, sampler, &truth, ns, &err) < 0)
		snprintf(landings->programs_reason, sizeof(landings->programs_reason),
			 "%.255s", err.msg);
	hlg_landing_place_forget(&truth);
	return known ? 0 : HLG_ESYSTEM;
}

/* The string programs, with the first event that guests can be sampled with. */
static int sample_programs(struct hlg_landings *landings, const struct hlg_guests *guests,
			   struct hlg_code *code, uint64_t ns)
{
	char *reason = landings->programs_reason;
	struct hlg_sampler sampler;
	struct hlg_guest guest;
	struct hlg_err err;
	size_t event = 0;
	int rc = 0;

	while (event < HLG_SAMPLINGS && landings->events[event].reason[0])
		event++;
	if (event == HLG_SAMPLINGS) {
		strcpy(reason, "no event samples guests here");
		return 0;
	}
	if (hlg_guest_init(&guest, guests, &err) < 0) {
		snprintf(reason, sizeof(landings->programs_reason), "%.255s", err.msg);
		return 0;
	}
	*hlg_guest_word(&guest, GUESTS_OPERATIONS) = GUESTS_OPERATES_MAX;
	if (hlg_sampler_open(&sampler, &hlg_samplings[event], reason))
		for (size_t i = 0; rc == 0 && !reason[0] && i < HLG_COUNT_PROGRAMS; i++)
			rc = sample_program(landings, &guest, code, &sampler, i, ns);
	if (!reason[0])
		landings->programs_by = hlg_samplings[event].name;
	hlg_sampler_finish(&sampler);
	hlg_guest_finish(&guest);
	return rc;
}

int hlg_landing_measure(struct hlg_landings *landings, const struct hlg_guests *guests,
			const char *no_kvm, uint64_t ns, struct hlg_err *err)
{
	struct hlg_code *code = NULL;
	int rc = 0;

	hlg_landing_check(guests, landings->fault);
	if (no_kvm)
		snprintf(landings->reason, sizeof(landings->reason), "%.255s", no_kvm);
	else if (hlg_code_open(&code, guests->image, err) < 0)
		snprintf(landings->reason, sizeof(landings->reason),
			 "the guests' code cannot be decoded (build hlguest with Zydis)");
	for (size_t i = 0; rc == 0 && code && i < HLG_SAMPLINGS; i++)
		rc = sample_event(landings, guests, code, i, ns);
	if (rc == 0 && code)
		rc = sample_programs(landings, guests, code, ns / 4);
	hlg_code_close(code);
	return rc < 0 ? hlg_err_memory(err, "landing") : 0;
}
