/* SPDX-License-Identifier: GPL-2.0-only */
/* perf's words for tracepoints, which depend on what this machine traces. */
#ifndef HLG_TOOLS_RECORD_TRACING_H
#define HLG_TOOLS_RECORD_TRACING_H

#include <stddef.h>

#include "symtab/err.h"

#define HLG_RECORD_TRACING_WORDS 24 /* at most */

/*
 * For hlguest exits: appends to words[*n] the options that record a sampling event,
 * frequency times a second, and of KVM's tracepoints those that this machine has, each
 * time they are hit. root is "" but in tests: a folder that has another sys in it. Words
 * live until the next call. Fails, and says how to get it, without tracefs, KVM's
 * tracepoints or the right to read them; nothing is mounted. And for an event that perf
 * would not take a frequency with.
 */
int hlg_record_tracing_exits(const char **words, size_t *n, const char *event,
			     const char *frequency, const char *root,
			     struct hlg_err *err);

/*
 * For --stacks=callgraph: the same with callchains, and each KVM_RUN with its own: the
 * system call, or where that is not traced kvm:kvm_entry.
 */
int hlg_record_tracing_stacks(const char **words, size_t *n, const char *event,
			      const char *frequency, const char *root,
			      struct hlg_err *err);

#endif
