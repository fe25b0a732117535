/* SPDX-License-Identifier: GPL-2.0-only */
/* perf's words for tracepoints, which depend on what this machine traces. */
#ifndef HLG_TOOLS_RECORD_TRACING_H
#define HLG_TOOLS_RECORD_TRACING_H

#include <stdbool.h>
#include <stddef.h>

#include "symtab/err.h"

#define HLG_RECORD_TRACING_WORDS 24 /* at most, of each of the two functions */

struct hlg_record_tracing {
	/*
	 * One of these at least, or several. exits, for hlguest exits: KVM's tracepoints,
	 * those that this machine has, each time they are hit. stacks, for
	 * --stacks=callgraph: callchains, and each KVM_RUN with its own: the system call,
	 * or where that is not traced kvm:kvm_entry. sandboxes, for --by=sandbox: the
	 * system calls KVM_RUN, KVM_CREATE_VCPU, KVM_SET_CPUID2 and
	 * KVM_SET_USER_MEMORY_REGION.
	 */
	bool exits, stacks, sandboxes;
	const char *event, *frequency; /* a sampling event, so many times a second */
	const char *root; /* "" but in tests: a folder that has another sys in it */
};

/*
 * Appends the options to words[*n]; they live until the next call. Fails, and says how to
 * get it, without tracefs, the tracepoints or the right to read them; nothing is mounted.
 * And for an event that perf would not take a frequency with.
 */
int hlg_record_tracing_words(const struct hlg_record_tracing *how, const char **words,
			     size_t *n, struct hlg_err *err);

/* May this user record what is wanted, beside the event? Fails where not, and says why.
 */
int hlg_record_tracing_check(const struct hlg_record_tracing *how, struct hlg_err *err);

/*
 * Appends, behind the sampling event, what tells where Hyperlight's guests lie: the
 * writes to its port Halt that can be an address, of which most runs have one. False, and
 * nothing is appended, where this user may not have it, or the kernel has not: a
 * recording is good without. root as above.
 */
bool hlg_record_tracing_halt(const char *root, const char **words, size_t *n);

#endif
