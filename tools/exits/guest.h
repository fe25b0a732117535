/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the guests of recordings lie, and whether the addresses that exits left from say
 * that the ELF is the right one.
 */
#ifndef HLG_TOOLS_EXITS_GUEST_H
#define HLG_TOOLS_EXITS_GUEST_H

#include "filter/report/address-check.h"
#include "filter/run.h"
#include "tools/exits/read.h"
#include "tools/inputs/inputs.h"

struct hlg_exits_guest {
	struct hlg_run *run;
	struct hlg_address_check check; /* judged by hlg_exits_guest_settle */
	struct hlg_builds *noted;       /* beside each recording: which builds ran, */
	size_t n_noted;                 /* until that is read */
	struct hlg_whose whose;         /* who lies where, as the samples say */
	bool folds;                     /* functions are counted from some address on, */
	bool fits;                      /* as the first few say */
	bool knows;                     /* samples were read, which show the bases */
	bool spare; /* bases are stated: samples tell of them if no exit does */
	/* The latest addresses, by hash. At first 0 stands for 0: true of any place. */
	struct {
		uint64_t ip, to;
	} known[4096];
	uint64_t n;       /* addresses that were looked up */
	uint64_t outside; /* the first that was in no image */
	bool any_outside;
};

/*
 * Before recordings are read: finds bases where nothing states them, for that reads the
 * recordings once; asks for what settling needs, of sums and counts. run outlives *guest,
 * which is all zero, must not move, and is to be finished in any case.
 */
int hlg_exits_guest_start(struct hlg_exits_guest *guest, struct hlg_run *run,
			  const struct hlg_inputs *in, struct hlg_exits_sums *sums,
			  struct hlg_exits_counts *counts, struct hlg_err *err);

/* Behind each: what this one of the recordings, which has the path and the sums, tells of
 * the builds that ran. Fails only without memory. */
int hlg_exits_guest_identify(struct hlg_exits_guest *guest, size_t recording,
			     const char *path, const struct hlg_exits_sums *sums,
			     struct hlg_err *err);

/* Behind them: settles the space, and judges the addresses. run's notes say what there is
 * to say, run->refused that functions may have wrong names. */
int hlg_exits_guest_settle(struct hlg_exits_guest *guest,
			   const struct hlg_exits_sums *sums, uint64_t n_samples,
			   struct hlg_err *err);

void hlg_exits_guest_finish(struct hlg_exits_guest *guest);

#endif
