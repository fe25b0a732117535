/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where does each guest of one recording lie? Its bases, found from its own samples:
 * those of a sandbox, or thread (runners.h). It takes HLG_GUEST_BASES_LEAST distinct
 * addresses; a guest of fewer is taken for one of those that were found, if all of it
 * fits one of them: nothing runs in data; or else for another ELF at one of their bases,
 * or those of images that are placed.
 *
 * One of which bases are found that lie across each other ran several in turn: it has
 * none. Nor has a thread of which these are found together (guest-turns.h).
 *
 * Images whose bases are known before are placed: what a guest has in one of these is the
 * image's, and nothing is sought there; unless 1 % or more of its addresses there do not
 * fit. Then bases are sought across it, too, and taken if fewer samples are on no
 * boundary so. Who has 99 % of his samples in placed images is settled: he runs these.
 * Of whom no base is found, though he has samples in them that fit, what else he has is
 * nobody's (HLG_LANE_SHARED).
 *
 * To keep samples by thread costs many times what reading does. A recording is therefore
 * searched as a whole first: where 99 % of its samples, and of those inside, fit bases
 * that do not overlap, nothing is to be told apart in it.
 *
 * Only of x86-64: on AArch64 the samples of one guest are too few to find it.
 */
#ifndef HLG_FILTER_TRUST_GUEST_BASES_FIND_H
#define HLG_FILTER_TRUST_GUEST_BASES_FIND_H

#include "filter/trust/runners.h"
#include "symtab/code/base-find.h"
#include "symtab/image/space.h"

enum {
	HLG_GUEST_BASES_LEAST = 12 /* distinct addresses that one base can be found of */
};

/* An image at a base, in a lane. */
struct hlg_guest_base {
	size_t image;
	uint64_t base, samples;
	unsigned lane;
};

/* Used by one thread: code is decoded on the way. */
struct hlg_guest_bases_finder {
	const struct hlg_space *space;
	struct hlg_code **codes; /* of each image that can be decoded; else NULL */
	struct hlg_fit *fits;    /* of each image, while one guest is looked at */
};

/* What was found of a recording: bases of each guest, by units; or of all of it. */
struct hlg_guest_bases_found {
	bool whole;    /* all of it is in one lane */
	unsigned lane; /* this one, once settled */
	struct hlg_runners units;
	struct hlg_guest_base *at; /* lane: number of the unit that begins the guest; 0
				      of the whole */
	size_t n;
};

/* Has a space images whose base is to be found so? */
bool hlg_guest_bases_find_wanted(const struct hlg_space *space);

/* Opens their code, and that of those that are placed. False without memory; finish in
 * any case. */
bool hlg_guest_bases_find_begin(struct hlg_guest_bases_finder *finder,
				const struct hlg_space *space);
void hlg_guest_bases_find_end(struct hlg_guest_bases_finder *finder);

/* Of the whole: does all of it fit? False without memory; finish *found in any case. */
bool hlg_guest_bases_find_whole(struct hlg_guest_bases_finder *finder,
				const struct hlg_profile *profile,
				struct hlg_guest_bases_found *found, bool *fits);

/* Of a profile that is kept apart. False without memory; finish *found in any case. */
bool hlg_guest_bases_find(struct hlg_guest_bases_finder *finder,
			  const struct hlg_profile *profile,
			  struct hlg_guest_bases_found *found);

void hlg_guest_bases_find_finish(struct hlg_guest_bases_found *found);

/* Do they lie at the same addresses, and are not one? */
bool hlg_guest_bases_find_collide(const struct hlg_space *space,
				  const struct hlg_guest_base *a,
				  const struct hlg_guest_base *b);

/* Does a guest, of n bases, lie across this image, or across any, where these were placed
 * before? */
bool hlg_guest_bases_find_meets(const struct hlg_space *space, size_t image,
				const struct hlg_guest_base *guest, size_t n);
bool hlg_guest_bases_find_meets_any(const struct hlg_space *space,
				    const struct hlg_guest_base *guest, size_t n);

#endif
