// SPDX-License-Identifier: GPL-2.0-only
#include "tools/feed/queue.h"

#include <limits.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "filter/stacks/dso-name.h"

#define A_TASK UINT8_MAX /* instead of a cpumode */

struct hlg_order_item {
	uint64_t time, sequence;
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
	struct hlg_order *order;
	const struct hlg_order_item *item;
	char *text; /* PATH_MAX bytes: too many to be zeroed for each sample */
};

bool hlg_order_init(struct hlg_order *order, struct hlg_host *host)
{
	memset(order, 0, sizeof(*order));
	order->host = host;
	return hlg_tasks_init(&order->tasks);
}

void hlg_order_finish(struct hlg_order *order)
{
	for (size_t i = 0; i < order->n; i++)
		if (order->items[i].cpumode == A_TASK)
			free(order->items[i].task);
	free(order->items);
	hlg_hostsyms_build_ids_finish(&order->ids);
	hlg_tasks_finish(&order->tasks);
	memset(order, 0, sizeof(*order));
}

static const char *name_function(const struct hlg_order *order, unsigned cpumode,
				 uint64_t ip, const char *dso, uint64_t offset)
{
	if (!order->syms || !dso)
		return NULL;
	if (cpumode == PERF_RECORD_MISC_USER)
		return hlg_hostsyms_user(order->syms, dso,
					 hlg_hostsyms_build_ids_get(&order->ids, dso),
					 offset);
	return hlg_hostsyms_kernel(
		order->syms, hlg_hostsyms_build_ids_get(&order->ids, HLG_TASKS_KERNEL),
		order->tasks.kernel_text, ip);
}

static void name_frame(void *to, uint64_t ip, unsigned cpumode,
		       struct hlg_host_frame *frame)
{
	struct naming *naming = to;
	struct hlg_order *order = naming->order;
	const char *dso;
	uint64_t offset;

	hlg_tasks_map(&order->tasks, naming->item->pid, naming->item->tid, cpumode, ip,
		      &dso, &offset);
	frame->name = name_function(order, cpumode, ip, dso, offset);
	if (!frame->name)
		frame->name = hlg_mapped_name(naming->text, PATH_MAX, dso);
}

static void add_stack(struct hlg_order *order, const struct hlg_order_item *item,
		      const char *comm)
{
	char text[PATH_MAX];
	struct naming naming = {order, item, text};
	struct hlg_stacks_sample of = {
		.pid = item->pid,
		.tid = item->tid,
		.comm = comm,
		.chain = item->chain,
		.mappings = hlg_tasks_version(&order->tasks, item->pid, item->tid),
		.ip = item->ip,
		.cpumode = item->cpumode,
		.name = name_frame,
		.ctx = &naming,
	};

	if (item->what & HLG_ORDER_ENTER)
		hlg_stacks_enter(order->stacks, &of);
	if (!(item->what & HLG_ORDER_STACK))
		return;
	if (hlg_mode_is_guest(item->cpumode))
		hlg_stacks_guest(order->stacks, &of, item->series, item->period);
	else
		hlg_stacks_host(order->stacks, &of, item->series, item->period);
}

static void count(struct hlg_order *order, const struct hlg_order_item *item)
{
	const char *comm, *dso;
	uint32_t series = item->series;

	if (!hlg_tasks_find(&order->tasks, item->pid, item->tid, item->cpumode, item->ip,
			    &comm, &dso)) {
		series = HLG_NO_SERIES;
		comm = dso = NULL;
	}
	if (item->what & HLG_ORDER_ROW)
		hlg_host_add(order->host, series, dso, comm, item->period);
	if (item->what & (HLG_ORDER_STACK | HLG_ORDER_ENTER))
		add_stack(order, item, comm);
}

static int compare(const void *a, const void *b)
{
	const struct hlg_order_item *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/* Sorts, and takes what is not newer than limit, or all of the first n. */
static bool let_go(struct hlg_order *order, uint64_t limit, size_t n)
{
	size_t i;
	bool ok = true;

	if (order->n == 0)
		return true;
	qsort(order->items, order->n, sizeof(*order->items), compare);
	for (i = 0; i < order->n && (i < n || order->items[i].time <= limit); i++) {
		if (order->items[i].cpumode != A_TASK) {
			count(order, &order->items[i]);
			continue;
		}
		ok = ok && hlg_tasks_apply(&order->tasks, order->items[i].task);
		free(order->items[i].task);
	}
	order->n -= i;
	memmove(order->items, order->items + i, order->n * sizeof(*order->items));
	return ok;
}

/* A place at the end; NULL without memory. */
static struct hlg_order_item *more(struct hlg_order *order, uint64_t time)
{
	struct hlg_order_item *items = order->items;

	if (order->n == HLG_ORDER_MAX && !let_go(order, 0, HLG_ORDER_MAX / 2))
		return NULL;
	if (order->n == order->room) {
		size_t room = order->room ? 2 * order->room : 256;

		items = reallocarray(items, room, sizeof(*items));
		if (!items)
			return NULL;
		order->items = items;
		order->room = room;
	}
	if (time > order->newest)
		order->newest = time;
	items[order->n].time = time;
	items[order->n].sequence = order->sequence++;
	return &items[order->n++];
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

bool hlg_order_task(struct hlg_order *order, const struct hlg_perfdata_task *task)
{
	struct hlg_perfdata_task *copy;
	struct hlg_order_item *item;

	if (task->time == 0 || task->time == HLG_NO_TIME)
		return hlg_tasks_apply(&order->tasks, task);
	copy = copy_task(task);
	item = copy ? more(order, task->time) : NULL;
	if (!item) {
		free(copy);
		return false;
	}
	item->task = copy;
	item->cpumode = A_TASK;
	return true;
}

void hlg_order_sample(struct hlg_order *order, const struct hlg_sample *sample,
		      uint32_t series)
{
	hlg_order_add(order, sample, series, HLG_NO_CHAIN, HLG_ORDER_ROW);
}

void hlg_order_add(struct hlg_order *order, const struct hlg_sample *sample,
		   uint32_t series, uint32_t chain, unsigned what)
{
	struct hlg_order_item of_sample = {.ip = sample->ip,
					   .period = sample->period,
					   .pid = sample->pid,
					   .tid = sample->tid,
					   .series = series,
					   .chain = chain,
					   .what = (uint8_t)what,
					   .cpumode = sample->cpumode};
	struct hlg_order_item *item;

	if (sample->time == 0 || sample->time == HLG_NO_TIME) {
		count(order, &of_sample);
		return;
	}
	item = more(order, sample->time);
	if (!item) {
		if (what & HLG_ORDER_ROW)
			hlg_host_add(order->host, HLG_NO_SERIES, NULL, NULL,
				     sample->period);
		return;
	}
	of_sample.time = item->time;
	of_sample.sequence = item->sequence;
	*item = of_sample;
}

bool hlg_order_round(struct hlg_order *order)
{
	bool ok = let_go(order, order->complete, 0);

	order->complete = order->newest;
	return ok;
}

bool hlg_order_end(struct hlg_order *order)
{
	return let_go(order, HLG_NO_TIME, order->n);
}
