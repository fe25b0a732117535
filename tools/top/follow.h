/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A perf record that writes into a pipe, and what it is told meanwhile. perf empties its
 * buffers when they are half full, which takes seconds where little is sampled; any word
 * on its --control makes it look at once, "ping" does nothing else (perf-record(1)).
 */
#ifndef HLG_TOOLS_TOP_FOLLOW_H
#define HLG_TOOLS_TOP_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "symtab/err.h"
#include "tools/record/request.h"

enum {
	HLG_TOP_SAID = 16384 /* bytes that are kept of what was said last */
};

/* Descriptors are -1 where there is none. */
struct hlg_top_follow {
	pid_t pid; /* 0: not started, or its end has been seen */
	int data;  /* the recording comes from here; read it to its end */
	int said;  /* its standard error, and the command's, if that was captured */
	int to[2], from[2];
	bool pinged;  /* and not answered yet */
	bool answers; /* has it ever? */
	bool killed;  /* it did not end by itself */
	char control[48];
	char *text; /* what was said last */
	size_t n_text;
};

/*
 * Starts it, as request and event (with modifiers) say; request->control and out are set
 * here. capture: what it and the command say is for hlg_top_follow_hear, and they have no
 * standard input. Finish it in any case.
 */
int hlg_top_follow_begin(struct hlg_top_follow *follow,
			 struct hlg_record_request *request, const char *event,
			 bool capture, struct hlg_err *err);

/* Has it empty its buffers, unless it is gone, or still has to answer the last time. */
void hlg_top_follow_ping(struct hlg_top_follow *follow);

/* Takes its answers, and what was said; true if anything was said. Neither waits. */
bool hlg_top_follow_hear(struct hlg_top_follow *follow);

/* The last line that was said, not escaped; or NULL. To be freed. */
char *hlg_top_follow_last(const struct hlg_top_follow *follow);

/* Ends it, and with it the command: it still writes what it has. */
void hlg_top_follow_stop(const struct hlg_top_follow *follow);

/* Waits for its end, a while, and then makes it end. Its exit status; or 128 and the
 * number of the signal it died by. */
int hlg_top_follow_end(struct hlg_top_follow *follow);

void hlg_top_follow_finish(struct hlg_top_follow *follow);

#endif
