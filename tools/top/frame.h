/* SPDX-License-Identifier: GPL-2.0-only */
/* What stands on the screen, line by line, whoever puts it there (screen.h). */
#ifndef HLG_TOOLS_TOP_FRAME_H
#define HLG_TOOLS_TOP_FRAME_H

#include "tools/top/keys.h"
#include "tools/top/text.h"

enum hlg_top_look {
	HLG_TOP_PLAIN,
	HLG_TOP_TITLE,   /* the first line, and headings: in reverse */
	HLG_TOP_SHARE,   /* a row: its first cells in the colour of its share */
	HLG_TOP_CURSOR,  /* the row at the cursor */
	HLG_TOP_WARNING, /* what must be read */
	HLG_TOP_KEYS     /* the last line */
};

struct hlg_top_line {
	char *text; /* escaped; not wider than the screen is */
	enum hlg_top_look look;
	double share; /* of SHARE, and CURSOR; else 0 */
};

/* All zero before. */
struct hlg_top_frame {
	struct hlg_top_line *lines;
	size_t n;
	bool lost; /* a line, for want of memory */
};

/* Lines of a text to be looked at: help, a listing. */
struct hlg_top_pane {
	const char *title;
	char *const *lines;
	size_t n;
};

/*
 * As many lines as the screen of shown has, at least one; keys are fitted to what there
 * is. message: instead of the keys, or NULL. pane: with HLG_TOP_TEXT.
 */
void hlg_top_frame_build(struct hlg_top_frame *frame, const struct hlg_top_shown *shown,
			 struct hlg_top_keys *keys, const struct hlg_top_pane *pane,
			 const char *message);
void hlg_top_frame_finish(struct hlg_top_frame *frame);

#endif
