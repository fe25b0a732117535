/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who lies across whom? An ELF whose base is to be found is sought among the samples of
 * each guest by itself (guest-bases-find.h), before they are added up: where guests lie
 * closer than their image is long, or run different ELFs, all samples together fit no
 * base, or the wrong one. Who lies where another's image does gets a lane of his own
 * (symtab/image/lane.h). As long as all are found, and nobody lies across another,
 * nothing is moved, and the bases are found from all samples as they are (base-search.h);
 * unless only some of them were selected, which may be too few.
 *
 * Images whose bases are known before are in the first lane, and in each other in which
 * nobody lies across them (hlg_space_share).
 */
#ifndef HLG_FILTER_TRUST_GUEST_BASES_H
#define HLG_FILTER_TRUST_GUEST_BASES_H

#include "filter/trust/guest-bases-find.h"

/* All zero before the first use; of all recordings, which are settled one by one. */
struct hlg_guest_bases {
	struct hlg_guest_base *at;
	size_t n;
	unsigned n_lanes;
	bool has_shared; /* some are in HLG_LANE_SHARED */
	bool selected;   /* in: samples are some of those that bases are found from */
	size_t untold;   /* guests without a base, or without a lane; */
	size_t told;     /* of these, with samples outside: notes, as of a crowd */
	bool turns; /* some of these ran several in turn: they are left where they are */
	struct hlg_note_list notes; /* who they are */
};

/*
 * Gives each guest of a recording that was found a lane in which there is room for it.
 * Lanes depend on the order in which recordings are settled. One that was not found is
 * nobody's: its samples must not meet the image of whoever has a lane. selected: the
 * samples of the recording that are shown, kept apart, are some of all; found then has
 * their units alone. False without memory.
 */
bool hlg_guest_bases_settle(struct hlg_guest_bases *bases, const struct hlg_space *space,
			    const struct hlg_runners_recording *recording, bool selected,
			    struct hlg_guest_bases_found *found);

/* Fails of a recording of which nobody was found, as they ran in turn. */
int hlg_guest_bases_check(const struct hlg_guest_bases_found *found,
			  const struct hlg_space *space,
			  const struct hlg_runners_recording *recording,
			  struct hlg_err *err);

/* Moves what a recording held into the lanes that it was given. False without memory. */
bool hlg_guest_bases_move(const struct hlg_guest_bases_found *found,
			  const struct hlg_runners_recording *recording,
			  unsigned n_lanes);

/* Do all who were found lie in one lane, and were some not found? These may belong there,
 * too: what was counted of them can be moved by hlg_guest_bases_back. */
bool hlg_guest_bases_lie_together(const struct hlg_guest_bases *bases);

/* The address in lane 0 of one that is nobody's, or of whom nobody was found, or of any
 * other in it (of type hlg_profile_where_fn). */
uint64_t hlg_guest_bases_back(const void *ctx, uint64_t ip);

/* Adds warnings of those who were not found, and were not moved back. */
void hlg_guest_bases_tell(const struct hlg_guest_bases *bases,
			  struct hlg_note_list *notes);

/* After the last recording, if samples are selected: leaves of each image the bases that
 * have any of them, which were moved, unless that are none. False without memory. */
bool hlg_guest_bases_narrow(struct hlg_guest_bases *bases, const struct hlg_space *space,
			    const struct hlg_profile *profile);

/* After the last recording: places the images in all lanes, if there are several; or
 * where not all guests were found, or samples are selected, as all samples together may
 * fit no base then.
 * together: these were moved back. Fails as hlg_image_add_base does. */
int hlg_guest_bases_place(const struct hlg_guest_bases *bases, struct hlg_space *space,
			  bool together, struct hlg_err *err);

void hlg_guest_bases_finish(struct hlg_guest_bases *bases);

#endif
