// SPDX-License-Identifier: GPL-2.0-only
#include "tools/feed/timeline.h"

#include <limits.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#define A_TASK UINT8_MAX /* instead of a cpumode */

struct hlg_timeline_item {
	uint64_t time;
	union {
		uint64_t ip;
		struct hlg_perfdata_task *task; /* its own, and its name behind it */
	};
	uint64_t period;
	int32_t pid, tid;
	uint32_t series, chain;
	uint8_t cpumode, what;
};

/* A frame to be named. */
struct naming {
	struct hlg_timeline *timeline;
	const struct hlg_thread *thread;
	char *text; /* PATH_MAX bytes: too many to be zeroed for each sample */
};

static const char *name_function(const struct hlg_timeline *timeline, unsigned cpumode,
				 uint64_t ip, const char *dso, uint64_t offset)
{
	if (!timeline->syms || !dso)
		return NULL;
	if (cpumode == PERF_RECORD_MISC_USER)
		return hlg_hostsyms_user(timeline->syms, dso,
					 hlg_hostsyms_build_ids_get(&timeline->ids, dso),
					 offset);
	return hlg_hostsyms_kernel(
		timeline->syms,
		hlg_hostsyms_build_ids_get(&timeline->ids, HLG_TASKS_KERNEL),
		timeline->tasks.kernel_text, ip);
}

static void name_frame(void *to, uint64_t ip, unsigned cpumode,
		       struct hlg_host_frame *frame)
{
	struct naming *naming = to;
	struct hlg_timeline *timeline = naming->timeline;
	uint64_t offset;
	const char *dso =
		hlg_tasks_mapping(&timeline->tasks, naming->thread, cpumode, ip, &offset);

	frame->name = name_function(timeline, cpumode, ip, dso, offset);
	if (!frame->name)
		frame->name = hlg_stacks_dso_name(naming->text, PATH_MAX, dso);
}

static void add_stack(struct hlg_timeline *timeline, const struct hlg_timeline_item *item,
		      const struct hlg_thread *thread)
{
	char text[PATH_MAX];
	struct naming naming = {timeline, thread, text};
	struct hlg_stacks_sample of = {
		.pid = item->pid,
		.tid = item->tid,
		.time = item->time,
		.comm = hlg_tasks_comm(&timeline->tasks, thread),
		.chain = item->chain,
		.mappings = hlg_tasks_version(&timeline->tasks, thread),
		.ip = item->ip,
		.cpumode = item->cpumode,
		.entry = item->what & HLG_TIMELINE_ENTRY,
		.name = name_frame,
		.ctx = &naming,
	};

	if (item->what & HLG_TIMELINE_ENTER)
		hlg_stacks_enter(timeline->stacks, &of);
	if (!(item->what & HLG_TIMELINE_STACK))
		return;
	if (hlg_sample_is_guest(item->cpumode))
		hlg_stacks_guest(timeline->stacks, &of, item->series, item->period);
	else
		hlg_stacks_host(timeline->stacks, &of, item->series, item->period);
}

static void count(struct hlg_timeline *timeline, const struct hlg_timeline_item *item)
{
	struct hlg_tasks *tasks = &timeline->tasks;
	const struct hlg_thread *thread = hlg_tasks_thread(tasks, item->pid, item->tid);
	const char *dso, *comm;
	uint64_t offset;

	if (item->what & HLG_TIMELINE_ROW) {
		dso = hlg_tasks_mapping(tasks, thread, item->cpumode, item->ip, &offset);
		comm = hlg_tasks_comm(tasks, thread);
		hlg_host_add(timeline->host, item->series, dso, comm, item->period);
	}
	if (item->what & (HLG_TIMELINE_STACK | HLG_TIMELINE_ENTER))
		add_stack(timeline, item, thread);
}

/* An item whose turn it is. */
static bool take(void *ctx, void *at)
{
	struct hlg_timeline *timeline = ctx;
	const struct hlg_timeline_item *item = at;
	bool ok;

	if (item->cpumode != A_TASK) {
		count(timeline, item);
		return true;
	}
	ok = hlg_tasks_apply(&timeline->tasks, item->task);
	free(item->task);
	return ok;
}

bool hlg_timeline_init(struct hlg_timeline *timeline, struct hlg_host *host)
{
	memset(timeline, 0, sizeof(*timeline));
	timeline->host = host;
	hlg_queue_init(&timeline->queue, sizeof(struct hlg_timeline_item), take,
		       timeline);
	return hlg_tasks_init(&timeline->tasks);
}

void hlg_timeline_finish(struct hlg_timeline *timeline)
{
	for (size_t i = 0; i < timeline->queue.n; i++) {
		struct hlg_timeline_item *item = hlg_queue_item(&timeline->queue, i);

		if (item->cpumode == A_TASK)
			free(item->task);
	}
	hlg_queue_finish(&timeline->queue);
	hlg_hostsyms_build_ids_finish(&timeline->ids);
	hlg_tasks_finish(&timeline->tasks);
	memset(timeline, 0, sizeof(*timeline));
}

static struct hlg_perfdata_task *copy_task(const struct hlg_perfdata_task *task)
{
	size_t size = strlen(task->name) + 1;
	struct hlg_perfdata_task *copy = malloc(sizeof(*copy) + size);

	if (!copy)
		return NULL;
	*copy = *task;
	copy->build_id = NULL; /* it was in the record */
	copy->name = memcpy(copy + 1, task->name, size);
	return copy;
}

bool hlg_timeline_task(struct hlg_timeline *timeline,
		       const struct hlg_perfdata_task *task)
{
	struct hlg_perfdata_task *copy;
	struct hlg_timeline_item *item;

	if (task->time == 0 || task->time == HLG_NO_TIME)
		return hlg_tasks_apply(&timeline->tasks, task);
	copy = copy_task(task);
	item = copy ? hlg_queue_next(&timeline->queue) : NULL;
	if (!item) {
		free(copy);
		return false;
	}
	*item = (struct hlg_timeline_item){
		.time = task->time, .task = copy, .cpumode = A_TASK};
	hlg_queue_pushed(&timeline->queue, item->time);
	return true;
}

void hlg_timeline_add(struct hlg_timeline *timeline, const struct hlg_sample *sample,
		      uint32_t series, uint32_t chain, unsigned what)
{
	struct hlg_timeline_item of_sample = {.time = sample->time,
					      .ip = sample->ip,
					      .period = sample->period,
					      .pid = sample->pid,
					      .tid = sample->tid,
					      .series = series,
					      .chain = chain,
					      .what = (uint8_t)what,
					      .cpumode = sample->cpumode};
	struct hlg_timeline_item *item;

	if (sample->time == 0 || sample->time == HLG_NO_TIME) {
		count(timeline, &of_sample);
		return;
	}
	item = hlg_queue_next(&timeline->queue);
	if (!item) {
		if (what & HLG_TIMELINE_ROW)
			hlg_host_add(timeline->host, HLG_NO_SERIES, NULL, NULL,
				     sample->period);
		return;
	}
	*item = of_sample;
	hlg_queue_pushed(&timeline->queue, item->time);
}
