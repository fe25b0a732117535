/* SPDX-License-Identifier: GPL-2.0-only */
/* perf's words for what hlguest exits reads. */
#ifndef HLG_TOOLS_RECORD_EXITS_H
#define HLG_TOOLS_RECORD_EXITS_H

#include <stddef.h>

#include "../symtab/err.h"

#define HLG_RECORD_EXITS_WORDS 24 /* at most */

/*
 * Appends to words[*n] the options that record a sampling event, frequency times a
 * second, and of KVM's tracepoints those that this machine has, each time they are hit.
 * tracing is where tracefs is to be looked for, NULL for where it is mounted usually.
 * Words live as long as the program. Fails without tracefs, KVM's tracepoints or the
 * right to read them, and for an event that perf would not take a frequency with.
 */
int hlg_record_exits(const char **words, size_t *n, const char *event,
		     const char *frequency, const char *tracing, struct hlg_err *err);

#endif
