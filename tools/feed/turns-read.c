// SPDX-License-Identifier: GPL-2.0-only
#include "tools/feed/turns-read.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/feed/queue.h"
#include "tools/perfdata/perfdata.h"

struct reader {
	struct hlg_turns *turns;
	struct hlg_queue queue;
	const struct hlg_perfdata *pd;
	const char *path;
	struct hlg_probe *probes; /* of each event, */
	uint32_t n_probes;
	struct hlg_trace *trace;
	uint64_t ioctl; /* config of the tracepoint */
	bool known, partial, none, lost;
};

/* Where an event's samples have what is asked for. */
static int add_probe(struct reader *r, const struct hlg_perfdata_event *event,
		     struct hlg_err *err)
{
	size_t n = (size_t)event->index + 1;
	struct hlg_probe *probes;

	if (n > r->n_probes) {
		probes = reallocarray(r->probes, n, sizeof(*probes));
		if (!probes)
			return hlg_err_memory(err, r->path);
		r->probes = probes;
		r->n_probes = (uint32_t)n;
	}
	return hlg_probe_find(&r->probes[event->index], &r->trace, r->pd, r->path, event,
			      err);
}

static int on_event(void *ctx, const struct hlg_perfdata_event *event,
		    struct hlg_err *err)
{
	struct reader *r = ctx;

	for (uint32_t i = 0; !r->known && i < hlg_perfdata_n_events(r->pd); i++) {
		const struct hlg_perfdata_event *one = hlg_perfdata_event(r->pd, i);

		if (strcmp(one->name, "syscalls:sys_enter_ioctl") != 0 ||
		    one->attr.type != PERF_TYPE_TRACEPOINT)
			continue;
		r->known = true;
		r->ioctl = one->attr.config;
		r->partial = one->attr.freq || one->attr.sample_period > 1;
	}
	/* Nobody else sees that error: it is how reading ends here. */
	r->none = !r->known || r->partial;
	if (r->none)
		return hlg_err_set(err, HLG_EINPUT, "%s: no KVM_RUN", r->path);
	return event ? add_probe(r, event, err) : 0;
}

static int on_round(void *ctx, struct hlg_err *err)
{
	struct reader *r = ctx;

	return hlg_queue_round(&r->queue) ? 0 : hlg_err_memory(err, r->path);
}

/*
 * The system call, from its raw data: a struct syscall_trace_enter
 * (kernel/trace/trace.h), where the arguments stand behind 16 bytes in all 64-bit
 * kernels: fd, cmd, and one more. False if it is none that matters.
 */
static bool read_call(const struct hlg_perfdata_raw *raw, struct hlg_turns_item *item)
{
	struct hlg_perfdata_bytes data;
	uint64_t fd;

	if (!hlg_perfdata_data(raw, &data) || data.n < 32)
		return false;
	fd = hlg_perfdata_u64(data.at + 16);
	item->cmd = hlg_perfdata_u32(data.at + 24);
	item->value = data.n < 40 ? 0 : hlg_perfdata_u64(data.at + 32);
	item->fd = (int32_t)fd;
	return (item->cmd == HLG_TURNS_RUN || item->cmd == HLG_TURNS_CREATE_VCPU ||
		item->cmd == HLG_TURNS_SET_USER_MEMORY_REGION ||
		item->cmd == HLG_TURNS_SET_CPUID2 ||
		item->cmd == HLG_TURNS_ARM_VCPU_INIT) &&
	       fd <= INT32_MAX;
}

/* What a tracepoint tells; false if it is nothing that matters. */
static bool read_tracepoint(const struct reader *r, const struct hlg_perfdata_raw *raw,
			    struct hlg_turns_item *item)
{
	const struct hlg_probe *probe = &r->probes[raw->event];
	struct hlg_perfdata_bytes data;

	if (raw->layout->attr->config == r->ioctl)
		return read_call(raw, item);
	if (probe->kind == HLG_PROBE_NONE || !hlg_perfdata_data(raw, &data))
		return false;
	item->cmd = probe->kind;
	if (probe->kind == HLG_PROBE_ENTRY)
		hlg_trace_get(&probe->rip, data.at, data.n, &item->value);
	return probe->kind != HLG_PROBE_PIO ||
	       hlg_probe_is_out(probe, &data, &item->value);
}

static inline __attribute__((always_inline)) void on_sample(void *ctx,
							    struct hlg_perfdata_raw *raw)
{
	const struct perf_event_attr *attr = raw->layout->attr;
	struct hlg_sample s = hlg_perfdata_sample(raw);
	struct hlg_turns_item item = {.time = s.time, .pid = s.pid, .tid = s.tid}, *next;
	struct reader *r = ctx;

	if (s.tid < 0 || s.time == HLG_NO_TIME)
		return;
	if (attr->type == PERF_TYPE_TRACEPOINT && !read_tracepoint(r, raw, &item))
		return;
	next = hlg_queue_next(&r->queue);
	if (!next) {
		r->lost = true;
		return;
	}
	*next = item;
	hlg_queue_pushed(&r->queue, item.time);
}

static int read_all(struct reader *r, struct hlg_perfdata *pd, struct hlg_err *err)
{
	static const struct hlg_perfdata_sink sink = {.event = on_event,
						      .round = on_round};
	int rc;

	r->pd = pd;
	if (hlg_perfdata_n_events(pd) && on_event(r, NULL, err) < 0)
		return 0;
	hlg_queue_init(&r->queue, sizeof(struct hlg_turns_item), hlg_turns_take,
		       r->turns);
	rc = hlg_perfdata_read(pd, on_sample, &sink, r, err);
	if (rc < 0 && r->none)
		rc = 0;
	if (rc == 0 && (!hlg_queue_end(&r->queue) || r->lost))
		rc = hlg_err_memory(err, r->path);
	hlg_queue_finish(&r->queue);
	return rc;
}

int hlg_turns_read(struct hlg_turns **turns, const char *path, bool each_run,
		   const char **why, struct hlg_err *err)
{
	struct reader r = {.path = path, .turns = hlg_turns_make(each_run)};
	struct hlg_perfdata *pd;
	int rc = 0;

	*turns = NULL;
	*why = "is read through a pipe, but must be read twice to tell sandboxes apart "
	       "(save it to a file)";
	if (!r.turns)
		return hlg_err_memory(err, path);
	/* Of what is not there the reader tells. */
	if (hlg_perfdata_is_kept(path) ||
	    (strcmp(path, "-") != 0 && access(path, F_OK) != 0)) {
		rc = hlg_perfdata_open(&pd, path, err);
		if (rc == 0) {
			rc = read_all(&r, pd, err);
			hlg_trace_close(r.trace);
			free(r.probes);
			hlg_perfdata_close(pd);
		}
		*why = r.partial ? "has only some of its KVM_RUNs, as -F was for them, "
				   "too (record with hlguest record --sandboxes)"
		       : r.known ? "has no KVM_RUN, though these were recorded (record "
				   "while a guest runs)"
				 : "has no KVM_RUN, which tells sandboxes apart (record "
				   "with hlguest record --sandboxes, --exits or "
				   "--guest-stacks)";
	}
	if (rc == 0 && hlg_turns_sandboxes(r.turns)->n)
		*turns = r.turns;
	else
		hlg_turns_free(r.turns);
	return rc;
}
