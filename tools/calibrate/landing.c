// SPDX-License-Identifier: GPL-2.0-only
#include "tools/calibrate/landing.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "symtab/code/code.h"
#include "tools/vm/machine.h"

#define INSTRUCTIONS 256 /* of a guest, at most */
#define LINE         64  /* bytes of a cache line: the chain has a link in each */
#define WALL_LIMIT   8   /* times as long as the processor time that is asked for */

static const struct {
	const char *name, *function, *caller;
	const char *hot; /* symbol of the hot instruction, or NULL */
	uint64_t turns;  /* between two exits: a few milliseconds */
} kinds[HLG_LANDING_GUESTS] = {
	{"rep movsb", "landing_rep", NULL, "landing_rep_hot", 1000},
	{"div", "landing_div", NULL, "landing_div_hot", 400000},
	{"load chain", "landing_load", NULL, "landing_load_hot", 100000},
	{"branches", "landing_branches", NULL, NULL, 400000},
	{"mixed lengths", "landing_mixed", NULL, NULL, 100000},
	{"hot, gap, cold", "neighbour_hot", "landing_neighbour", NULL, 100000},
};

const char *hlg_landing_name(size_t guest)
{
	return kinds[guest].name;
}

bool hlg_landing_hot(size_t guest)
{
	return kinds[guest].hot != NULL;
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
	landed->why = "no guest takes its time in one known place";
	if (!event->time)
		return;
	for (size_t i = 0; i < HLG_LANDING_GUESTS; i++) {
		uint64_t n = kinds[i].hot ? window_of(&landed->guests[i]) : 0;

		landed->why = "too few samples: raise --time";
		if (kinds[i].hot && landed->guests[i].guest < HLG_LANDING_ENOUGH)
			return;
		landed->why = "samples are too late";
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
				 "sample precision, %s, %s: %ju of %ju samples lie in "
				 "the middle "
				 "of an instruction",
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
		 "sample precision, %s, %s: most samples are %zu instruction%s late, but "
		 "a timer's samples must be exact here",
		 event->name, kinds[0].name, most, most == 1 ? "" : "s");
	return true;
}

#define LINKS (2 * (GUESTS_BUFFER - GUESTS_PAGE) / LINE)

/* A circle through every line of both buffers, in an order that no prefetcher knows. */
static void make_chain(struct hlg_guest *guest)
{
	uint64_t base = hlg_guest_image_symbol(guest->guests, "source"), seed = 1;
	char *memory = hlg_guest_bytes(guest, "source");
	static uint32_t order[LINKS];
	size_t at = 0;

	for (size_t i = 0; i < LINKS; i++)
		order[i] = (uint32_t)i;
	for (size_t i = LINKS; i-- > 1;) {
		uint32_t other, kept = order[i];

		seed = seed * 6364136223846793005 +
		       1442695040888963407; /* Knuth's MMIX */
		other = (uint32_t)((seed >> 33) % (i + 1));
		order[i] = order[other];
		order[other] = kept;
	}
	for (size_t i = 0; i < LINKS; i++) {
		uint64_t next = base + (uint64_t)order[i] * LINE;

		memcpy(memory + at, &next, sizeof(next));
		at = (size_t)order[i] * LINE;
	}
	memcpy(memory + at, &base, sizeof(base));
	*hlg_guest_word(guest, GUESTS_CHAIN) = base;
}

/* Where samples of one guest are. */
struct truth {
	struct hlg_guest *guest;
	struct hlg_code *code;
	const char *function; /* the true one ... */
	const char *caller;   /* ... and who calls it, or NULL */
	const char *hot_name; /* symbol of the instruction with the time, or NULL */
	const struct hlg_law
		*law; /* of a string program: the operation is hot; or NULL */
	uint64_t addrs[INSTRUCTIONS]; /* of function, in order */
	size_t n, hot;                /* hot: which of them has the time; n: none */
	struct hlg_land *land;
};

