/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The profile: every sample counted once, guest samples by (series, exact ip).
 *
 * This is the hot path and it resolves nothing: names, gaps and the base itself are
 * derived from the cells when the feed has ended. Memory grows with distinct
 * (series, ip), never with samples. Without memory a sample is counted as unrecorded
 * and nothing else happens; nothing here prints or fails.
 */
#ifndef HLG_FILTER_PROFILE_PROFILE_H
#define HLG_FILTER_PROFILE_PROFILE_H

#include <stddef.h>

#include "filter/profile/builds.h"
#include "filter/profile/checked.h"
#include "filter/profile/count.h"
#include "filter/profile/event-names.h"
#include "filter/profile/event.h"
#include "filter/profile/few.h"
#include "filter/profile/index.h"
#include "filter/profile/moments.h"
#include "filter/profile/origins.h"
#include "filter/profile/rans.h"
#include "filter/profile/sample.h"
#include "filter/profile/sandboxes.h"
#include "filter/profile/select.h"
#include "filter/profile/slices.h"
#include "filter/profile/starts.h"
#include "filter/profile/strings.h"
#include "filter/profile/transits.h"
#include "symtab/hash.h"

__extension__ typedef unsigned __int128 hlg_u128;

/* What a sample was sampled by. Two events of one name and precision are one. */
struct hlg_event {
	const char *name;   /* the profile's */
	uint8_t precise_ip; /* as the file says */
	bool shared;        /* there is another event of this name */
	uint32_t next;      /* event of this name; HLG_NO_SERIES: none */
	enum hlg_event_kind kind;
	bool member; /* of a group whose leader samples for all: counted, not sampled by
		      */
	bool selected;
	bool plain;      /* nothing but the event decides about a sample: see series */
	bool plain_host; /* plain, and samples of the host get no rows */
	uint32_t series; /* of all its guest samples if plain, once there is one */
	struct hlg_count host; /* of the host, by it, that were not deselected */
};

/* What a report is split by: the event, and pid, tid, cpu, sandbox where by= asks, else
 * -1, as for what is not known. */
struct hlg_series {
	uint32_t event;
	int32_t pid, tid, cpu, sandbox;
	uint32_t stretch; /* where they are kept apart; else 0 */
	hlg_u128 squares; /* sum of period^2 over its guest samples, for the intervals */
};

/* Guest samples of one series at one ip; samples == 0 marks a free cell. */
struct hlg_cell {
	uint64_t ip;
	struct hlg_count count;
	uint32_t series;
	/* Of all of them (-1: not recorded), or HLG_MANY_TIDS; where their sandbox is
	 * known that one's: hlg_profile_tid_of(). */
	int32_t tid;
};

#define HLG_MANY_TIDS (-2)

/* What stands for a sandbox, by its number, instead of a thread; and its number, below 1
 * if it is a thread, or none. */
static inline int32_t hlg_profile_tid_of(uint32_t sandbox)
{
	return HLG_MANY_TIDS - (int32_t)sandbox;
}

static inline int32_t hlg_profile_sandbox_of(int32_t tid)
{
	return HLG_MANY_TIDS - tid;
}

enum hlg_id {
	HLG_ID_PID,
	HLG_ID_TID,
	HLG_ID_CPU,
	HLG_ID_SANDBOX,
	HLG_N_IDS
};

