/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records about processes and what they map: COMM, FORK, EXIT, MMAP and MMAP2
 * (linux/perf_event.h, enum perf_event_type).
 */
#ifndef HLG_TOOLS_PERFDATA_TASK_H
#define HLG_TOOLS_PERFDATA_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pointers are into the record: valid during the call only. */
struct hlg_perfdata_task {
	uint32_t type;      /* PERF_RECORD_COMM, _FORK, _EXIT, _MMAP, _MMAP2 */
	int32_t pid, tid;   /* -1: the kernel's own mappings */
	int32_t ppid, ptid; /* FORK, EXIT: the parent; else 0 */
	uint64_t time;      /* ns; UINT64_MAX not recorded */
	const char *name;   /* COMM: the new name; mappings: the file; else "" */
	bool exec;          /* COMM: by execve(2); FORK: shares nothing with its parent */
	uint8_t cpumode;    /* mappings: whose; PERF_RECORD_MISC_CPUMODE_MASK */
	uint64_t start, size, file_offset; /* mappings, in bytes */
	uint32_t prot, flags;              /* as of mmap(2); MMAP: PROT_EXEC or nothing */
	uint32_t major, minor;             /* MMAP2 without a build id */
	uint64_t inode;
	const uint8_t *build_id; /* MMAP2, or NULL */
	size_t build_id_size;    /* at most 20 */
};

/*
 * Reads a record of one of these types, size bytes with its header. time_back: where the
 * time stands, from the record's end; 0: not recorded. False if it is too short, or its
 * name does not end.
 */
bool hlg_perfdata_task(struct hlg_perfdata_task *task, const uint8_t *record, size_t size,
		       unsigned time_back);

#endif
