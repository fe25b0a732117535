/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where does each guest of each recording lie? An ELF whose base is to be found is sought
 * among the samples of each sandbox, or thread, by itself, before they are added up:
 * where guests lie closer than their image is long, or run different ELFs, all samples
 * together fit no base, or the wrong one. Who lies where another's image does gets a lane
 * of his own (symtab/image/lane.h). A guest of too few addresses is taken for one of
 * those that were found, if all of it fits one of them: nothing runs in data. As long as
 * all are found, and nobody lies across another, nothing is moved, and the bases are
 * found from all samples as they are (base-search.h).
 *
 * Images whose bases are known before are in the first lane. Who runs one of these, by 99
 * % of his samples, is in that lane, too, and who lies across one in another. What others
 * have in such an image is outside if they get another lane or none.
 *
 * To keep samples by thread costs many times what reading does. A recording is therefore
 * searched as a whole first: where 99 % of its samples, and of those inside, fit bases
 * that do not overlap, nothing is to be told apart in it.
 *
 * Only of x86-64: on AArch64 the samples of one guest are too few to find it.
 */
#ifndef HLG_FILTER_TRUST_GUEST_BASES_H
#define HLG_FILTER_TRUST_GUEST_BASES_H

#include "filter/trust/runners.h"
#include "symtab/code/code.h"
#include "symtab/image/space.h"

enum {
	HLG_GUEST_BASES_LEAST = 12, /* distinct addresses that one base can be found of */
	HLG_GUEST_BASES_MOST = 256  /* guests of a recording that are sought */
};

/* An image at a base, in a lane. */
struct hlg_guest_base {
	size_t image;
	uint64_t base, samples;
	unsigned lane;
};

/* All zero before the first use; of all recordings, which are settled one by one. */
struct hlg_guest_bases {
	struct hlg_guest_base *at;
	size_t n;
	unsigned n_lanes;
	size_t untold;              /* guests without a base, or without a lane */
	struct hlg_note_list notes; /* who they are */
};

/* Used by one thread: code is decoded on the way. */
struct hlg_guest_bases_finder {
	const struct hlg_space *space;
	struct hlg_code **codes; /* of each image that is sought; else NULL */
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
bool hlg_guest_bases_wanted(const struct hlg_space *space);

/* Opens their code. False without memory; finish in any case. */
bool hlg_guest_bases_finder_begin(struct hlg_guest_bases_finder *finder,
				  const struct hlg_space *space);
void hlg_guest_bases_finder_finish(struct hlg_guest_bases_finder *finder);

/* Of the whole: does all of it fit? False without memory; finish *found in any case. */
bool hlg_guest_bases_find_whole(struct hlg_guest_bases_finder *finder,
				const struct hlg_profile *profile,
				struct hlg_guest_bases_found *found, bool *fits);

/* Of a profile that is kept apart. False without memory; finish *found in any case. */
bool hlg_guest_bases_find(struct hlg_guest_bases_finder *finder,
			  const struct hlg_profile *profile,
			  struct hlg_guest_bases_found *found);

/*
 * Gives each guest of a recording that was found a lane in which there is room for it.
 * Lanes depend on the order in which recordings are settled. One that was not found is
 * nobody's: its samples must not meet the image of whoever has a lane. False without
 * memory.
 */
bool hlg_guest_bases_settle(struct hlg_guest_bases *bases, const struct hlg_space *space,
			    const char *path, struct hlg_guest_bases_found *found);

/* Moves what a recording held into the lanes that it was given. False without memory. */
bool hlg_guest_bases_move(const struct hlg_guest_bases_found *found,
			  const struct hlg_runners_recording *recording,
			  unsigned n_lanes);

void hlg_guest_bases_found_finish(struct hlg_guest_bases_found *found);

/* Do all who were found lie in one lane, and were some not found? These may belong there,
 * too: what was counted of them can be moved by hlg_guest_bases_back. */
bool hlg_guest_bases_lie_together(const struct hlg_guest_bases *bases);

/* The address in lane 0 of one that is nobody's, or of any other in it (of type
 * hlg_profile_where_fn). */
uint64_t hlg_guest_bases_back(const void *ctx, uint64_t ip);

/* Adds warnings of those who were not found, and were not moved back. */
void hlg_guest_bases_tell(const struct hlg_guest_bases *bases,
			  struct hlg_note_list *notes);

/* After the last recording: places the images in all lanes, if there are several; or
 * where not all guests were found, as all samples together may fit no base then.
 * together: these were moved back. Fails as hlg_image_add_base does. */
int hlg_guest_bases_place(const struct hlg_guest_bases *bases, struct hlg_space *space,
			  bool together, struct hlg_err *err);

void hlg_guest_bases_finish(struct hlg_guest_bases *bases);

#endif
