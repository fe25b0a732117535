/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whose samples a recording has: each sandbox that it tells of, else each thread. A
 * runner is one of these, or a stretch of a sandbox (tools/feed/turns.h). Who lies where
 * is judged of each by itself, and all its samples are then moved into one lane
 * (symtab/image/lane.h).
 */
#ifndef HLG_FILTER_TRUST_RUNNERS_H
#define HLG_FILTER_TRUST_RUNNERS_H

#include "filter/output/note-list.h"
#include "filter/profile/host.h"
#include "filter/stacks/stacks.h"
#include "filter/trust/addresses.h"
#include "symtab/image/space.h"

/* What the addresses of each series of a profile were moved by, before it was replaced;
 * all zero: by nothing. by is to be freed. */
struct hlg_runners_moved {
	uint64_t *by;
	uint32_t n;
};

struct hlg_runners;

/* What a recording held. Profile, host and stacks are replaced. */
struct hlg_runners_recording {
	const char *path;
	struct hlg_profile *profile; /* kept apart (hlg_profile_keep_apart) */
	/* NULL, or all guest samples, kept apart, where the profile has those that were
	 * selected: who is who does not depend on that. */
	const struct hlg_profile *all;
	struct hlg_host *host;
	struct hlg_stacks *stacks;       /* NULL: there are none */
	struct hlg_note_list *notes;     /* warnings are added here */
	struct hlg_runners_moved *moved; /* NULL, or gets what was moved */
	struct hlg_runners *units;       /* NULL, or gets who is in which lane */
	/* NULL, or the command that records it anew with its sandboxes, to be freed, or
	 * NULL; it is asked for what again_of is. */
	char *(*again)(const void *again_of);
	const void *again_of;
};

#define HLG_RUNNERS_AGAIN "hlguest record --sandboxes -- COMMAND"

enum {
	HLG_RUNNERS_SOUGHT = 256 /* guests of a recording of which bases are sought */
};

struct hlg_runner_sample {
	int32_t sandbox, tid;
	uint32_t stretch;
	uint64_t ip, samples;
};

/* Why it cannot be told which ELF a guest runs, or where. */
enum hlg_untold {
	HLG_TOLD, /* it can, or nobody asked */
	HLG_UNTOLD_FEW,
	HLG_UNTOLD_SEVERAL, /* its samples fit them alike */
	HLG_UNTOLD_NONE,
	HLG_UNTOLD_PARTLY, /* a thread, whose samples fit an ELF more than by chance */
	HLG_UNTOLD_TURNS,  /* a thread, which ran several in turn */
	HLG_N_UNTOLD
};

struct hlg_runner {
	int32_t sandbox, tid; /* -1: not known */
	size_t begin, end;    /* of its samples */
	unsigned lane;
	enum hlg_untold untold;
	bool settled; /* it is known to be in its lane before lanes are given */
	uint64_t samples;
};

struct hlg_runners {
	struct hlg_runner_sample *all; /* by unit */
	size_t n_all;
	struct hlg_runner *at; /* by sandbox, else thread, then stretch */
	size_t n;
};

/* The command that records it anew, or what such a command begins with; *own, to be
 * freed, is NULL then. */
const char *hlg_runners_again(const struct hlg_runners_recording *recording, char **own);

/* All in lane 0. False without memory; finish in any case. */
bool hlg_runners_collect(struct hlg_runners *units, const struct hlg_profile *profile);
void hlg_runners_finish(struct hlg_runners *units);

/* Leaves the samples that a profile, kept apart, has, which are some of theirs, and the
 * units of these, in their lanes. False without memory. */
bool hlg_runners_narrow(struct hlg_runners *units, const struct hlg_profile *profile);

/* The unit of a sandbox, or where that is -1 of a thread, and stretch. Of a stretch
 * without samples any unit of the guest, if all are in one lane; else NULL. */
const struct hlg_runner *hlg_runners_find(const struct hlg_runners *units,
					  int32_t sandbox, int32_t tid, uint32_t stretch);

/* n units of one guest, one at least and in their order, as one, of the first's lane. */
struct hlg_runner hlg_runners_sum(const struct hlg_runner *units, size_t n);

/* How many of the samples [begin, end) would be in no image of the space, in this lane.
 */
uint64_t hlg_runners_outside(const struct hlg_runner_sample *all, size_t begin,
			     size_t end, const struct hlg_space *space, unsigned lane);

/* The addresses of the units [begin, end), one at least, into *addrs, which is empty.
 * False without memory; finish in any case. */
bool hlg_runners_addresses(const struct hlg_runners *units, size_t begin, size_t end,
			   struct hlg_addresses *addrs);

/* Behind the last unit of the guest, a sandbox or thread, whose first is i. */
size_t hlg_runners_guest(const struct hlg_runners *units, size_t i);

/*
 * Moves what a recording held into the lanes of its units, below n_lanes, and keeps it
 * apart no longer. False without memory.
 */
bool hlg_runners_move(const struct hlg_runners *units,
		      const struct hlg_runners_recording *recording, unsigned n_lanes);

/* The same of a recording all of which is in one lane, apart or not. */
bool hlg_runners_move_all(const struct hlg_runners_recording *recording, unsigned lane,
			  unsigned n_lanes);

#endif
