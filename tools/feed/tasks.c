// SPDX-License-Identifier: GPL-2.0-only
#include "tools/feed/tasks.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "symtab/hash.h"

enum {
	LAYERS_MAX = 16 /* on each other; then they become one */
};

/* Mappings that processes share since one forked the other. Who maps something then has
 * a layer of his own above. */
struct layer {
	struct hlg_address_map map; /* shift: from an address to the offset in the file */
	struct layer *below;        /* what map does not cover; NULL: nothing */
	size_t refs;                /* of processes, and of layers above */
	unsigned depth;             /* layers below */
};

/* What the threads of a process share. */
struct hlg_tasks_process {
	struct layer *maps; /* NULL: none */
	size_t refs, live;  /* threads, and those that have not exited */
	uint32_t version;   /* of maps; see hlg_tasks_version */
};

static struct hlg_thread *slot_of(const struct hlg_tasks *tasks, int32_t tid)
{
	size_t mask = tasks->room - 1;
	size_t i = (uint32_t)tid * hlg_hash_factor >> 36 & mask;

	while (tasks->threads[i].process && tasks->threads[i].tid != tid)
		i = (i + 1) & mask;
	return &tasks->threads[i];
}

/* Room for the few threads that one record can bring, so that none moves meanwhile. */
static bool make_room(struct hlg_tasks *tasks)
{
	struct hlg_tasks more = {.room = tasks->room ? 2 * tasks->room : 64};

	if (2 * (tasks->n + 6) <= tasks->room)
		return true;
	more.threads = calloc(more.room, sizeof(*more.threads));
	if (!more.threads)
		return false;
	for (size_t i = 0; i < tasks->room; i++)
		if (tasks->threads[i].process)
			*slot_of(&more, tasks->threads[i].tid) = tasks->threads[i];
	free(tasks->threads);
	tasks->threads = more.threads;
	tasks->room = more.room;
	return true;
}

static bool has_room(const struct hlg_tasks *tasks, size_t n)
{
	return n <= HLG_TASKS_MAPPINGS_MAX &&
	       tasks->mappings <= HLG_TASKS_MAPPINGS_MAX - n;
}

/* False without memory, or for too many mappings. */
static bool map(struct hlg_tasks *tasks, struct hlg_address_map *maps,
		const struct hlg_perfdata_task *task, const char *name)
{
	const struct hlg_address_range range = {
		.start = task->start,
		.end = task->start + task->size,
		.shift = task->file_offset - task->start,
		.name = hlg_strings_add(&tasks->names, name)};
	size_t before = maps->n;

	/* One that lies within another makes two more. */
	if (range.name == HLG_NO_STRING || !has_room(tasks, 2) ||
	    !hlg_address_map_put(maps, range, HLG_ADDRESS_MAP_KEEP))
		return false;
	tasks->mappings += maps->n - before;
	return true;
}

static void unmap_all(struct hlg_tasks *tasks, struct hlg_address_map *maps)
{
	tasks->mappings -= maps->n;
	hlg_address_map_finish(maps);
}

static void drop_layer(struct hlg_tasks *tasks, struct layer *layer)
{
	while (layer && --layer->refs == 0) {
		struct layer *below = layer->below;

		unmap_all(tasks, &layer->map);
		free(layer);
		layer = below;
	}
}

static void unmap_process(struct hlg_tasks *tasks, struct hlg_tasks_process *process)
{
	drop_layer(tasks, process->maps);
	process->maps = NULL;
}

struct copying {
	struct hlg_tasks *tasks;
	struct hlg_address_map *to;
	bool ok;
};

static void copy_range(void *ctx, const struct hlg_address_range *range)
{
	struct copying *copying = ctx;
	size_t before = copying->to->n;

	copying->ok = copying->ok && has_room(copying->tasks, 2) &&
		      hlg_address_map_put(copying->to, *range, HLG_ADDRESS_MAP_KEEP);
	copying->tasks->mappings += copying->to->n - before;
}

