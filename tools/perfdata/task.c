// SPDX-License-Identifier: GPL-2.0-only
#include "tools/perfdata/task.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

#include "tools/perfdata/bytes.h"

/* PERF_RECORD_MMAP2: with this bit a build id stands where the device would. */
#define MISC_MMAP_BUILD_ID (1 << 14)
/* PERF_RECORD_FORK: made up by perf for a process that had run before. */
#define MISC_FORK_EXEC (1 << 13)

/* Bytes before the name, by enum perf_event_type; of FORK and EXIT all. */
static size_t fixed_size(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_COMM:
		return 16;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return 32;
	case PERF_RECORD_MMAP:
		return 40;
	case PERF_RECORD_MMAP2:
		return 72;
	default:
		return SIZE_MAX;
	}
}

static void read_mapping(struct hlg_perfdata_task *task, const uint8_t *r, unsigned misc)
{
	task->start = hlg_perfdata_u64(r + 16);
	task->size = hlg_perfdata_u64(r + 24);
	task->file_offset = hlg_perfdata_u64(r + 32);
	if (task->type != PERF_RECORD_MMAP2) {
		/* It was the only kind for long: executable but for this flag. */
		task->prot = misc & PERF_RECORD_MISC_MMAP_DATA ? 0 : PROT_EXEC;
		return;
	}
	if (misc & MISC_MMAP_BUILD_ID) {
		task->build_id_size = r[40] <= 20 ? r[40] : 20;
		task->build_id = r + 44;
	} else {
		task->major = hlg_perfdata_u32(r + 40);
		task->minor = hlg_perfdata_u32(r + 44);
		task->inode = hlg_perfdata_u64(r + 48);
	}
	task->prot = hlg_perfdata_u32(r + 64);
	task->flags = hlg_perfdata_u32(r + 68);
}

bool hlg_perfdata_task(struct hlg_perfdata_task *task, const uint8_t *record, size_t size,
		       unsigned time_back)
{
	unsigned misc = hlg_perfdata_u32(record + 4) & UINT16_MAX;
	uint32_t type = hlg_perfdata_u32(record);
	size_t fixed = fixed_size(type);

	*task = (struct hlg_perfdata_task){.type = type, .name = "", .time = UINT64_MAX};
	if (size < fixed || size - fixed < time_back)
		return false;
	if (time_back)
		task->time = hlg_perfdata_u64(record + size - time_back);
	task->cpumode = misc & PERF_RECORD_MISC_CPUMODE_MASK;
	task->pid = (int32_t)hlg_perfdata_u32(record + 8);
	task->tid = (int32_t)hlg_perfdata_u32(record + 12);
	if (type == PERF_RECORD_FORK || type == PERF_RECORD_EXIT) {
		/*
		 * pid, ppid, tid, ptid, and a time, which is not the trailer's to the
		 * nanosecond: the trailer's is what perf sorts by.
		 */
		task->ppid = task->tid;
		task->tid = (int32_t)hlg_perfdata_u32(record + 16);
		task->ptid = (int32_t)hlg_perfdata_u32(record + 20);
		task->exec = misc & MISC_FORK_EXEC;
		return true;
	}
	if (!memchr(record + fixed, '\0', size - fixed))
		return false;
	task->name = (const char *)record + fixed;
	if (type == PERF_RECORD_COMM)
		task->exec = misc & PERF_RECORD_MISC_COMM_EXEC;
	else
		read_mapping(task, record, misc);
	return true;
}
