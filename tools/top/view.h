/* SPDX-License-Identifier: GPL-2.0-only */
/* What is shown of a recording that goes on, on a screen or in tables, and what keys make
 * of it. Nothing here reads, or waits. */
#ifndef HLG_TOOLS_TOP_VIEW_H
#define HLG_TOOLS_TOP_VIEW_H

#include "tools/top/guests.h"
#include "tools/top/keys.h"
#include "tools/top/panes.h"
#include "tools/top/request.h"
#include "tools/top/rows.h"

#define HLG_TOP_VIEW_NAME "perf's recording" /* what it is called in messages */

struct hlg_top_view {
	/* Set before it begins; what these point to outlives it. */
	const struct hlg_top_request *request;
	struct hlg_top_guests *guests;
	const struct hlg_batch_given *given; /* what was read so far */
	/* Set as they become true, or false. */
	bool screen; /* there is one, which was begun */
	bool ended;  /* all has been read */
	struct hlg_top_window window;
	struct hlg_top_judged *judged; /* NULL: none so far */
	uint64_t judged_at;
	size_t judged_images;  /* how many there were the last time that it was tried */
	uint64_t misjudged_at; /* the first time in a row that it failed; 0: it did not */
	uint64_t misjudge_cost;   /* ns of CPU time, of the last such time */
	struct hlg_err misjudged; /* why, the last such time */
	struct hlg_top_rows rows;
	struct hlg_top_sums sums; /* as they were when the display was paused */
	uint64_t took;            /* the same */
	struct hlg_top_keys keys;
	struct hlg_top_panes pane;
	char message[512];
	uint64_t message_until;
	bool heard;  /* the message is of hlg_top_view_hear */
	bool full;   /* the message of hlg_top_view_tell_full was told */
	bool again;  /* all of the screen is to be drawn */
	bool failed; /* it cannot go on: err, if there is a message, says why */
	struct hlg_err err;
};

/* ns of CLOCK_MONOTONIC, which all times here are of. */
uint64_t hlg_top_view_now(void);

/* False without memory. Finish it in any case. */
bool hlg_top_view_begin(struct hlg_top_view *view, uint64_t now);
void hlg_top_view_finish(struct hlg_top_view *view);

/* A slice of time has passed: all is counted, judged if it is time, and laid out anew. */
void hlg_top_view_refresh(struct hlg_top_view *view, uint64_t now);

/* On the screen; without one it does nothing. */
void hlg_top_view_draw(struct hlg_top_view *view);

/* A table, or a line of JSON, to standard output. */
void hlg_top_view_print(struct hlg_top_view *view);

/* For some seconds in the last line of the screen; without one on standard error. */
__attribute__((format(printf, 2, 3))) void hlg_top_view_tell(struct hlg_top_view *view,
							     const char *fmt, ...);

/* The same, once, where the request has more guests than there is room for. */
void hlg_top_view_tell_full(struct hlg_top_view *view);

/* The same of what perf, or the command, says; but what was told by the above stays. */
void hlg_top_view_hear(struct hlg_top_view *view, const char *line);

/* Does what a key says, but for HLG_TOP_SAVE and HLG_TOP_QUIT, which it returns. */
enum hlg_top_action hlg_top_view_press(struct hlg_top_view *view, int key);

#endif
