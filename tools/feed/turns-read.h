/* SPDX-License-Identifier: GPL-2.0-only */
/* What a recording has of who ran what: system calls on KVM, and KVM's own tracepoints.
 */
#ifndef HLG_TOOLS_FEED_TURNS_READ_H
#define HLG_TOOLS_FEED_TURNS_READ_H

#include "symtab/err.h"
#include "tools/feed/turns.h"

/*
 * Reads path, where it has a word of KVM_RUN; *turns is NULL where it has not, or may be
 * read but once. why then says so, "has no KVM_RUN". Without a word of KVM_RUN a file is
 * not read. each_run: see hlg_turns_make.
 */
int hlg_turns_read(struct hlg_turns **turns, const char *path, bool each_run,
		   const char **why, struct hlg_err *err);

#endif
