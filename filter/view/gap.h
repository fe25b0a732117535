/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Gap samples told apart: which fell into filler, which into code without a label. The
 * view asks before the gap policy moves or drops them, so that each policy has the same
 * sums.
 */
#ifndef HLG_FILTER_VIEW_GAP_H
#define HLG_FILTER_VIEW_GAP_H

#include "filter/profile/profile.h"
#include "symtab/code/padding.h"
#include "symtab/image/space.h"

/* A cell whose ip lies in a gap. */
struct hlg_gap_cell {
	struct hlg_place gap; /* where it really is */
	struct hlg_count count;
	size_t tag;  /* the caller's */
	bool filler; /* set by hlg_gap_sort_out */
};

struct hlg_gap_cells {
	struct hlg_gap_cell *cell;
	size_t n;
};

/* Adds a cell that lies in a gap. False without memory. */
bool hlg_gap_add(struct hlg_gap_cells *cells, const struct hlg_place *gap,
		 struct hlg_count count, size_t tag);

/*
 * Decides filler for all cells, reading each gap's bytes once; the cells change their
 * order. A gap whose bytes cannot be read is all code. Returns false without memory.
 */
bool hlg_gap_sort_out(struct hlg_gap_cells *cells);

/* Where the filler of a gap is; none if its bytes cannot be read. False without memory.
 */
bool hlg_gap_padding(const struct hlg_place *gap, struct hlg_padding *pad);

void hlg_gap_finish(struct hlg_gap_cells *cells);

#endif