/* Copies what is below a new layer into it. */
static bool flatten(struct hlg_tasks *tasks, struct layer *layer)
{
	struct copying copying = {tasks, &layer->map, true};
	const struct layer *layers[LAYERS_MAX + 1];
	unsigned n = 0;

	for (const struct layer *l = layer->below; l; l = l->below)
		layers[n++] = l;
	while (n--) /* the newest last */
		hlg_address_map_each(&layers[n]->map, copy_range, &copying);
	drop_layer(tasks, layer->below);
	layer->below = NULL;
	layer->depth = 0;
	return copying.ok;
}

/* Where a process maps what no other does. NULL without memory. */
static struct layer *own_layer(struct hlg_tasks *tasks, struct hlg_tasks_process *process)
{
	struct layer *below = process->maps, *layer;

	if (below && below->refs == 1)
		return below;
	layer = calloc(1, sizeof(*layer));
	if (!layer)
		return NULL;
	*layer = (struct layer){
		.below = below, .refs = 1, .depth = below ? below->depth + 1 : 0};
	process->maps = layer;
	return layer->depth <= LAYERS_MAX || flatten(tasks, layer) ? layer : NULL;
}

static void leave_process(struct hlg_tasks *tasks, struct hlg_thread *thread)
{
	struct hlg_tasks_process *process = thread->process;

	if (!thread->exited && --process->live == 0)
		unmap_process(tasks, process);
	if (--process->refs == 0) {
		unmap_process(tasks, process);
		free(process);
	}
}

static void join_process(struct hlg_thread *thread, struct hlg_tasks_process *process)
{
	thread->process = process;
	process->refs++;
	process->live += !thread->exited;
}

/* The thread in slot begins, whatever was there before, in a process of its own. */
static bool begin_alone(struct hlg_tasks *tasks, struct hlg_thread *slot, int32_t pid,
			int32_t tid)
{
	struct hlg_tasks_process *process = calloc(1, sizeof(*process));

	if (!process)
		return false;
	if (slot->process)
		leave_process(tasks, slot);
	else
		tasks->n++;
	*slot = (struct hlg_thread){.tid = tid, .pid = pid};
	join_process(slot, process);
	return true;
}

/* The thread that the process is called by. NULL without memory. */
static struct hlg_thread *find_leader(struct hlg_tasks *tasks, int32_t pid)
{
	struct hlg_thread *thread = slot_of(tasks, pid);

	if (!thread->process)
		return begin_alone(tasks, thread, pid, pid) ? thread : NULL;
	if (thread->pid == -1)
		thread->pid = pid;
	return thread;
}

/* The thread in slot begins in its leader's process. */
static bool begin_thread(struct hlg_tasks *tasks, struct hlg_thread *slot, int32_t pid,
			 int32_t tid)
{
	struct hlg_thread *leader;

	/* Of its own for now: the slot must not be taken for a free one. */
	if (!begin_alone(tasks, slot, pid, tid))
		return false;
	if (pid == tid || pid == -1)
		return true;
	leader = find_leader(tasks, pid);
	if (!leader)
		return false;
	leave_process(tasks, slot);
	join_process(slot, leader->process);
	return true;
}

/* Needs make_room before. NULL without memory. */
static struct hlg_thread *find_thread(struct hlg_tasks *tasks, int32_t pid, int32_t tid)
{
	struct hlg_thread *thread = slot_of(tasks, tid), *leader;

	if (!thread->process)
		return begin_thread(tasks, thread, pid, tid) ? thread : NULL;
	if (pid == thread->pid || pid == -1 || thread->pid != -1)
		return thread;
	/* Until now nobody said whose it is (machine__update_thread_pid). */
	thread->pid = pid;
	if (pid == tid)
		return thread;
	leader = find_leader(tasks, pid);
	if (!leader)
		return NULL;
	if (leader->process != thread->process) {
		leave_process(tasks, thread);
		join_process(thread, leader->process);
	}
	return thread;
}

static void revive(struct hlg_thread *thread)
{
	thread->process->live += thread->exited;
	thread->exited = false;
}

