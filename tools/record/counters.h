/* SPDX-License-Identifier: GPL-2.0-only */
/* Which hardware counters this machine has, as far as record has to know. */
#ifndef HLG_TOOLS_RECORD_COUNTERS_H
#define HLG_TOOLS_RECORD_COUNTERS_H

#include <stdbool.h>

#include "symtab/err.h"

/* Can a counter of cycles be opened that counts guests only? */
bool hlg_record_counters_of_guests(void);

/*
 * Fails if one of these events, in perf's words ("{instructions,cycles}:S"), is a generic
 * hardware counter and this machine has none at all; one of cycles only if `cycles`, as
 * perf samples by a clock in its place. What perf alone knows (raw events, pmu/event/)
 * and what may not be opened is left to perf.
 */
int hlg_record_counters_check(const char *events, bool cycles, struct hlg_err *err);

#endif
