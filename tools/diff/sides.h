/* SPDX-License-Identifier: GPL-2.0-only */
/* What text says around the tables of a comparison: of both sides, and how they were
 * compared. In lines that are fitted to the diff's screen; a page shows them, too. */
#ifndef HLG_TOOLS_DIFF_SIDES_H
#define HLG_TOOLS_DIFF_SIDES_H

#include "tools/diff/diff.h"

/* In front: what is wrong with a side; and that, and what the total's difference means. */
void hlg_diff_sides_warnings(FILE *f, const struct hlg_diff *diff);
void hlg_diff_sides_head(FILE *f, const struct hlg_diff *diff);

/* Behind: a line for each side, what was selected, notes. */
void hlg_diff_sides_tail(FILE *f, const struct hlg_diff *diff);

/* With verbose=: recordings, images and checks, the test, and details. */
void hlg_diff_sides_details(FILE *f, const struct hlg_diff *diff);

#endif