struct hlg_profile {
	struct hlg_cell *cells; /* open addressing, 2^bits of them, at most half used */
	size_t n_cells;         /* used */
	unsigned shift;         /* 64 - bits */
	struct hlg_series *series;
	uint32_t n_series;
	struct hlg_index series_index;
	struct hlg_event *events;
	uint32_t n_events;
	struct hlg_strings event_names; /* texts of events, */
	uint32_t *named; /* and by their number less one the last event of each */
	struct hlg_count seen, deselected, host; /* guest: the sum over the cells */
	struct hlg_count states[HLG_N_STATES]; /* of host and guest, if options say so */
	uint64_t untold; /* of deselected: what selects was not recorded of them */
	struct hlg_few passed[HLG_N_IDS]; /* those of guest samples that the options' pid,
					   * tid, cpu or sandbox, each if it is given,
					   * left out */
	uint64_t unrecorded; /* samples lost for want of memory; in none of the above */
	bool overflow;       /* the periods' sum passed 2^64 */
	uint64_t injected; /* host samples that are guests': hlguest inject wrote them */
	bool of_addresses; /* each sample stands for an address, which counts once */
	const struct hlg_options *options; /* by, and selection; outlives this */
	bool restricts;
	/* Of the recording that is read. Who knows its span sets it before the first
	 * sample; else that is taken for its start. */
	struct hlg_select_window window;
	/* Of all seen: who takes a short cut makes it reach to its samples. */
	struct hlg_sample_span span;
	/* Series are by sandbox and stretch, or where these are not known by thread,
	 * whatever by= says,
	 * until it is known which of the images of several lanes each of them runs. */
	bool apart;
	/* What the addresses of each series move by when others merge this; NULL: by
	 * nothing. */
	uint64_t *moves;
	struct hlg_series last; /* key of the series used last */
	uint32_t last_series;
	struct hlg_transits transits; /* where the feed reads such tracepoints */
	struct hlg_starts starts;     /* the same */
	/* Of what was not deselected, if options say so; the second of guests. */
	struct hlg_slices by_thread, by_address;
	struct hlg_moments moments; /* of guest samples that were not deselected */
	struct hlg_builds builds; /* of the recording that is read; it is told by them, */
	struct hlg_rans ran;      /* and of all recordings (filter/trust/identity.h) */
	struct hlg_checked checked;     /* what saved profiles among them say */
	struct hlg_origins origins;     /* which recordings they are */
	struct hlg_sandboxes sandboxes; /* where the feed knows of any, and their guest
					 * samples that were not deselected */
	bool unlisted; /* some of the transits are of a recording that knows of none */
};

#define HLG_NO_SERIES UINT32_MAX

/* Returns false without memory. The options are borrowed, and nothing else. */
bool hlg_profile_init(struct hlg_profile *profile, const struct hlg_options *options);

/* Whoever has the profile finishes it, once: one that was copied as a struct, which may
 * be done while nobody adds to it, is its new owner's. What is all zero has nothing. */
void hlg_profile_finish(struct hlg_profile *profile);

/* The number of an event that is called so (event-names.h), new or known. HLG_NO_SERIES
 * without memory. */
uint32_t hlg_profile_event(struct hlg_profile *profile, const char *name,
			   unsigned precise_ip);

/* Calls events that were added by their names in the recording, which names has all of,
 * what they are called. False without memory. */
bool hlg_profile_call_events(struct hlg_profile *profile,
			     const struct hlg_event_names *names);

/* Says of which kind an event is, and if it is a group's member. Of several that are said
 * of one name and precision, one is kept, in whatever order they are said. */
void hlg_profile_describe(struct hlg_profile *profile, uint32_t event,
			  enum hlg_event_kind kind, bool member);

/*
 * The recording's sandboxes, counts zero; said before its first sample, so that each of
 * its samples is seen. False without memory.
 */
bool hlg_profile_tell_sandboxes(struct hlg_profile *profile,
				const struct hlg_sandboxes *sandboxes);

/* Closes the short cuts (hlg_profile_hit, struct hlg_hits) for this event: each sample
 * goes through hlg_profile_add. */
void hlg_profile_no_short_cut(struct hlg_profile *profile, uint32_t event);

/* What became of a sample: it was not asked for, or was counted as one of host or guest.
 */
enum hlg_disposition {
	HLG_DESELECTED,
	HLG_HOST,
	HLG_GUEST
};

/* How many cells there is room for. */
static inline size_t hlg_profile_room(const struct hlg_profile *profile)
{
	return (size_t)1 << (64 - profile->shift);
}

/* The slot in which a key is looked for first. */
static inline size_t hlg_profile_cell_slot(uint64_t ip, uint32_t series, unsigned shift)
{
	return (ip ^ (uint64_t)series << 48) * hlg_hash_factor >> shift;
}

static inline bool hlg_profile_cell_is(const struct hlg_cell *cell, uint64_t ip,
				       uint32_t series)
{
	return cell->ip == ip && cell->series == series && cell->count.samples;
}

