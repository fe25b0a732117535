/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf's side of stacks=callgraph: callchains as the filter gets them, their frames named
 * by perf. Besides hlguest.c the only file that knows perf's dlfilter interface.
 *
 * perf names an address as code of the mode its sample was taken in (resolve_address,
 * tools/perf/util/dlfilter.c). So in a chain of the kernel, the frames of user space get
 * the names of the functions that were met in chains of user space of that process.
 */
#ifndef HLG_FILTER_DLFILTER_CALLCHAIN_H
#define HLG_FILTER_DLFILTER_CALLCHAIN_H

#include <perf/perf_dlfilter.h>

#include "filter/profile/profile.h"
#include "filter/profile/strings.h"
#include "filter/stacks/stacks.h"

struct hlg_callchain {
	struct hlg_strings names;
	struct hlg_callchain_process *processes;
	uint32_t n;
	struct hlg_index index; /* of processes */
};

void hlg_callchain_finish(struct hlg_callchain *chain);

/*
 * Takes a sample, with its disposition. comm is called only if the name is needed.
 * Returns false if the sample is one of the host that gets no row: it tells of KVM_RUN.
 */
bool hlg_callchain_take(struct hlg_callchain *chain, struct hlg_stacks *stacks,
			struct hlg_profile *profile, const struct hlg_sample *s,
			enum hlg_disposition disposition,
			const struct perf_dlfilter_sample *sample, void *ctx,
			const char *(*comm)(void *ctx));

#endif