static bool rename_thread(struct hlg_tasks *tasks, int32_t pid, int32_t tid,
			  const char *name)
{
	struct hlg_thread *thread = find_thread(tasks, pid, tid);

	if (!thread)
		return false;
	revive(thread);
	thread->comm = hlg_strings_add(&tasks->names, name);
	return thread->comm != HLG_NO_STRING;
}

static bool fork_thread(struct hlg_tasks *tasks, const struct hlg_perfdata_task *task)
{
	struct hlg_thread *parent = find_thread(tasks, task->ppid, task->ptid);
	struct hlg_thread *thread;

	if (parent && parent->pid != task->ppid &&
	    !begin_thread(tasks, parent, task->ppid, task->ptid))
		return false;
	thread = slot_of(tasks, task->tid);
	/* Nobody forks himself, but a file can say so. */
	if (!parent || thread == parent)
		return parent != NULL;
	if (!begin_thread(tasks, thread, task->pid, task->tid))
		return false;
	if (parent->comm != HLG_NO_STRING)
		thread->comm = parent->comm;
	if (thread->pid != parent->pid && thread->process != parent->process &&
	    !task->exec && !thread->process->maps) {
		thread->process->version = ++tasks->version;
		thread->process->maps = parent->process->maps;
		if (thread->process->maps)
			thread->process->maps->refs++;
	}
	return true;
}

static void exit_thread(struct hlg_tasks *tasks, const struct hlg_perfdata_task *task)
{
	struct hlg_thread *thread = slot_of(tasks, task->tid);

	/* Without times, samples of before its end may still come. */
	if (!thread->process || thread->exited || task->time == UINT64_MAX)
		return;
	thread->exited = true;
	if (--thread->process->live == 0)
		unmap_process(tasks, thread->process);
}