/* The cell of a key that was met before, or NULL. */
static inline struct hlg_cell *hlg_profile_cell_known(struct hlg_cell *cells,
						      unsigned shift, uint64_t ip,
						      uint32_t series)
{
	size_t i = hlg_profile_cell_slot(ip, series, shift);

	while (!hlg_profile_cell_is(&cells[i], ip, series)) {
		if (!cells[i].count.samples)
			return NULL;
		i = (i + 1) & UINT64_MAX >> shift;
	}
	return &cells[i];
}

static inline size_t hlg_profile_slot(const struct hlg_profile *profile, uint64_t ip,
				      uint32_t series)
{
	return hlg_profile_cell_slot(ip, series, profile->shift);
}

/* Keeps in mind of which thread the samples of a cell are: this is one's. */
static inline void hlg_profile_cell_see(struct hlg_cell *cell, int32_t tid)
{
	if (cell->tid != tid)
		cell->tid = HLG_MANY_TIDS;
}

/* Counts one sample. sample->event must come from hlg_profile_event. */
enum hlg_disposition hlg_profile_add(struct hlg_profile *profile,
				     const struct hlg_sample *sample);

/*
 * Counts what was counted elsewhere: as many samples like this one as count says. Their
 * periods are count's, not the sample's; squares is the sum of period^2, which may also
 * come with another call for that series.
 */
enum hlg_disposition hlg_profile_add_many(struct hlg_profile *profile,
					  const struct hlg_sample *sample,
					  struct hlg_count count, hlg_u128 squares);

/*
 * The short cut for what a feed brings by the tens of millions: samples of one plain
 * event, of the host if that gets no rows, or of guests at addresses met before. What
 * they add up to stays here, which is in registers, and goes into the profile at the end;
 * in between nobody else may touch the profile.
 */
struct hlg_hits {
	struct hlg_cell *cells;
	struct hlg_moments *moments; /* the profile's, and the hits' in between */
	uint64_t below; /* the hash of times that are kept (moments.h); 0: no times */
	unsigned shift;
	uint32_t series; /* HLG_NO_SERIES, and so no cell's, if the short cut is closed */
	bool takes_host;
	struct hlg_count host;
	uint64_t period; /* of all samples the profile has seen: tells overflow */
	hlg_u128 squares;
};

/* timed: hlg_profile_hits_add() is told times. */
static inline void hlg_profile_hits_begin(struct hlg_hits *hits,
					  struct hlg_profile *profile, uint32_t event,
					  bool timed)
{
	*hits = (struct hlg_hits){
		.cells = profile->cells,
		.moments = &profile->moments,
		.below = timed ? hlg_moments_below(&profile->moments) : 0,
		.shift = profile->shift,
		.series = profile->events[event].series,
		.takes_host = profile->events[event].plain_host,
		.period = profile->seen.period,
	};
}

/* How many cells there are. */
static inline size_t hlg_profile_hits_room(const struct hlg_hits *hits)
{
	return (size_t)1 << (64 - hits->shift);
}

/* The cell in which an address is looked for first. */
static inline struct hlg_cell *hlg_profile_hits_cell(const struct hlg_hits *hits,
						     uint64_t ip)
{
	return &hits->cells[hlg_profile_cell_slot(ip, hits->series, hits->shift)];
}

/*
 * Counts a sample exactly as hlg_profile_add would and returns true, or does nothing and
 * returns false: then the hits must end, and hlg_profile_add be asked.
 */
static inline __attribute__((always_inline)) bool hlg_profile_hits_add(
	struct hlg_hits *hits, unsigned cpumode, uint64_t ip, int32_t tid,
	uint64_t period, uint64_t time)
{
	struct hlg_cell *cell;
	uint64_t sum;

	if (__builtin_add_overflow(hits->period, period, &sum))
		return false;
	if (hlg_sample_is_guest(cpumode)) {
		cell = hlg_profile_cell_known(hits->cells, hits->shift, ip, hits->series);
		if (!cell)
			return false;
		hlg_profile_cell_see(cell, tid);
		cell->count.samples++;
		cell->count.period += period;
		hits->squares += (hlg_u128)period * period;
		if (hlg_moments_hash(time) < hits->below) {
			hlg_moments_keep(hits->moments, time, ip, hits->series);
			hits->below = hlg_moments_below(hits->moments);
		}
	} else {
		if (!hits->takes_host || tid >= HLG_SAMPLE_INJECTED)
			return false;
		hits->host.samples++;
		hits->host.period += period;
	}
	hits->period = sum;
	return true;
}

