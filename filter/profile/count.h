/* SPDX-License-Identifier: GPL-2.0-only */
/* Counts: of samples and what they stand for, and of what a recording holds. */
#ifndef HLG_FILTER_PROFILE_COUNT_H
#define HLG_FILTER_PROFILE_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "filter/options/options.h"

struct hlg_count {
	uint64_t samples;
	uint64_t period; /* their periods' sum, in the unit of their event */
};

static inline void hlg_count_add(struct hlg_count *to, struct hlg_count add)
{
	to->samples += add.samples;
	to->period += add.period;
}

static inline void hlg_count_sub(struct hlg_count *from, struct hlg_count sub)
{
	from->samples -= sub.samples;
	from->period -= sub.period;
}

/* What the count weighs: its samples, or its period. */
static inline uint64_t hlg_count_weigh(enum hlg_weight weight, struct hlg_count count)
{
	return weight == HLG_WEIGHT_SAMPLES ? count.samples : count.period;
}

/* What a recording holds beside its samples, whoever has read it; of one recording, or
 * the sum of several. */
struct hlg_recording_sums {
	uint64_t recordings; /* how many; of a saved profile those that it sums */
	uint64_t samples, guest, host, deselected;
	uint64_t traced; /* of host: hits of tracepoints, where a batch read it */
	/* What is lacking: tools/feed/lacks.h. */
	uint64_t lost;      /* LOST records' sum, or LOST_SAMPLES' if larger */
	uint64_t throttled; /* THROTTLE records */
	uint64_t skipped;   /* records of no known event, or malformed: not counted */
	uint64_t packed; /* of skipped: compressed records, in a build without libzstd */
	uint64_t unknown; /* records of types that the reader does not know */
	uint64_t late; /* recordings in which samples or records of tasks stood behind newer
			* ones, so that tasks may be called wrongly; where tasks are named */
	uint64_t
		unjoined; /* callchains whose user's part was deferred and is not there */
	uint64_t left;    /* bytes that could not be read */
	uint64_t damaged; /* recordings whose left bytes do not begin with a record; the
			   * others of them were cut off */
	uint64_t no_end;  /* recordings without their end, where no byte tells that */
	uint64_t undecoded; /* recordings of KVM's tracepoints without the formats of
			       these */
	/* The rest. */
	uint16_t machine; /* it was recorded on (e_machine); 0: unknown, or several's sum
			   */
	bool attached;    /* recordings of perf record -a, -p, -t: no command's own */
	uint64_t began;   /* ns since 1970, UTC; 0: not known. Of several the first */
	uint64_t took;    /* ns from the first sample to the last; of several the sum */
};

#endif
