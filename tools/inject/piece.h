/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the new processes map: for each VM, each image at each base that its samples are
 * at, cut into pieces that are the ELF itself and pieces that are its companion, so that
 * no two overlap. Samples decide which bytes need a companion (unit.h): what nobody
 * sampled stays the ELF's.
 */
#ifndef HLG_INJECT_PIECE_H
#define HLG_INJECT_PIECE_H

#include "../../filter/report.h"
#include "unit.h"

struct hlg_piece {
	int32_t pid;         /* the VMM's */
	uint32_t image;      /* in the space */
	uint64_t bias;       /* of the base */
	uint64_t start, end; /* own addresses */
	bool companion;
};

struct hlg_pieces {
	struct hlg_piece *piece; /* by pid, image, base, address */
	size_t n, room;
};

/*
 * Of a report on all samples, its series split by pid. units: of each image of the
 * space. False without memory; finish in any case.
 */
bool hlg_pieces_build(struct hlg_pieces *pieces, const struct hlg_report *report,
		      const struct hlg_units *units);
void hlg_pieces_finish(struct hlg_pieces *pieces);

#endif