/* Puts the hits, which began for this event, into the profile. samples: how many were
 * added, the host's among them. */
static inline void hlg_profile_hits_end(const struct hlg_hits *hits,
					struct hlg_profile *profile, uint32_t event,
					uint64_t samples)
{
	if (hits->series != HLG_NO_SERIES)
		profile->series[hits->series].squares += hits->squares;
	hlg_count_add(&profile->host, hits->host);
	hlg_count_add(&profile->events[event].host, hits->host);
	profile->seen.samples += samples;
	profile->seen.period = hits->period;
}

/*
 * The short cut for a single sample, without what only pays for many: counts it exactly
 * as hlg_profile_add would and returns true, or does nothing and returns false.
 */
static inline bool hlg_profile_hit(struct hlg_profile *profile, uint32_t event_index,
				   unsigned cpumode, uint64_t ip, int32_t tid,
				   uint64_t period, uint64_t time)
{
	struct hlg_event *event = &profile->events[event_index];
	struct hlg_cell *cell;
	uint64_t sum;

	if (!hlg_sample_is_guest(cpumode)) {
		if (!event->plain_host || tid >= HLG_SAMPLE_INJECTED ||
		    __builtin_add_overflow(profile->seen.period, period, &sum))
			return false;
		profile->seen.samples++;
		profile->seen.period = sum;
		profile->host.samples++;
		profile->host.period += period;
		event->host.samples++;
		event->host.period += period;
		return true;
	}
	if (event->series == HLG_NO_SERIES)
		return false;
	cell = hlg_profile_cell_known(profile->cells, profile->shift, ip, event->series);
	if (!cell || __builtin_add_overflow(profile->seen.period, period, &sum))
		return false;
	profile->seen.samples++;
	profile->seen.period = sum;
	hlg_profile_cell_see(cell, tid);
	cell->count.samples++;
	cell->count.period += period;
	profile->series[event->series].squares += (hlg_u128)period * period;
	hlg_moments_add(&profile->moments, time, ip, event->series);
	return true;
}

/* Of the host's samples those that tracepoints made: they tell when something happened,
 * and no time. */
struct hlg_count hlg_profile_traced(const struct hlg_profile *profile);

/* And the others, which with the guest's are what was sampled: shares are of both. */
struct hlg_count hlg_profile_host(const struct hlg_profile *profile);

/* The series of a sample as by= has it; HLG_NO_SERIES without memory. */
uint32_t hlg_profile_series(struct hlg_profile *profile, const struct hlg_sample *sample);

/*
 * Adds what from counted; both have one set of options, and from's may be apart where
 * to's are not. What does not fit in memory is counted as unrecorded.
 */
void hlg_profile_merge(struct hlg_profile *to, const struct hlg_profile *from);

/* Of that, only which recordings these are, and what they tell of the builds that ran. */
void hlg_profile_merge_told(struct hlg_profile *to, const struct hlg_profile *from);

/* Keeps series apart, from before the first sample on; see apart. */
void hlg_profile_keep_apart(struct hlg_profile *profile);

/* What the addresses of a series move by when it is merged. */
static inline uint64_t hlg_profile_move(const struct hlg_profile *from, uint32_t series)
{
	return from->moves && series != HLG_NO_SERIES ? from->moves[series] : 0;
}

/* Where what was counted at an address is to lie. */
typedef uint64_t hlg_profile_where_fn(const void *ctx, uint64_t ip);

/*
 * Moves all that was counted at addresses of guests: cells, moments, slices (which are
 * sorted then), transits. Cells and transits that come to lie at one address are one.
 * False without memory; the profile is good for nothing then.
 */
bool hlg_profile_relocate(struct hlg_profile *profile, hlg_profile_where_fn *where,
			  const void *ctx);

/* A series of from, as profile has it or has it from now on; HLG_NO_SERIES without
 * memory. */
uint32_t hlg_profile_map(struct hlg_profile *profile, const struct hlg_profile *from,
			 uint32_t series);

/* Compares two series of the profile for a stable order: name, precision, pid, tid, cpu,
 * sandbox. */
int hlg_profile_compare_series(const struct hlg_profile *profile, uint32_t a, uint32_t b);

#endif