static bool add(void *ctx, uint64_t addr, const struct hlg_insn *insn)
{
	struct truth *truth = ctx;

	(void)insn;
	assert(truth->n < INSTRUCTIONS);
	truth->addrs[truth->n++] = addr;
	return true;
}

static size_t find(const struct truth *truth, uint64_t addr)
{
	size_t i = 0;

	while (i < truth->n && truth->addrs[i] != addr)
		i++;
	return i;
}

/* Fills in the instructions. */
static void know(struct truth *truth)
{
	const struct hlg_guests *guests = truth->guest->guests;
	struct hlg_place place;

	hlg_image_lookup(guests->image, hlg_guest_image_symbol(guests, truth->function),
			 &place);
	hlg_code_walk(truth->code, &place, add, truth);
	truth->hot = truth->n;
	if (truth->hot_name)
		truth->hot = find(truth, hlg_guest_image_symbol(guests, truth->hot_name));
	/* Three instructions end it; one before is the loop, or it itself. */
	if (truth->law)
		truth->hot = (size_t)truth->law->besides - 3;
}

static void note_distance(struct truth *truth, uint64_t addr)
{
	size_t i = find(truth, addr), distance = HLG_LANDING_FAR;

	if (truth->hot == truth->n)
		return;
	if (truth->law) {
		truth->land->string += i == truth->hot;
		truth->land->loop += i == truth->hot + 1;
	}
	if (i < truth->n)
		distance = (i + truth->n - truth->hot) % truth->n;
	truth->land->distance[distance < HLG_LANDING_FAR ? distance : HLG_LANDING_FAR]++;
}