static bool starts(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

/* The memory names that map__new looks for (is_anon_memory, is_no_dso_memory). */
static bool has_no_file(const struct hlg_perfdata_task *task)
{
	return strcmp(task->name, "//anon") == 0 || starts(task->name, "/dev/zero") ||
	       starts(task->name, "/anon_hugepage") || starts(task->name, "[stack") ||
	       starts(task->name, "/SYSV") || strcmp(task->name, "[heap]") == 0 ||
	       (task->flags & MAP_HUGETLB);
}

static bool map_user(struct hlg_tasks *tasks, const struct hlg_perfdata_task *task)
{
	struct hlg_thread *thread = find_thread(tasks, task->pid, task->tid);
	char jit[sizeof("/tmp/perf--2147483648.map")];
	bool is_jit = has_no_file(task) && task->prot & PROT_EXEC;
	struct layer *layer;

	if (!thread)
		return false;
	revive(thread);
	layer = own_layer(tasks, thread->process);
	if (!layer)
		return false;
	snprintf(jit, sizeof(jit), "/tmp/perf-%d.map", thread->pid);
	thread->process->version = ++tasks->version;
	return map(tasks, &layer->map, task, is_jit ? jit : task->name);
}

/* "/lib/modules/.../kvm-amd.ko.xz" is "[kvm_amd]"; what is no module keeps its name. */
static void name_module(char *to, size_t room, const char *path)
{
	const char *slash = path[0] == '[' ? NULL : strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	const char *ko = strstr(base, ".ko");

	if (path[0] == '[' || !ko || (ko[3] && ko[3] != '.')) {
		snprintf(to, room, "%s", base);
		return;
	}
	snprintf(to, room, "[%.*s]", (int)(ko - base), base);
	for (char *c = to; *c; c++)
		if (*c == '-')
			*c = '_';
}

static bool map_kernel(struct hlg_tasks *tasks, const struct hlg_perfdata_task *task)
{
	char module[4096]; /* PATH_MAX: records hold no longer names */

	/* Named for the symbol it begins with: "[kernel.kallsyms]_text". */
	if (starts(task->name, "[kernel.kallsyms")) {
		tasks->kernel_start = task->start;
		tasks->kernel_end = task->start + task->size;
		tasks->kernel_text = task->file_offset;
		/* Some perf wrote a kernel of no size (machine__set_kernel_mmap). */
		if (tasks->kernel_start == 0 && tasks->kernel_end == 0)
			tasks->kernel_end = UINT64_MAX;
		return true;
	}
	if (task->name[0] != '/' && task->name[0] != '[')
		return true;
	name_module(module, sizeof(module), task->name);
	tasks->modules_version = ++tasks->version;
	return map(tasks, &tasks->modules, task, module);
}

bool hlg_tasks_init(struct hlg_tasks *tasks)
{
	return make_room(tasks) && rename_thread(tasks, 0, 0, "swapper");
}

void hlg_tasks_finish(struct hlg_tasks *tasks)
{
	for (size_t i = 0; i < tasks->room; i++)
		if (tasks->threads[i].process)
			leave_process(tasks, &tasks->threads[i]);
	free(tasks->threads);
	unmap_all(tasks, &tasks->modules);
	hlg_strings_finish(&tasks->names);
	*tasks = (struct hlg_tasks){0};
}

bool hlg_tasks_apply(struct hlg_tasks *tasks, const struct hlg_perfdata_task *task)
{
	if (!make_room(tasks))
		return false;
	switch (task->type) {
	case PERF_RECORD_COMM:
		return rename_thread(tasks, task->pid, task->tid, task->name);
	case PERF_RECORD_FORK:
		return fork_thread(tasks, task);
	case PERF_RECORD_EXIT:
		exit_thread(tasks, task);
		return true;
	}
	if (task->cpumode == PERF_RECORD_MISC_KERNEL)
		return map_kernel(tasks, task);
	if (task->cpumode == PERF_RECORD_MISC_GUEST_KERNEL ||
	    task->cpumode == PERF_RECORD_MISC_GUEST_USER)
		return true;
	return map_user(tasks, task);
}

const struct hlg_thread *hlg_tasks_thread(struct hlg_tasks *tasks, int32_t pid,
					  int32_t tid)
{
	const struct hlg_thread *known = slot_of(tasks, tid);

	if (known->process && (known->pid != -1 || pid == -1))
		return known;
	tasks->sampled = (struct hlg_thread){
		.process = pid == -1 ? NULL : slot_of(tasks, pid)->process,
		.tid = tid,
		.pid = pid,
		.comm = known->process ? known->comm : HLG_NO_STRING,
	};
	return &tasks->sampled;
}

const char *hlg_tasks_comm(struct hlg_tasks *tasks, const struct hlg_thread *thread)
{
	const char *comm = hlg_strings_get(&tasks->names, thread->comm);

	if (comm)
		return comm;
	snprintf(tasks->unnamed, sizeof(tasks->unnamed), ":%d", thread->tid);
	return tasks->unnamed;
}

static const struct hlg_address_range *find_mapping(
	const struct hlg_tasks_process *process, uint64_t ip)
{
	const struct hlg_address_range *range = NULL;

	for (const struct layer *l = process->maps; l && !range; l = l->below)
		range = hlg_address_map_find(&l->map, ip);
	return range;
}

const char *hlg_tasks_mapping(const struct hlg_tasks *tasks,
			      const struct hlg_thread *thread, unsigned cpumode,
			      uint64_t ip, uint64_t *offset)
{
	bool user = cpumode == PERF_RECORD_MISC_USER;
	const struct hlg_address_range *range;

	*offset = 0;
	if (!user && cpumode != PERF_RECORD_MISC_KERNEL)
		return NULL;
	if (user && !thread->process)
		return NULL;
	range = user ? find_mapping(thread->process, ip)
		     : hlg_address_map_find(&tasks->modules, ip);
	if (range && user)
		*offset = ip + range->shift;
	if (range)
		return hlg_strings_get(&tasks->names, range->name);
	return !user && ip >= tasks->kernel_start && ip < tasks->kernel_end
		       ? HLG_TASKS_KERNEL
		       : NULL;
}

uint32_t hlg_tasks_version(const struct hlg_tasks *tasks, const struct hlg_thread *thread)
{
	uint32_t version = thread->process ? thread->process->version : 0;

	return version > tasks->modules_version ? version : tasks->modules_version;
}
