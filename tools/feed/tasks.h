/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who runs and what it has mapped, from COMM, FORK, EXIT, MMAP and MMAP2 records
 * (linux/perf_event.h, enum perf_event_type) in the order of their times. What comes out
 * is what perf makes of the same records, so that a host sample gets the process and the
 * mapping that perf script prints; the rules, and where perf 6.1 has them:
 *
 * - A thread is found by its tid; threads of a process share its mappings. A new process
 *   has its parent's name and mappings, also across execve(2): new ones replace them bit
 *   by bit (machine__process_fork_event, util/machine.c; thread__fork, util/thread.c).
 * - A thread that nothing named is called ":TID"; 0 is swapper.
 * - A mapping's name is the record's; executable memory without a file is perf's
 *   "/tmp/perf-PID.map" (map__new, util/map.c).
 * - The kernel is what its own mapping covers, "[kernel.kallsyms]"; a module is called
 *   "[module]" (machine__process_kernel_mmap_event, util/machine.c; kmod_path__parse,
 *   util/dso.c).
 *
 * - A new mapping takes its range from those before it (maps__fixup_overlappings,
 *   util/map.c); munmap(2) leaves no record, so nothing ever goes by itself.
 *
 * Otherwise than in perf 6.1, the mappings of a process are forgotten when its last
 * thread has exited, if times are recorded: memory grows with the threads of a recording
 * and with what is mapped at one time, not with all mappings there ever were. And only
 * records say whose a thread is: one that no record told of is, at each sample, of the
 * process that the sample names. perf takes what the first sample names, so that what it
 * shows of one sample depends on which others were selected.
 */
#ifndef HLG_TOOLS_FEED_TASKS_H
#define HLG_TOOLS_FEED_TASKS_H

#include "filter/profile/strings.h"
#include "filter/stacks/address-map.h"
#include "tools/perfdata/record.h"

#define HLG_TASKS_KERNEL "[kernel.kallsyms]"

/* Mappings of all processes together; guards memory: about 80 bytes each. */
#define HLG_TASKS_MAPPINGS_MAX ((size_t)1 << 24)

struct hlg_tasks_process;

struct hlg_thread {
	struct hlg_tasks_process *process; /* NULL: a free slot; of a sample: not known */
	int32_t tid, pid;
	uint32_t comm;
	bool exited;
};

struct hlg_tasks {
	struct hlg_strings names;
	struct hlg_thread *threads; /* open addressing, at most half used */
	size_t n, room;             /* room is a power of two */
	struct hlg_address_map modules;
	uint64_t kernel_start, kernel_end; /* [start, end) */
	uint64_t kernel_text; /* where the recorded kernel has _text, or _stext */
	uint32_t version, modules_version; /* see hlg_tasks_version */
	size_t mappings;                   /* of all */
	struct hlg_thread sampled;         /* see hlg_tasks_thread */
	char unnamed[16];                  /* ":TID" */
};

/* *tasks is all zero before. The rest returns false without memory; then, and in the
 * end, the caller finishes *tasks. */
bool hlg_tasks_init(struct hlg_tasks *tasks);
void hlg_tasks_finish(struct hlg_tasks *tasks);

bool hlg_tasks_apply(struct hlg_tasks *tasks, const struct hlg_perfdata_task *task);

/*
 * The thread of a sample, which changes nothing. Valid until the next call of this
 * function or of hlg_tasks_apply.
 */
const struct hlg_thread *hlg_tasks_thread(struct hlg_tasks *tasks, int32_t pid,
					  int32_t tid);

/* What it is called. Valid until the next call. */
const char *hlg_tasks_comm(struct hlg_tasks *tasks, const struct hlg_thread *thread);

/*
 * What is mapped at an address of the thread's, NULL if nothing is known to be; and, of
 * user space, where in its file that is, else 0.
 */
const char *hlg_tasks_mapping(const struct hlg_tasks *tasks,
			      const struct hlg_thread *thread, unsigned cpumode,
			      uint64_t ip, uint64_t *offset);

/* Another number whenever something was mapped that the thread sees. */
uint32_t hlg_tasks_version(const struct hlg_tasks *tasks,
			   const struct hlg_thread *thread);

#endif
