// SPDX-License-Identifier: GPL-2.0-only
#include "tools/exits/read.h"

#include <stdlib.h>

#include "filter/profile/profile.h"
#include "filter/profile/select.h"
#include "tools/exits/probe.h"
#include "tools/feed/lacks.h"
#include "tools/feed/turns-read.h"
#include "tools/feed/window.h"
#include "tools/perfdata/perfdata.h"
#include "tools/tracepoint/trace.h"

struct reader {
	const char *path;
	struct hlg_perfdata *pd;
	const struct hlg_options *options;
	struct hlg_select_window window; /* of pairs */
	bool restricts;
	struct hlg_trace *trace;
	struct hlg_exits_probing probing;
	struct hlg_exits_probe *probes; /* by the reader's number of the event */
	uint32_t n_probes;
	struct hlg_exits_pairing pairing;
	struct hlg_exits_counts *counts;
	struct hlg_progress *progress;
	bool begun; /* hlg_exits_check has come to a sample */
};

/* A name is perf's, or the user's own; the number is the kernel's. */
static int add_event(struct reader *r, uint32_t index, struct hlg_err *err)
{
	const struct hlg_perfdata_event *event = hlg_perfdata_event(r->pd, index);
	const char *name = event->name;
	struct hlg_exits_probe *p = &r->probes[index];
	int rc = 0;

	if (event->attr.type != PERF_TYPE_TRACEPOINT)
		return 0;
	if (!r->trace)
		rc = hlg_trace_open(&r->trace, r->pd, r->path, HLG_EXITS_HOW, err);
	if (rc < 0)
		return rc;
	if (hlg_trace_name(r->trace, event->attr.config))
		name = hlg_trace_name(r->trace, event->attr.config);
	r->probing.trace = r->trace;
	r->probing.path = r->path;
	rc = hlg_exits_probe_make(p, &r->probing, event, name, err);
	if (rc < 0)
		return rc;
	if (p->record == HLG_EXITS_EXIT) {
		r->counts->no_rip |= !p->a.size;
		r->counts->no_isa |= !p->c.size;
	}
	r->counts->no_vcpu |= p->has_vcpu && !p->vcpu.size;
	r->pairing.has_runs |= p->record == HLG_EXITS_RUN;
	r->pairing.has_entries |= p->record == HLG_EXITS_ENTRY;
	return 0;
}

/* All events that are known by now: in pipe mode those before the first sample. */
static int add_events(struct reader *r, struct hlg_err *err)
{
	uint32_t n = hlg_perfdata_n_events(r->pd);
	struct hlg_exits_probe *more =
		reallocarray(r->probes, (size_t)n + 1, sizeof(*more));
	int rc = 0;

	if (!more)
		return hlg_err_memory(err, r->path);
	r->probes = more;
	memset(more + r->n_probes, 0, (n - r->n_probes) * sizeof(*more));
	for (uint32_t i = r->n_probes; rc == 0 && i < n; i++)
		rc = add_event(r, i, err);
	r->n_probes = n;
	/* One of the two is not enough to tell vCPUs apart by. */
	for (uint32_t i = 0; r->counts->no_vcpu && i < n; i++) {
		r->probes[i].vcpu = (struct hlg_trace_field){0};
		r->probes[i].no_vcpu = HLG_NO_VCPU;
		r->probes[i].placed = false;
	}
	return rc;
}

static int on_event(void *ctx, const struct hlg_perfdata_event *event,
		    struct hlg_err *err)
{
	struct reader *r = ctx;

	return event->index >= r->n_probes ? add_events(r, err) : 0;
}

static int on_lost(void *ctx, const struct hlg_perfdata_lost *lost, struct hlg_err *err)
{
	struct reader *r = ctx;
	bool known = lost->cpu >= 0 && lost->cpu < HLG_ANY_CPU;

	(void)err;
	if (lost->time != HLG_NO_TIME)
		hlg_exits_lose(&r->pairing, lost->time,
			       known ? (uint16_t)lost->cpu : HLG_ANY_CPU);
	return 0;
}

static int on_round(void *ctx, struct hlg_err *err)
{
	struct reader *r = ctx;

	(void)err;
	hlg_exits_round(&r->pairing);
	return 0;
}

static int on_progress(void *ctx, uint64_t bytes, uint64_t samples, struct hlg_err *err)
{
	const struct reader *r = ctx;

	(void)err;
	hlg_progress_add(r->progress, bytes, samples);
	return 0;
}

