// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inject/scan.h"

#include <stdlib.h>
#include <string.h>

#include "filter/profile/sample.h"
#include "symtab/grow.h"
#include "symtab/hash.h"

static uint64_t hash_of(int32_t pid, int32_t tid)
{
	uint64_t h = ((uint64_t)(uint32_t)pid << 32 | (uint32_t)tid) * hlg_hash_factor;

	return h ^ h >> 32;
}

static bool is_thread(const struct hlg_scan_thread *t, int32_t pid, int32_t tid)
{
	return t->pid == pid && t->tid == tid;
}

struct wanted {
	const struct hlg_scan *scan;
	int32_t pid, tid;
};

static bool is_wanted(const void *ctx, uint32_t number)
{
	const struct wanted *w = ctx;

	return is_thread(&w->scan->threads[number], w->pid, w->tid);
}

static uint32_t find(const struct hlg_scan *scan, int32_t pid, int32_t tid)
{
	const struct wanted wanted = {scan, pid, tid};

	return hlg_index_find(&scan->index, hash_of(pid, tid), is_wanted, &wanted);
}

/* New or known; HLG_INDEX_NONE without memory. */
static uint32_t thread_of(struct hlg_scan *scan, int32_t pid, int32_t tid)
{
	uint32_t i = find(scan, pid, tid);

	if (i != HLG_INDEX_NONE)
		return i;
	i = (uint32_t)scan->n;
	if (!HLG_GROW(scan->threads, scan->n) ||
	    !hlg_index_add(&scan->index, hash_of(pid, tid), i))
		return HLG_INDEX_NONE;
	scan->threads[scan->n++] = (struct hlg_scan_thread){.pid = pid, .tid = tid};
	return i;
}

const char *hlg_scan_comm(const struct hlg_scan *scan, int32_t pid)
{
	uint32_t i = find(scan, pid, pid);

	return i == HLG_INDEX_NONE ? "" : scan->threads[i].comm;
}

static void see_number(struct hlg_scan *scan, int32_t number)
{
	if (number > scan->highest)
		scan->highest = number;
}

/* COMM names a process by its first thread; FORK gives a new one its parent's name. Those
 * of several CPUs are not in the order of time. */
static int on_task(void *ctx, const struct hlg_perfdata_task *task, struct hlg_err *err)
{
	struct hlg_scan *scan = ctx;
	const uint64_t time = task->time == UINT64_MAX ? 0 : task->time;
	char comm[HLG_SCAN_COMM] = "";
	uint32_t i;

	see_number(scan, task->pid);
	see_number(scan, task->tid);
	see_number(scan, task->ppid);
	see_number(scan, task->ptid);
	if (task->pid != task->tid)
		return 0;
	if (task->type == PERF_RECORD_COMM)
		strncpy(comm, task->name, sizeof(comm) - 1);
	else if (task->type == PERF_RECORD_FORK)
		strcpy(comm, hlg_scan_comm(scan, task->ppid));
	else
		return 0;
	i = thread_of(scan, task->pid, task->tid);
	if (i == HLG_INDEX_NONE)
		return hlg_err_memory(err, "processes");
	if (time < scan->threads[i].named)
		return 0;
	memcpy(scan->threads[i].comm, comm, sizeof(comm));
	scan->threads[i].named = time;
	return 0;
}

static int on_guest(struct hlg_scan *scan, int32_t pid, int32_t tid, struct hlg_err *err)
{
	if (scan->last != HLG_INDEX_NONE &&
	    is_thread(&scan->threads[scan->last], pid, tid))
		return 0;
	scan->last = thread_of(scan, pid, tid);
	if (scan->last == HLG_INDEX_NONE)
		return hlg_err_memory(err, "processes");
	scan->threads[scan->last].guest = true;
	return 0;
}

static int on_record(void *ctx, const uint8_t *record, uint16_t size,
		     const struct hlg_perfdata_layout *layout, struct hlg_err *err)
{
	struct hlg_scan *scan = ctx;
	int32_t pid, tid;

	if (!layout)
		return 0;
	if (!layout->tid) {
		if (!hlg_sample_is_guest(hlg_perfdata_u32(record + 4) &
					 PERF_RECORD_MISC_CPUMODE_MASK))
			return 0;
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: its guest samples have no process id "
				   "(record again with perf record)",
				   scan->path);
	}
	pid = (int32_t)hlg_perfdata_u32(record + layout->tid);
	tid = (int32_t)hlg_perfdata_u32(record + layout->tid + 4);
	see_number(scan, pid);
	see_number(scan, tid);
	return hlg_choice_has(scan->choice, record, size, layout)
		       ? on_guest(scan, pid, tid, err)
		       : 0;
}

static int compare(const void *a, const void *b)
{
	const struct hlg_scan_thread *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int list_guests(struct hlg_scan *scan, struct hlg_err *err)
{
	scan->guests = calloc(scan->n + 1, sizeof(*scan->guests));
	if (!scan->guests)
		return hlg_err_memory(err, "processes");
	for (size_t i = 0; i < scan->n; i++)
		if (scan->threads[i].guest)
			scan->guests[scan->n_guests++] = scan->threads[i];
	qsort(scan->guests, scan->n_guests, sizeof(*scan->guests), compare);
	return 0;
}

int hlg_scan_read(struct hlg_scan *scan, const char *path, struct hlg_perfdata *pd,
		  const struct hlg_choice *choice, struct hlg_err *err)
{
	static const struct hlg_perfdata_sink sink = {.record = on_record,
						      .task = on_task};
	int rc;

	*scan = (struct hlg_scan){.path = path, .choice = choice, .last = HLG_INDEX_NONE};
	rc = hlg_perfdata_read(pd, hlg_perfdata_no_sample, &sink, scan, err);
	if (rc == 0 && hlg_perfdata_counts(pd)->no_zstd)
		rc = hlg_err_set(err, HLG_EINPUT,
				 "%s: is compressed, and this hlguest was built "
				 "without libzstd (record without -z)",
				 path);
	return rc < 0 ? rc : list_guests(scan, err);
}

void hlg_scan_finish(struct hlg_scan *scan)
{
	free(scan->threads);
	free(scan->guests);
	hlg_index_finish(&scan->index);
}