/* For hlg_sampler_drain: counts a sample. */
static void place_sample(void *ctx, uint64_t ip, bool guest)
{
	struct truth *truth = ctx;
	const struct hlg_image *image = truth->guest->guests->image;
	struct hlg_land *land = truth->land;
	const char *name = "";
	struct hlg_place place;

	if (!guest) {
		land->host++;
		return;
	}
	land->guest++;
	hlg_image_lookup(image, ip, &place);
	if (place.symbol)
		name = hlg_image_name(image, place.symbol);
	if (!place.symbol)
		land->gap++;
	else if (strcmp(name, truth->function) == 0 ||
		 (truth->caller && strcmp(name, truth->caller) == 0))
		land->right++;
	else
		land->wrong++;
	if (hlg_code_at(truth->code, &place) == HLG_BOUNDARY_OFF)
		land->off++;
	else
		land->on++;
	note_distance(truth, ip);
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Samples a guest for ns of processor time; a string program, which ends, begins anew.
 * reason: why it failed, if so. */
static void sample(struct truth *truth, struct hlg_sampler *sampler, uint64_t ns,
		   char reason[static 256])
{
	const char *start = truth->caller ? truth->caller : truth->function;
	uint64_t until = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
	uint64_t limit = clock_ns(CLOCK_MONOTONIC) + WALL_LIMIT * ns;
	uint64_t lost = sampler->lost;
	struct hlg_err err;
	int rc;

	know(truth);
	rc = hlg_guest_start(truth->guest, start, 3, false, &err);
	hlg_perf_event_enable(sampler->fd);
	while (rc >= 0 && clock_ns(CLOCK_THREAD_CPUTIME_ID) < until &&
	       clock_ns(CLOCK_MONOTONIC) < limit) {
		rc = hlg_guest_step(truth->guest, &err);
		if (rc == 1 && truth->law)
			rc = hlg_guest_start(truth->guest, start, 3, false, &err);
		hlg_sampler_drain(sampler, place_sample, truth);
	}
	hlg_perf_event_disable(sampler->fd);
	hlg_sampler_drain(sampler, place_sample, truth);
	truth->land->lost += sampler->lost - lost;
	if (rc < 0)
		snprintf(reason, 256, "%.255s", err.msg);
}

static void sample_guests(struct hlg_landed *landed, struct hlg_guest *guest,
			  struct hlg_code *code, struct hlg_sampler *sampler, uint64_t ns)
{
	make_chain(guest);
	for (size_t i = 0; !landed->reason[0] && i < HLG_LANDING_GUESTS; i++) {
		struct truth truth = {.guest = guest,
				      .code = code,
				      .function = kinds[i].function,
				      .caller = kinds[i].caller,
				      .hot_name = kinds[i].hot,
				      .land = &landed->guests[i]};

		*hlg_guest_word(guest, GUESTS_HOT) = kinds[i].turns;
		sample(&truth, sampler, ns, landed->reason);
	}
}

static void sample_programs(struct hlg_landings *landings, struct hlg_guest *guest,
			    struct hlg_code *code, struct hlg_sampler *sampler,
			    uint64_t ns)
{
	*hlg_guest_word(guest, GUESTS_OPERATIONS) = GUESTS_OPERATES_MAX;
	for (size_t i = 0; !landings->programs_reason[0] && i < HLG_COUNT_PROGRAMS; i++) {
		struct truth truth = {.guest = guest,
				      .code = code,
				      .function = hlg_count_laws[i].program,
				      .law = &hlg_count_laws[i],
				      .land = &landings->programs[i]};

		sample(&truth, sampler, ns, landings->programs_reason);
	}
}

/* A guest, and the event at work; if not, reason says why. Finish both in any case. */
static bool begin(struct hlg_guest *guest, struct hlg_sampler *sampler,
		  const struct hlg_guests *guests, size_t event, char reason[static 256])
{
	struct hlg_err err;
	int rc = hlg_guest_init(guest, guests, &err);

	if (rc < 0)
		snprintf(reason, 256, "%.255s", err.msg);
	return hlg_sampler_open(sampler, &hlg_samplings[event], reason) && rc == 0;
}

static void measure_event(struct hlg_landings *landings, const struct hlg_guests *guests,
			  struct hlg_code *code, size_t event, uint64_t ns)
{
	struct hlg_landed *landed = &landings->events[event];
	struct hlg_sampler sampler;
	struct hlg_guest guest;

	landed->window = HLG_WINDOW_UNKNOWN;
	if (begin(&guest, &sampler, guests, event, landed->reason))
		sample_guests(landed, &guest, code, &sampler, ns);
	hlg_sampler_finish(&sampler);
	hlg_guest_finish(&guest);
	if (landed->reason[0])
		return;
	hlg_landing_window(landed, &hlg_samplings[event]);
	if (!landings->fault[0])
		hlg_landing_refutes(landed, &hlg_samplings[event], landings->fault);
}

/* The string programs, with the first event that guests can be sampled with. */
static void measure_programs(struct hlg_landings *landings,
			     const struct hlg_guests *guests, struct hlg_code *code,
			     uint64_t ns)
{
	char *reason = landings->programs_reason;
	struct hlg_sampler sampler;
	struct hlg_guest guest;
	size_t event = 0;

	while (event < HLG_SAMPLINGS && landings->events[event].reason[0])
		event++;
	if (event == HLG_SAMPLINGS) {
		strcpy(reason, "no event samples guests here");
		return;
	}
	if (begin(&guest, &sampler, guests, event, reason))
		sample_programs(landings, &guest, code, &sampler, ns);
	if (!reason[0])
		landings->programs_by = hlg_samplings[event].name;
	hlg_sampler_finish(&sampler);
	hlg_guest_finish(&guest);
}

void hlg_landing_measure(struct hlg_landings *landings, const struct hlg_guests *guests,
			 const char *no_kvm, uint64_t ns)
{
	struct hlg_code *code = NULL;
	struct hlg_err err;

	if (no_kvm)
		snprintf(landings->reason, sizeof(landings->reason), "%.255s", no_kvm);
	else if (hlg_code_open(&code, guests->image, &err) < 0)
		snprintf(landings->reason, sizeof(landings->reason),
			 "the guests' code cannot be decoded (build hlguest with Zydis)");
	if (!code)
		return;
	for (size_t i = 0; i < HLG_SAMPLINGS; i++)
		measure_event(landings, guests, code, i, ns);
	measure_programs(landings, guests, code, ns / 4);
	hlg_code_close(code);
}