static bool is_wanted(const struct reader *r, const struct hlg_perfdata_raw *raw)
{
	struct hlg_sample sample = hlg_perfdata_sample(raw);

	/* time= selects pairs, not halves. */
	sample.time = r->window.start;
	return hlg_select_keeps(r->options, &r->window, &sample);
}

/* A sample of a guest: it shows where the guest's ELF lies. */
static void take_sample(struct reader *r, const struct hlg_perfdata_raw *raw)
{
	struct hlg_sample sample = hlg_perfdata_sample(raw);

	if (!r->counts->samples || !hlg_sample_is_guest(sample.cpumode))
		return;
	sample.event = r->counts->samples_event;
	hlg_profile_add(r->counts->samples, &sample);
	r->counts->n_samples++;
}

/* Any sample, step by step. */
static void take(struct reader *r, const struct hlg_perfdata_raw *raw)
{
	struct hlg_exits_probe *p = &r->probes[raw->event];
	const struct hlg_perfdata_layout *l = raw->layout;
	struct hlg_exits_item item = {.cpu = HLG_ANY_CPU}, *next;

	if (r->restricts && !is_wanted(r, raw))
		return;
	if (!p->record)
		take_sample(r, raw);
	if (!p->record)
		return;
	if (!r->restricts)
		hlg_exits_probe_place(p, l);
	item.time = hlg_perfdata_u64(raw->record + l->time);
	item.thread = hlg_perfdata_u64(raw->record + l->tid);
	if (l->cpu)
		item.cpu = (uint16_t)hlg_perfdata_u32(raw->record + l->cpu);
	if (!hlg_exits_probe_fill(p, raw, &item)) {
		r->pairing.sums->lone.bad++;
		hlg_exits_lose_at(&r->pairing, item.time);
		return;
	}
	next = hlg_exits_probe_settle(&item) ? hlg_exits_next(&r->pairing) : NULL;
	if (!next)
		return;
	*next = item;
	hlg_exits_pushed(&r->pairing, next);
}

/* A copy: what a call could change would be kept in memory, for all samples. */
static __attribute__((noinline)) void take_other(struct reader *r, const uint8_t *record,
						 const struct hlg_perfdata_layout *layout,
						 uint64_t ip, uint32_t event,
						 uint32_t misc)
{
	/* struct perf_event_header: u32 type, u16 misc, u16 size */
	uint32_t size = hlg_perfdata_u32(record + 4) >> 16;

	take(r, &(const struct hlg_perfdata_raw){.record = record,
						 .layout = layout,
						 .ip = ip,
						 .event = event,
						 .size = size,
						 .misc = misc});
}

/* Straight to where it waits. */
static inline __attribute__((always_inline)) void on_sample(void *ctx,
							    struct hlg_perfdata_raw *raw)
{
	struct reader *r = ctx;
	const struct hlg_exits_probe *p = &r->probes[raw->event];
	struct hlg_exits_item *item = p->placed ? hlg_exits_next(&r->pairing) : NULL;

	if (item && hlg_exits_probe_take(p, raw, item)) {
		if (hlg_exits_probe_settle(item))
			hlg_exits_pushed(&r->pairing, item);
		return;
	}
	take_other(r, raw->record, raw->layout, raw->ip, raw->event, raw->misc);
}

/* Pairs need both halves of one kind at least. */
static int check_records(const struct reader *r, struct hlg_err *err)
{
	bool any[HLG_EXITS_RECORDS] = {0};
	const char *lacks = NULL;

	for (uint32_t i = 0; i < r->n_probes; i++)
		any[r->probes[i].record] = true;
	r->counts->no_runs |= any[HLG_EXITS_USER] && !any[HLG_EXITS_RUN];
	if (any[HLG_EXITS_USER] && (any[HLG_EXITS_RUN] || any[HLG_EXITS_ENTRY]))
		return 0;
	if (any[HLG_EXITS_EXIT] && any[HLG_EXITS_ENTRY])
		return 0;
	if (any[HLG_EXITS_EXIT])
		lacks = "kvm:kvm_entry";
	else if (any[HLG_EXITS_ENTRY])
		lacks = "kvm:kvm_exit";
	else if (any[HLG_EXITS_USER])
		lacks = "syscalls:sys_enter_ioctl";
	else
		lacks = "kvm:kvm_exit and no kvm:kvm_userspace_exit";
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: has no %s (record it with " HLG_EXITS_HOW ")", r->path,
			   lacks);
}

