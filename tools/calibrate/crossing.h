/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What crossings cost: between the rings of a guest, from a guest to its host and back,
 * and natively. Each row is a figure, or a reason why there is none.
 */
#ifndef HLG_TOOLS_CALIBRATE_CROSSING_H
#define HLG_TOOLS_CALIBRATE_CROSSING_H

#include "tools/calibrate/guest.h"
#include "tools/calibrate/native.h"

enum hlg_crossing_row {
	HLG_CROSS_PAIR_USER, /* the measurement itself, in ring 3 ... */
	HLG_CROSS_PAIR_KERNEL,
	HLG_CROSS_FAULT_IN, /* a page fault, into ring 0 ... */
	HLG_CROSS_FAULT_OUT,
	HLG_CROSS_INT_IN,
	HLG_CROSS_INT_OUT,
	HLG_CROSS_TRAP_IN,
	HLG_CROSS_TRAP_OUT,
	HLG_CROSS_UD_IN,
	HLG_CROSS_UD_OUT,
	HLG_CROSS_SYSCALL_IN,
	HLG_CROSS_SYSCALL_OUT,
	HLG_CROSS_CPUID, /* round trips, guest to host and back */
	HLG_CROSS_OUT,
	HLG_CROSS_HYPERCALL,
	HLG_CROSS_HLT,
	HLG_CROSS_RUN,       /* host to guest and back */
	HLG_CROSS_PAIR_HOST, /* natively, in the order of enum hlg_native_row */
	HLG_CROSS_GETPPID,
	HLG_CROSS_HOST_FAULT,
	HLG_CROSS_ROWS
};

enum hlg_crossing_state {
	HLG_CROSS_SKIPPED, /* and reason says why */
	HLG_CROSS_MEASURED,
	HLG_CROSS_EMULATED, /* measured, but software runs ring 0: not comparable */
};

struct hlg_crossing {
	enum hlg_crossing_state state;
	char reason[256];
	struct hlg_ticks ticks; /* TSC ticks */
	uint64_t unordered;     /* crossings whose readings are not in their order: a
				   truth that does not hold; the row is skipped */
};

struct hlg_crossings {
	struct hlg_crossing rows[HLG_CROSS_ROWS];
	struct hlg_batches batches[HLG_NATIVE_ROWS]; /* of the native rows */
	struct hlg_clock clock;
	double hz;       /* of the TSC; 0: not known */
	bool emulated;   /* the pair takes longer in ring 0 by far */
	uint64_t served; /* page faults of GUESTS_CROSSINGS */
};

/* What rows are called. */
struct hlg_crossing_name {
	const char *word; /* for JSON: "fault_u2k" */
	const char *text; /* "page fault, u2k" */
	bool ring0;       /* it has a part in it */
};

extern const struct hlg_crossing_name hlg_crossing_names[HLG_CROSS_ROWS];

/* Figures of other machines, as published. */
struct hlg_crossing_reference {
	const char *what, *cpu, *source;
	const char *word; /* the row it is to be held against, or NULL */
	unsigned low, high;
	const char *unit; /* "cycles", "ns" */
};

#define HLG_CROSSING_REFERENCES 11
extern const struct hlg_crossing_reference hlg_crossing_references[];

/*
 * Measures all rows. no_kvm: NULL, or why no guest can run; wait_ns: how long to go on
 * with native rows, once guests are done, on a machine that is not quiet. Fails only
 * without memory; what cannot be measured is a row with a reason. The deadline of the
 * calling thread is that of each guest. Until it returns the thread stays on one CPU.
 */
int hlg_crossing_measure(struct hlg_crossings *crossings, const struct hlg_guests *guests,
			 const char *no_kvm, uint64_t wait_ns, struct hlg_err *err);

/* Decides whether ring 0 is emulated, from the two pairs, and marks the rows. */
void hlg_crossing_judge(struct hlg_crossings *crossings);

/*
 * How noisy this machine was: of getppid and the page fault the larger drift (ticks.h),
 * as a share; raw: of all batches, else of those their rows are of.
 */
double hlg_crossing_noise(const struct hlg_crossings *crossings, bool raw);

/* Share of the native batches that were quiet; 0: none was measured. */
double hlg_crossing_quiet(const struct hlg_crossings *crossings);

/* Is it so much that it has to be measured again? More than a tenth is, and too few quiet
 * batches are. */
bool hlg_crossing_is_noisy(const struct hlg_crossings *crossings);

/* What to say of it: "" when idle; "not idle" where quiet batches made up for it; "not
 * idle: measure again" if it is noisy. */
const char *hlg_crossing_verdict(const struct hlg_crossings *crossings);

#endif
