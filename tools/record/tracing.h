/* SPDX-License-Identifier: GPL-2.0-only */
/* What words for perf that name tracepoints need to know of this machine. */
#ifndef HLG_TOOLS_RECORD_TRACING_H
#define HLG_TOOLS_RECORD_TRACING_H

#include <stdbool.h>
#include <stddef.h>

#include "symtab/err.h"

/* Where tracefs is, of its own or as debugfs has it. */
struct hlg_record_tracing {
	const char *option; /* "--exits": the subject of errors; not copied */
	char path[4096];
	int error; /* errno of what is there and cannot be read; 0: none so far */
};

/*
 * Finds tracefs; nothing is mounted. root is "" but in tests: a folder that has another
 * sys in it. Fails, and says how to get it, where there is none, or none to be read.
 */
int hlg_record_tracing_find(struct hlg_record_tracing *tracing, const char *root,
			    const char *option, struct hlg_err *err);

/* Has it "kvm/kvm_exit", and may it be read? */
bool hlg_record_tracing_has(struct hlg_record_tracing *tracing, const char *event);

/* The error for no tracepoint found: that it cannot be read, if so; else none, which is
 * for the caller to tell, and 0. */
int hlg_record_tracing_denied(const struct hlg_record_tracing *tracing,
			      struct hlg_err *err);

/* Appends KVM_RUN's system call, if tracing has it; true if it has. Four words. */
bool hlg_record_tracing_kvm_run(struct hlg_record_tracing *tracing, const char **words,
				size_t *n);

/*
 * The sampling event with its frequency in its own words, cycles:G as cycles/freq=997/G:
 * -F would be for the tracepoints, too, and most of their hits be left out. Fails for an
 * event that perf would not take a frequency with.
 */
int hlg_record_tracing_sampling(char *word, size_t size, const char *event,
				const char *frequency, const char *option,
				struct hlg_err *err);

#endif
