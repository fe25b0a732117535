/* SPDX-License-Identifier: GPL-2.0-only */
/* What a comparison says of itself, the same in every format. */
#ifndef HLG_TOOLS_DIFF_WORDS_H
#define HLG_TOOLS_DIFF_WORDS_H

#include "tools/diff/diff.h"

/* Makes matched, shares, test and the notes. False without memory. */
bool hlg_diff_tell_words(struct hlg_diff *diff);

/* Adds a note; false without memory. */
__attribute__((format(printf, 2, 3))) bool hlg_diff_note(struct hlg_diff *diff,
							 const char *fmt, ...);

#endif
