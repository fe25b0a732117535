/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The native rows: what the same machine takes without a guest.
 *
 * A machine that does something else beside makes them larger, most of all if that runs
 * on the other half of the core: everything takes a third longer then, for milliseconds
 * or minutes. So they are read in short batches, one of each row after the other, spread
 * over all the time that crossings are measured, and between two batches the core is
 * probed (below); the core's clock, which changes less often, twice in a visit. A batch
 * is set aside if one of the probes beside it was not as fast as the fastest of the run,
 * if the thread lost its CPU meanwhile, or if the hypervisor took that away. A row is of
 * the batches that are left, the quiet ones.
 */
#ifndef HLG_TOOLS_CALIBRATE_NATIVE_H
#define HLG_TOOLS_CALIBRATE_NATIVE_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

#include "symtab/err.h"
#include "tools/calibrate/ticks.h"

enum hlg_native_row {
	HLG_NATIVE_PAIR,
	HLG_NATIVE_GETPPID,
	HLG_NATIVE_FAULT,
	HLG_NATIVE_ROWS
};

enum hlg_native_why {
	HLG_NATIVE_QUIET,
	HLG_NATIVE_SHARED,   /* the core was not this thread's alone */
	HLG_NATIVE_SWITCHED, /* another thread ran in between, or it moved */
	HLG_NATIVE_STOLEN,   /* the hypervisor ran something else (/proc/stat) */
	HLG_NATIVE_WHYS
};

/*
 * Has this thread its core for itself? Two readings of work whose core cycles are known.
 *
 * Adds that each wait for the one before take a cycle each, whoever shares the core: the
 * time of such a chain is the core's clock. Adds that wait for nothing take what adders
 * there are: they take up to twice as long while a sibling thread (SMT) has the core's
 * other half. Neither needs a counter, or to be told what runs beside: in a virtual
 * machine the sibling may be somebody else's.
 */
#define HLG_NATIVE_CHAIN 4000 /* dependent adds: as many core cycles */
/* Adds that wait for nothing: long enough to meet a sibling that waits for memory now and
 * then. */
#define HLG_NATIVE_WIDE 32000

#define HLG_NATIVE_TURNS  20  /* readings of a batch, at most */
#define HLG_NATIVE_ENOUGH 300 /* quiet batches: then no more are waited for */
/* With fewer quiet batches, or less than this part of all, the row is of all batches: of
 * few, too many only seem quiet. */
#define HLG_NATIVE_FEW   20
#define HLG_NATIVE_SHARE 10
#define HLG_NATIVE_MOST  8000
#define HLG_NATIVE_PAGE  4096
#define HLG_NATIVE_PAGES 16 /* to fault in */

/* Batches of a row, in the order of time; batch i has the readings from i * turns on. */
struct hlg_native_log {
	size_t turns;
	uint64_t readings[HLG_NATIVE_MOST * HLG_NATIVE_TURNS];
	struct hlg_native_batch {
		uint64_t wide;  /* ticks of the slower probe beside it */
		uint64_t clock; /* ticks of the chain of its visit */
		enum hlg_native_why why;
	} batches[HLG_NATIVE_MOST];
};

/* Memory of its own, pages and all: 5 MB. */
struct hlg_native {
	struct hlg_native_log logs[HLG_NATIVE_ROWS];
	size_t n;                                          /* batches of each row */
	uint64_t room[HLG_NATIVE_MOST * HLG_NATIVE_TURNS]; /* for those of a row */
	_Alignas(HLG_NATIVE_PAGE) volatile char pages[HLG_NATIVE_PAGES * HLG_NATIVE_PAGE];
	bool pinned; /* allowed is to be given back */
	cpu_set_t allowed;
	uint64_t began_ns, began_ticks; /* the TSC's rate is measured from here on */
};

/* What became of a row's batches. */
struct hlg_batches {
	uint64_t n;                     /* 0: not measured */
	uint64_t whys[HLG_NATIVE_WHYS]; /* their sum is n */
	uint64_t least, most;           /* medians of all batches: ticks, raw */
	uint64_t quiet_least, quiet_most;
	double raw;       /* as drift of hlg_ticks, but of all batches */
	bool undisturbed; /* the row is of quiet batches only; else of all */
};

/* The core's clock, of all visits of a run. */
struct hlg_clock {
	double ticks;     /* of the TSC in a core cycle: the median; 0: not measured */
	double low, high; /* the 5th and 95th percentile of ticks */
	double width;     /* independent adds in a cycle, at best: 4 or so alone */
};

/*
 * Pins the thread to the CPU it is on, if that is allowed. *native is the caller's, also
 * after a failure (which is want of memory): finish it, which also unpins.
 */
int hlg_native_open(struct hlg_native **native, struct hlg_err *err);
void hlg_native_finish(struct hlg_native *native);

/* Reads some batches of each row, half a millisecond; none when there is no more room. */
void hlg_native_visit(struct hlg_native *native);

/* Visits, with pauses, until each row has enough quiet batches, for ns at most. */
void hlg_native_top_up(struct hlg_native *native, uint64_t ns);

/* Decides for each batch that was neither switched nor stolen whether it was shared. */
void hlg_native_judge(struct hlg_native *native);

/* Sums a row up, after it was judged: ticks of its quiet batches, or of all if these are
 * few. */
void hlg_native_sum(struct hlg_native *native, enum hlg_native_row row,
		    struct hlg_ticks *ticks, struct hlg_batches *batches);

void hlg_native_clock(const struct hlg_native *native, struct hlg_clock *clock);

/* Ticks of the TSC in a second, from hlg_native_open to now. */
double hlg_native_rate(const struct hlg_native *native);

#endif
