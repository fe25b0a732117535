/* SPDX-License-Identifier: GPL-2.0-only */
/* What top is asked for. */
#ifndef HLG_TOOLS_TOP_REQUEST_H
#define HLG_TOOLS_TOP_REQUEST_H

#include "tools/cli/verb.h"
#include "tools/record/request.h"

#define HLG_TOP_WINDOW "10s" /* that recent is, unless asked for otherwise */
#define HLG_TOP_EVERY  "1s"

enum {
	HLG_TOP_ROWS = 20, /* of a table for scripts, unless asked for otherwise */
	HLG_TOP_MOST_SLICES = 3600 /* of a window */
};

struct hlg_top_request {
	struct hlg_record_request record;
	struct hlg_verb_texts images;
	bool once, stdio, callers;
	int force;              /* 0: no, 1: yes; as the filter's option */
	int format;             /* 0: text, 1: JSON */
	uint64_t every, window; /* ns */
	uint64_t rows;          /* 0: all */
	const char *out;        /* a new file for the recording; or NULL */
};

#endif
