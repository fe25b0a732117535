/* SPDX-License-Identifier: GPL-2.0-only */
/* A live view from its beginning to its end. */
#ifndef HLG_TOOLS_TOP_SESSION_H
#define HLG_TOOLS_TOP_SESSION_H

#include "tools/cli/verb.h"
#include "tools/record/request.h"

#define HLG_TOP_WINDOW "10s" /* that recent is, unless asked for otherwise */
#define HLG_TOP_EVERY  "1s"

enum {
	HLG_TOP_ROWS = 20, /* of a table for scripts, unless asked for otherwise */
	HLG_TOP_MOST_SLICES = 3600, /* of a window */
	HLG_TOP_NEVER = 100         /* ms: between two looks, at least */
};

struct hlg_top_request {
	struct hlg_record_request record;
	struct hlg_verb_texts images;
	bool once, stdio, callers;
	int format;             /* 0: text, 1: JSON */
	uint64_t every, window; /* ns */
	uint64_t rows;          /* 0: all */
	const char *out;        /* a new file for the recording; or NULL */
};

/*
 * Everything is read by one thread: between two reads of perf's pipe it draws, looks at
 * keys, and has perf empty its buffers, so that what it shows is at most one refresh old.
 * Returns the exit status.
 */
int hlg_top_session(struct hlg_top_request *request);

#endif
