/* SPDX-License-Identifier: GPL-2.0-only */
/* The sides of a verb that compares: what the recordings of each held, from its words. */
#ifndef HLG_TOOLS_INPUTS_SIDES_H
#define HLG_TOOLS_INPUTS_SIDES_H

#include "tools/inputs/inputs.h"

struct hlg_side {
	/* In: all else zero. It must not move after its start. */
	const struct hlg_inputs *in; /* not owned */
	bool each;                   /* profiles is wanted, too */
	/* Out. */
	struct hlg_run run;
	struct hlg_batch batch;
	struct hlg_profile *profiles; /* of each recording by itself */
	struct hlg_stacks *stacks;    /* and with children= */
	uint64_t *recordings; /* how many each sums, if it is a saved profile; else 1 */
};

/*
 * Opens the images; without any, what was saved with the profiles does. The caller
 * finishes the side in any case.
 */
int hlg_sides_start(struct hlg_side *side, struct hlg_err *err);

/* Reads the recordings, as hlg_inputs_read. */
int hlg_sides_read(struct hlg_side *side, int *status, struct hlg_err *err);

/* Has a recording or a saved profile stacks? What can be read but once is not asked, and
 * what cannot be read has none: a failure is the system's. */
int hlg_sides_have_chains(const struct hlg_inputs *in, bool *found, struct hlg_err *err);

/* The same, where the words do not say what stacks are wanted. */
int hlg_sides_want_whole(const struct hlg_inputs *in, bool *whole, struct hlg_err *err);

/* What then is to be added to the words. */
#define HLG_SIDES_WHOLE "--stacks=callgraph"

void hlg_sides_finish(struct hlg_side *side);

#endif
