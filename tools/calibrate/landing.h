/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Landing: where samples of guests lie whose time is known to be spent in one place.
 *
 * In a hot guest one instruction has all the time. A sample's distance is how many
 * instructions behind it the sample lies, going round the loop. The skid window of an
 * event is the least number of instructions that, for every hot guest, at least 95 % of
 * all samples are no further behind than.
 */
#ifndef HLG_TOOLS_CALIBRATE_LANDING_H
#define HLG_TOOLS_CALIBRATE_LANDING_H

#include "tools/calibrate/count.h"
#include "tools/calibrate/guest.h"
#include "tools/calibrate/sampler.h"

#define HLG_LANDING_GUESTS 6
#define HLG_LANDING_FAR    16 /* distances of so many instructions and more are one */
#define HLG_LANDING_SHARE  0.95
#define HLG_LANDING_ENOUGH 100 /* samples, to say anything of a guest */
#define HLG_WINDOW_UNKNOWN UINT64_MAX

struct hlg_land {
	uint64_t guest, host, lost; /* samples; the rest is of the guest's */
	uint64_t on, off;      /* on an instruction's boundary, in the middle of one */
	uint64_t right, wrong; /* in the true function, in another */
	uint64_t gap;          /* in none. right + wrong + gap = guest */
	uint64_t
		distance[HLG_LANDING_FAR + 1]; /* hot guests: from the true instruction */
	uint64_t string, loop; /* programs: on the string operation, on the loop behind */
};

struct hlg_landed {
	char reason[256]; /* empty: sampled */
	struct hlg_land guests[HLG_LANDING_GUESTS];
	uint64_t window; /* instructions, or HLG_WINDOW_UNKNOWN, and why says why */
	const char *why;
};

struct hlg_landings {
	char reason[256]; /* empty: guests ran, and their code could be decoded */
	char fault[256];  /* what is wrong with the guests' truth; empty: nothing */
	struct hlg_landed events[HLG_SAMPLINGS];      /* as in hlg_samplings */
	struct hlg_land programs[HLG_COUNT_PROGRAMS]; /* by the first event there is */
	const char *programs_by;                      /* its name; NULL: none */
	char programs_reason[256];                    /* why there is none; else empty */
};

/* "rep movsb", "branches" ...; hot: one instruction has the time. */
const char *hlg_landing_name(size_t guest);
bool hlg_landing_hot(size_t guest);

/*
 * Samples every guest with every event of this machine, for ns each. no_kvm: NULL, or why
 * no guest can run. What cannot be done is told there.
 */
void hlg_landing_measure(struct hlg_landings *landings, const struct hlg_guests *guests,
			 const char *no_kvm, uint64_t ns);

/*
 * Sets window and why of one event's samples. Not known: if a hot guest has fewer than
 * HLG_LANDING_ENOUGH, or lies too far behind; or if the event does not count time, so
 * that nothing is known of where its samples should be.
 */
void hlg_landing_window(struct hlg_landed *landed, const struct hlg_sampling *event);

/*
 * What an event's samples themselves say against the truth: in the middle of an
 * instruction, or not on a string operation that a timer must find there. False: nothing.
 */
bool hlg_landing_refutes(const struct hlg_landed *landed,
			 const struct hlg_sampling *event, char fault[static 256]);

#endif
