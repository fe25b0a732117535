/* SPDX-License-Identifier: GPL-2.0-only */
/* perf's words for what --stacks=callgraph reads. */
#ifndef HLG_TOOLS_RECORD_STACKS_H
#define HLG_TOOLS_RECORD_STACKS_H

#include <stddef.h>

#include "symtab/err.h"

#define HLG_RECORD_STACKS_WORDS 8 /* at most */

/*
 * Appends to words[*n] the options that record a sampling event, frequency times a
 * second, with callchains, and each KVM_RUN with its own: the system call, or where that
 * is not traced kvm:kvm_entry. root is as for hlg_record_exits, and so it fails. Words
 * live until the next call.
 */
int hlg_record_stacks(const char **words, size_t *n, const char *event,
		      const char *frequency, const char *root, struct hlg_err *err);

#endif
