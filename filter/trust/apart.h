/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which image does each guest run, where several lie at the same addresses? Of one
 * recording, for each sandbox that it tells of, else for each thread: the images of the
 * lane (symtab/image/lane.h) that all its samples fit, those in functions on instruction
 * boundaries and none outside or in data (verdict.h), where no other lane's do. That
 * takes HLG_APART_LEAST samples of which it can be told if they fit: none in a perf map,
 * or behind data in code. The stretches of a sandbox (tools/feed/turns.h) are judged
 * together, and only where they do not fit one lane each by itself. An image of which it
 * is stated who runs it (guest.elf@BASE:tid=17) is run by them and by nobody else; where
 * that is said of threads, these count and no sandboxes. Of whom it cannot be told, the
 * samples lie outside of all images, but for those in images of all lanes where all of
 * them fit some lane (HLG_LANE_SHARED); and a warning says whose. All samples of the
 * recording tell it, also if some are selected, where it can be read twice.
 */
#ifndef HLG_FILTER_TRUST_APART_H
#define HLG_FILTER_TRUST_APART_H

#include "filter/trust/runners.h"
#include "filter/trust/verdict.h"
#include "symtab/code/code.h"
#include "symtab/image/space.h"

/*
 * A thread of which no sandbox is known takes turns, running guests of several lanes one
 * after the other, where nearly all its samples fit one lane or another, and of those
 * that do not fit the best so many addresses fit another: by chance an address does in a
 * third of the cases, and so many in 0.4 %. On AArch64 nothing tells that.
 */
enum {
	HLG_APART_TURNS = 5
};

/* What to do where a guest that ran in turn may not be named; the command follows. */
#define HLG_APART_ANEW "name the ELF of each, and record anew: "

/* Of two builds that are very alike 10 samples told which in all of 1,000 draws, 5 in
 * 99.5 %. */
enum {
	HLG_APART_LEAST = 10
};

/* Used by one thread: code is decoded on the way. */
struct hlg_apart {
	const struct hlg_space *space;
	const struct hlg_options *options; /* may state who runs an image */
	struct hlg_code **codes;           /* of each image; NULL: cannot be decoded */
	/* Out: samples of a guest that fits no lane refuse the base that the file of an
	 * image states (base-search.h), and fit it elsewhere. */
	bool refused;
};

/* Opens the images of a space of several lanes that outlives *apart. False without
 * memory; finish in any case. */
bool hlg_apart_begin(struct hlg_apart *apart, const struct hlg_space *space,
		     const struct hlg_options *options);
void hlg_apart_finish(struct hlg_apart *apart);

/* Has an ELF a share of the samples, of which some are tested? Those of others are on
 * instruction starts by chance only. */
bool hlg_apart_has_share(const struct hlg_tested *tested);

/* Of a recording of which nothing else can be told: this thread ran several of the images
 * in turn. */
int hlg_apart_fail_turns(const struct hlg_space *space,
			 const struct hlg_runners_recording *recording, int32_t tid,
			 struct hlg_err *err);

/* Moves what a recording held into the lanes it belongs to. Fails without memory, if
 * an image cannot be read, or if it can be told of nobody. */
int hlg_apart_settle(struct hlg_apart *apart,
		     const struct hlg_runners_recording *recording, struct hlg_err *err);

#endif
