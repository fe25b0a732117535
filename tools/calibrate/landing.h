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
 * Are the guests as their truth says: the hot instruction where its symbol is, nothing
 * but instructions of one byte around it? If not, fault says what is wrong.
 */
bool hlg_landing_check(const struct hlg_guests *guests, char fault[static 256]);

/*
 * Samples every guest with every event of this machine, for ns each. no_kvm: NULL, or why
 * no guest can run. What cannot be done is told there. Fails only without memory.
 */
int hlg_landing_measure(struct hlg_landings *landings, const struct hlg_guests *guests,
			const char *no_kvm, uint64_t ns, struct hlg_err *err);

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

/* landing-place.c: where a sample of one guest is. */
struct hlg_landing_truth {
	const struct hlg_guests *guests;
	struct hlg_code *code;
	const char *function; /* the true one ... */
	const char *caller;   /* ... and who calls it, or NULL */
	uint64_t *addrs;      /* the instructions of function, in order */
	size_t n, hot;        /* hot: which of them has the time; n: none */
	bool program;         /* of strings: then hot is the string operation */
	struct hlg_land *land;
};

/* hot: an address, or 0. False without memory; finish it in any case. */
bool hlg_landing_place_know(struct hlg_landing_truth *truth, uint64_t hot);
void hlg_landing_place_forget(struct hlg_landing_truth *truth);

/* For hlg_sampler_drain: counts a sample; ctx is the truth. */
void hlg_landing_place(void *ctx, uint64_t ip, bool guest);

#endif
