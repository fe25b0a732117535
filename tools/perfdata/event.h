/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a recording says about itself: its events, and the host it was made on.
 */
#ifndef HLG_TOOLS_PERFDATA_EVENT_H
#define HLG_TOOLS_PERFDATA_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/* One event of the recording. Lives as long as the reader and does not move. */
struct hlg_perfdata_event {
	char *name; /* what perf calls it; never NULL, not escaped */
	bool named; /* by the recording; else made up from type and config */
	uint32_t index;
	uint32_t leader; /* index of its group's leader; its own if it has no group */
	uint64_t n_ids;
	struct perf_event_attr attr; /* as recorded; 0 where the file's is older */
};

/* Strings are NULL and numbers 0 where the recording does not tell; not escaped. */
struct hlg_perfdata_host {
	char *perf_version;
	char *hostname;
	char *release; /* of the kernel */
	char *arch;    /* as uname -m */
	char *cpu;     /* the model's name */
	char *cpuid;   /* vendor, family, model, stepping */
	char *command; /* words joined by a blank */
	uint32_t cpus_online, cpus_available;
	uint64_t first_time, last_time; /* ns, of the samples */
	uint32_t zstd_level;            /* 0: not compressed, or not told */
	bool pipe, directory, compressed;
};

#endif