static int read_all(struct reader *r, struct hlg_err *err)
{
	static const struct hlg_perfdata_sink sink = {.event = on_event,
						      .lost = on_lost,
						      .round = on_round,
						      .progress = on_progress};
	const struct hlg_perfdata_counts *counts = hlg_perfdata_counts(r->pd);
	int rc;

	if (hlg_perfdata_host(r->pd)->directory)
		r->pairing.queue.limit = SIZE_MAX;
	rc = add_events(r, err);
	if (rc == 0)
		rc = hlg_perfdata_read(r->pd, on_sample, &sink, r, err);
	if (rc == 0)
		rc = check_records(r, err);
	if (rc < 0)
		return rc;
	hlg_exits_end(&r->pairing);
	r->counts->lacks.recordings = 1;
	hlg_lacks_set(&r->counts->lacks, counts);
	return r->pairing.sums->no_memory ? hlg_err_memory(err, r->path) : 0;
}

/* The first sample: all events before it are known. */
static int on_record(void *ctx, const uint8_t *record, uint16_t size,
		     const struct hlg_perfdata_layout *layout, struct hlg_err *err)
{
	struct reader *r = ctx;

	(void)record;
	(void)size;
	r->begun = layout;
	/* Nobody else sees that error: it is how reading ends here. */
	return layout ? hlg_err_set(err, HLG_EINPUT, "%s: a sample", r->path) : 0;
}

int hlg_exits_check(const char *path, struct hlg_err *err)
{
	static const struct hlg_perfdata_sink sink = {.event = on_event,
						      .record = on_record};
	struct hlg_exits_counts counts = {0};
	struct reader r = {.path = path, .counts = &counts};
	int rc = hlg_perfdata_open(&r.pd, path, err);

	if (rc < 0)
		return rc;
	rc = add_events(&r, err);
	if (rc == 0 && r.n_probes == 0)
		rc = hlg_perfdata_read(r.pd, hlg_perfdata_no_sample, &sink, &r, err);
	if (r.begun)
		rc = 0;
	if (rc == 0)
		rc = check_records(&r, err);
	hlg_trace_close(r.trace);
	free(r.probes);
	hlg_perfdata_close(r.pd);
	return rc;
}

/* Who ran what when, where sandboxes are selected. */
static int read_turns(struct hlg_turns **turns, const char *path, struct hlg_err *err)
{
	const char *why;
	int rc = hlg_turns_read(turns, path, true, &why, err);

	return rc == 0 && !*turns ? hlg_err_set(err, HLG_EINPUT, "%s: %s", path, why)
				  : rc;
}

/* With what is open, which stays so. */
static int read_pairs(struct reader *r, const struct hlg_options *options,
		      struct hlg_exits_sums *sums, struct hlg_err *err)
{
	struct hlg_turns *turns = NULL;
	const bool by_sandbox = options->by & HLG_BY_SANDBOX;
	int rc = options->sandbox.n || by_sandbox ? read_turns(&turns, r->path, err) : 0;

	if (rc < 0)
		return rc;
	hlg_exits_begin(&r->pairing, sums);
	r->pairing.start = r->window.start;
	r->pairing.stop = r->window.stop;
	r->pairing.sandboxes = options->sandbox.n ? &options->sandbox : NULL;
	r->pairing.by_sandbox = by_sandbox;
	r->pairing.turns = turns;
	rc = read_all(r, err);
	hlg_exits_finish(&r->pairing);
	hlg_turns_free(turns);
	return rc;
}

int hlg_exits_read(const char *path, const struct hlg_options *options,
		   struct hlg_progress *progress, struct hlg_exits_sums *sums,
		   struct hlg_exits_counts *counts, struct hlg_err *err)
{
	/* sandbox= selects pairs, as time= does: the other half is one's own. */
	struct hlg_options of_records = *options;
	struct reader r = {.path = path,
			   .options = &of_records,
			   .counts = counts,
			   .progress = progress};
	int rc = hlg_feed_window(&r.window, path, options, err);

	of_records.sandbox = (struct hlg_number_list){0};
	r.restricts = hlg_select_restricts(&of_records);
	if (rc == 0)
		rc = hlg_perfdata_open(&r.pd, path, err);
	if (rc < 0)
		return rc;
	rc = read_pairs(&r, options, sums, err);
	hlg_trace_close(r.trace);
	free(r.probes);
	hlg_perfdata_close(r.pd);
	return rc;
}
