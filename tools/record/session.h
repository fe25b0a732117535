/* SPDX-License-Identifier: GPL-2.0-only */
/* A recording from its beginning to its end. */
#ifndef HLG_TOOLS_RECORD_SESSION_H
#define HLG_TOOLS_RECORD_SESSION_H

#include <stdbool.h>

#include "symtab/err.h"
#include "tools/record/request.h"

/* The event to sample by: the one that was asked for; else cycles of guests where this
 * machine counts these, or a clock. */
const char *hlg_record_session_event(const struct hlg_record_request *args);

/* What perf would find out when it has begun a file: events, processes. */
int hlg_record_session_check(const struct hlg_record_request *args, const char *event,
			     struct hlg_err *err);

/* Adds the guests of the command, and a module that it runs, as far as they are found;
 * false: none is. */
bool hlg_record_session_guest(struct hlg_record_request *args);

/* Returns the exit status. The guests that are found are added to the request. */
int hlg_record_session(struct hlg_record_request *args);

/* Each run as if it were the only one; the first that fails, or is interrupted, ends it.
 * Returns the exit status. */
int hlg_record_session_runs(struct hlg_record_request *args);

#endif
