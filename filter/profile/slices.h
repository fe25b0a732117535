/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When samples were taken: how many of something, by slice of time, of each recording for
 * itself. A profile has two of these: of each thread what ran, and of guests where;
 * stacks have one. Only what shows time asks for them (options->slices): each sample is
 * then looked up once more for each.
 *
 * A slice is 20 ms of perf's clock, and twice that, and so on, until what was seen spans
 * at most HLG_SLICES_MOST of them and has no more than HLG_SLICES_ENTRIES entries, but
 * HLG_SLICES_LEAST slices at least, and one for each recording. So memory is bounded by
 * what is distinct in these. Slice n begins at n times its length of its recording's
 * clock.
 */
#ifndef HLG_FILTER_PROFILE_SLICES_H
#define HLG_FILTER_PROFILE_SLICES_H

#include "filter/profile/count.h"
#include "filter/profile/index.h"
#include "filter/profile/sample.h"

enum {
	HLG_SLICES_NS = 20000000,
	HLG_SLICES_MOST = 4096,
	HLG_SLICES_LEAST = 4, /* not fewer for want of room */
	HLG_SLICES_FEW = 64,  /* fewer tell little */
	HLG_SLICES_ENTRIES = 1 << 18,
	HLG_SLICES_RECENT = 12, /* bits */
};

struct hlg_slices_entry {
	union {
		struct {
			uint64_t recording : 24; /* by its number */
			uint64_t slice : 40;
		};
		uint64_t where; /* both: parts that were written one by one are read
				 * late */
	};
	uint64_t ip;     /* of guests as in the profile's cells; of the host 0 */
	uint32_t series; /* of guests the profile's; by thread HLG_SLICES_STATE + state */
	int32_t tid;     /* -1: not recorded */
	struct hlg_count count;
};

/* What is by thread has one of these numbers, which are above all of series: what ran
 * (enum hlg_state); hits of kvm_exit, and of kvm_userspace_exit, which there are without
 * the former on some kernels (pvm); and events that were lost. */
#define HLG_SLICES_STATE      UINT32_C(0xfffffff0)
#define HLG_SLICES_EXITS      (HLG_SLICES_STATE + 8)
#define HLG_SLICES_LOST       (HLG_SLICES_STATE + 9)
#define HLG_SLICES_USER_EXITS (HLG_SLICES_STATE + 10)

/* From the first slice of a recording that has any to the last. */
struct hlg_slices_span {
	uint32_t recording;
	uint64_t first, last;
	uint64_t began; /* ns: when the recording did; 0: not said */
};

/* All zero before the first use. */
struct hlg_slices {
	unsigned doubled;              /* a slice is HLG_SLICES_NS << doubled long */
	struct hlg_slices_span *spans; /* sorted: by recording */
	uint32_t n_spans;
	uint32_t span;  /* that was added to last */
	uint64_t total; /* of the spans' slices */
	struct hlg_slices_entry *entries;
	uint32_t n;
	/* Some that were counted last, 1 << HLG_SLICES_RECENT; NULL before the first. */
	uint32_t *recent;
	/* The slice of recording 0 that was added to last: its times, and where it is. */
	struct {
		uint64_t begin, length; /* length 0: none */
		uint64_t where;
	} now;
	/* Those of the newest slice: samples come in the order of time, as a rule. */
	struct {
		uint64_t where;    /* the slice: recording and number */
		uint32_t first;    /* no entry before this one is of it */
		uint32_t n, room;  /* room: 0, or a power of two */
		uint32_t *numbers; /* + 1, by hash; free if of one before first */
	} newest;
	struct hlg_index index; /* of the first n_indexed: for others, when these come */
	uint32_t n_indexed;
	uint64_t untimed; /* samples without a time */
	unsigned halved; /* the times are of one in 2^halved samples: of saved profiles */
	bool lost;       /* there was no memory: what is here is not whole */
};

/* Where an entry that was counted lately would be: samples come in the order of time, so
 * that most are of one of these. */
static inline uint32_t *hlg_slices_recent(struct hlg_slices *slices, uint64_t ip,
					  uint32_t series, int32_t tid)
{
	uint64_t key = ip ^ (uint64_t)(uint32_t)tid << 32 ^ series;

	return &slices->recent[key * hlg_hash_factor >> (64 - HLG_SLICES_RECENT)];
}

/* As hlg_slices_add, of any sample. */
void hlg_slices_add_any(struct hlg_slices *slices, uint64_t time, uint64_t ip,
			uint32_t series, int32_t tid, struct hlg_count count);

/* Counts samples of one time of a recording, which is 0 until hlg_slices_number; time may
 * be HLG_NO_TIME. The others are as in an entry. */
static inline void hlg_slices_add(struct hlg_slices *slices, uint64_t time, uint64_t ip,
				  uint32_t series, int32_t tid, struct hlg_count count)
{
	struct hlg_slices_entry *entry;
	uint32_t number;

	if (time - slices->now.begin < slices->now.length) {
		number = *hlg_slices_recent(slices, ip, series, tid);
		entry = number < slices->n ? &slices->entries[number] : NULL;
		if (entry && entry->where == slices->now.where && entry->ip == ip &&
		    entry->series == series && entry->tid == tid) {
			hlg_count_add(&entry->count, count);
			return;
		}
	}
	hlg_slices_add_any(slices, time, ip, series, tid, count);
}

/*
 * Adds what from counted; series (by from's numbers) are to's, HLG_NO_SERIES where it has
 * none; moves (NULL: by nothing) are what addresses move by.
 */
void hlg_slices_merge(struct hlg_slices *to, const struct hlg_slices *from,
		      const uint32_t *series, const uint64_t *moves);

/* Gives the one recording whose samples were added its number, and says when it began (ns
 * of its clock). Others can merge it then, nothing can be added. */
void hlg_slices_number(struct hlg_slices *slices, uint32_t recording, uint64_t began);

/* Makes slices as long as 20 ms doubled so often. */
void hlg_slices_lengthen(struct hlg_slices *slices, unsigned doubled);

/* Sorts by recording, slice, then address, series and thread. */
void hlg_slices_sort(struct hlg_slices *slices);

/* ns. */
static inline uint64_t hlg_slices_length(const struct hlg_slices *slices)
{
	return (uint64_t)HLG_SLICES_NS << slices->doubled;
}

void hlg_slices_finish(struct hlg_slices *slices);

#endif
