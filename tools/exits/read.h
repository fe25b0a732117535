/* SPDX-License-Identifier: GPL-2.0-only */
/* Crossings out of a recording. */
#ifndef HLG_TOOLS_EXITS_READ_H
#define HLG_TOOLS_EXITS_READ_H

#include "filter/options/options.h"
#include "filter/profile/count.h"
#include "symtab/err.h"
#include "tools/cli/progress.h"
#include "tools/exits/sums.h"

struct hlg_exits_counts {
	struct hlg_recording_sums lacks; /* what the recording lacks; is set */
	bool no_rip, no_isa;             /* of kvm_exit, on the kernel of a recording */
	bool no_vcpu; /* of kvm_exit or kvm_entry: vCPUs go by thread */
	bool no_runs; /* KVM_RUN was not recorded: kvm_entry stands for it */
	/* In: where samples of guests go, for their base, as an event of its own; or
	 * NULL.
	 */
	struct hlg_profile *samples;
	uint32_t samples_event;
	uint64_t n_samples; /* that went there */
};

/*
 * Adds the pairs of a recording ("-" is standard input) to sums, of the threads, times
 * and sandboxes that options select, and what it held to counts. Fails when the recording
 * has none of these tracepoints, or they lack what is needed, or nothing tells sandboxes
 * that are asked for. progress may be NULL.
 */
int hlg_exits_read(const char *path, const struct hlg_options *options,
		   struct hlg_progress *progress, struct hlg_exits_sums *sums,
		   struct hlg_exits_counts *counts, struct hlg_err *err);

/* Fails, as hlg_exits_read does, where a recording, which can be read twice, has none of
 * these tracepoints, or they lack what is needed; of pipe mode it is read up to its first
 * sample. */
int hlg_exits_check(const char *path, struct hlg_err *err);

#endif
