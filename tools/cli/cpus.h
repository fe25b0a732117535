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

/* -j, of verbs that read with several threads: an entry's beginning (struct
 * hlg_verb_option, verb.h). */
#define HLG_CPUS_JOBS                                                                    \
	.name = "jobs", .letter = 'j', .value = "N",                                     \
	.help = "threads; 0: one for each CPU that may be used", .fallback = "0",        \
	.kind = HLG_VERB_NUMBER

#endif
