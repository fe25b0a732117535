/* SPDX-License-Identifier: GPL-2.0-only */
/* The live view in words: lines that the screen and the tables for scripts share. */
#ifndef HLG_TOOLS_TOP_TEXT_H
#define HLG_TOOLS_TOP_TEXT_H

#include <stdio.h>

#include "tools/top/rows.h"

/* What is shown at one moment. */
struct hlg_top_shown {
	const struct hlg_top_judged *judged; /* NULL: no guest sample has come yet */
	const struct hlg_top_rows *rows;     /* of judged; NULL without it */
	struct hlg_top_sums sums;            /* of all since the start, */
	uint64_t took;                       /* ns since then, */
	bool zeroed;                         /* or both since z */
	uint64_t window;                     /* ns that recent is, when it is full */
	const char *event;                   /* that is sampled by; NULL: not known yet */
	const struct hlg_profile *profile; /* that has this and others; NULL: no other */
	const char *waits; /* why nothing is judged yet; NULL: there is no sample */
	bool exits;        /* are recorded */
	struct hlg_screen screen; /* columns, ascii */
};

/* Is there no room for all of the next line? Then words are left out. */
bool hlg_top_text_is_narrow(const struct hlg_top_shown *shown);

/* "0:12  cpu-clock  11964 guest samples (997/s)  host 5 %  lost 0", without an end. */
void hlg_top_text_live(FILE *f, const struct hlg_top_shown *shown);

/* The guest and the check, as report says them, with its warnings: lines. */
void hlg_top_text_head(FILE *f, const struct hlg_top_shown *shown);

/* The headings of the rows, and a row; without an end. Of recent shares, which the
 * screen paints, the first HLG_TOP_TEXT_SHARE cells are. */
enum {
	HLG_TOP_TEXT_SHARE = 9
};
void hlg_top_text_headings(FILE *f, const struct hlg_top_shown *shown);
void hlg_top_text_row(FILE *f, const struct hlg_top_shown *shown,
		      const struct hlg_top_row *row);

/* All of it for a script, with n rows at most (0: all): lines. */
void hlg_top_text_table(FILE *f, const struct hlg_top_shown *shown, uint64_t n);

/* The same as one line of JSON; fails where this build has none, and without memory. */
int hlg_top_text_json(FILE *f, const struct hlg_top_shown *shown, struct hlg_err *err);

#endif
