/* SPDX-License-Identifier: GPL-2.0-only */
/* Does perf know an event? */
#ifndef HLG_TOOLS_RECORD_EVENT_H
#define HLG_TOOLS_RECORD_EVENT_H

#include "symtab/err.h"

/*
 * Fails if perf does not know one of these events, in its words; asked is what the user
 * said, and option its letter, for the message. perf itself is asked (--dry-run), unless
 * they all are names that any perf has. Where it cannot be run, or ends for another
 * reason, it is left to perf to say so.
 */
int hlg_record_event_check(const char *events, char option, const char *asked,
			   struct hlg_err *err);

#endif
