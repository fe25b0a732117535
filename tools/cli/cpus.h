/* SPDX-License-Identifier: GPL-2.0-only */
/* How many threads are worth it? */
#ifndef HLG_TOOLS_CLI_CPUS_H
#define HLG_TOOLS_CLI_CPUS_H

enum {
	HLG_CPUS_MOST = 256 /* threads */
};

/* The CPUs that this process may use (sched_getaffinity(2)): in a job of a cluster's, or
 * under taskset, fewer than there are. 1 to HLG_CPUS_MOST. */
unsigned hlg_cpus_count(void);

#endif
