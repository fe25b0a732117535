// SPDX-License-Identifier: GPL-2.0-only
#include "tools/exits/read.h"

#include <linux/kvm.h>
#include <stdlib.h>

#include "filter/profile/profile.h"
#include "filter/profile/select.h"
#include "tools/exits/pair.h"
#include "tools/exits/reasons.h"
#include "tools/feed/lacks.h"
#include "tools/feed/turns-read.h"
#include "tools/feed/window.h"
#include "tools/perfdata/perfdata.h"
#include "tools/tracepoint/trace.h"

#define ARM_RET 0x1f /* of arm64's ret: what tells its values apart */

/* An event of a recording: where its fields stand. */
struct probe {
	uint8_t record; /* enum hlg_exits_record */
	bool has_vcpu;  /* on kernels of today */
	struct hlg_trace_field a, b, c, vcpu;
	uint64_t no_vcpu; /* HLG_NO_VCPU if vcpu is absent */
	uint64_t c_is;    /* the value of c that makes it 1; see make_code */
	uint8_t c_mask, c_plus;
	/*
	 * Set by place_probe, in bytes from a record's start: the fields; the
	 * length of the raw data, how long these must be for all of the fields to be
	 * loaded, and the rest.
	 */
	bool placed;
	uint16_t raw, tid, time, cpu;
	uint32_t needs;
	struct hlg_trace_load load[4];
};

struct probing {
	const struct hlg_trace *trace;
	const char *path; /* of the recording, for messages */
	/* By record: what was found. Events of one tracepoint may be many. */
	struct probe found[HLG_EXITS_RECORDS];
};

/* A tracepoint of interest: what it is here, and what its fields are called. */
struct source {
	const char *name;
	uint8_t record;
	const char *a, *b, *c, *vcpu; /* as in struct hlg_exits_item; NULL: none */
	bool needs_a;                 /* b always is needed, if there is a name */
	/* Of arm64, whose events have the same names and other fields
	 * (arch/arm64/kvm/trace_arm.h): a is what tells. c is needed, too. */
	bool arm;
};

static const struct source sources[] = {
	/* ahead of x86's */
	{"kvm:kvm_exit", HLG_EXITS_EXIT, "vcpu_pc", "esr_ec", "ret", "vcpu_id", true,
	 true},
	{"kvm:kvm_entry", HLG_EXITS_ENTRY, "vcpu_pc", NULL, NULL, "vcpu_id", true, true},
	{"kvm:kvm_exit", HLG_EXITS_EXIT, "guest_rip", "exit_reason", "isa", "vcpu_id",
	 false, false},
	{"kvm:kvm_entry", HLG_EXITS_ENTRY, "rip", NULL, NULL, "vcpu_id", false, false},
	{"kvm:kvm_pio", HLG_EXITS_PIO, NULL, "port", "rw", NULL, false, false},
	{"kvm:kvm_mmio", HLG_EXITS_MMIO, "gpa", "type", "type", NULL, true, false},
	{"kvm:kvm_userspace_exit", HLG_EXITS_USER, "errno", "reason", NULL, NULL, true,
	 false},
	{"syscalls:sys_enter_ioctl", HLG_EXITS_RUN, "fd", "cmd", NULL, NULL, false,
	 false},
	{"kvm:kvm_emulate_insn", HLG_EXITS_INSN, "rip", NULL, NULL, NULL, true, false},
};

enum {
	N_SOURCES = sizeof(sources) / sizeof(sources[0])
};

static const struct source *find_source(const char *name, bool arm)
{
	for (size_t i = 0; i < N_SOURCES; i++)
		if (strcmp(sources[i].name, name) == 0 && (arm || !sources[i].arm))
			return &sources[i];
	return NULL;
}

/* Of events of one name on two machines, which is the recording's? */
static int choose_machine(const struct hlg_trace *trace, const struct source **source,
			  struct hlg_err *err)
{
	struct hlg_trace_field field;
	int rc;

	if (!(*source)->arm)
		return 0;
	rc = hlg_trace_find(trace, (*source)->name, (*source)->a, &field, err);
	if (rc == 0 && !field.size)
		*source = find_source((*source)->name, false);
	return rc;
}

static int find_field(const struct probing *r, const struct source *source,
		      const char *name, bool needed, struct hlg_trace_field *field,
		      struct hlg_err *err)
{
	if (!name)
		return 0;
	return (needed ? hlg_trace_need : hlg_trace_find)(r->trace, source->name, name,
							  field, err);
}

/* What a sample of these lacks shows only when there is one. */
static int check_event(const struct probing *r, const struct hlg_perfdata_event *event,
		       const struct source *source, struct hlg_err *err)
{
	const char *lacks = NULL;

	if (!(event->attr.sample_type & PERF_SAMPLE_RAW))
		lacks = "fields (raw data)";
	else if (!(event->attr.sample_type & PERF_SAMPLE_TIME))
		lacks = "times";
	else if (!(event->attr.sample_type & PERF_SAMPLE_TID))
		lacks = "threads";
	if (!lacks)
		return 0;
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: %s was recorded without %s (record it with " HLG_EXITS_HOW
			   ")",
			   r->path, source->name, lacks);
}

/* How item->c comes of the field c; without branches, as kinds of records alternate. */
static void make_code(struct probe *p, bool arm)
{
	switch (p->record) {
	case HLG_EXITS_EXIT:
		p->c_mask = arm ? ARM_RET : HLG_ISA_ARM - 1;
		p->c_plus = arm ? HLG_ISA_ARM : p->a.size ? 0 : HLG_EXITS_NO_RIP;
		break;
	case HLG_EXITS_PIO:
		p->c_is = p->c.size ? 0 : UINT64_MAX; /* rw: 0 is a read */
		break;
	case HLG_EXITS_MMIO:
		p->c_is = 1; /* type: 0 read begins, 1 read, 2 write */
		break;
	default:
		p->c_plus = HLG_ISA_USER;
		break;
	}
}

static int find_fields(struct probe *p, const struct probing *r, const struct source *s,
		       struct hlg_err *err)
{
	int rc = find_field(r, s, s->a, s->needs_a, &p->a, err);

	if (rc == 0)
		rc = find_field(r, s, s->b, true, &p->b, err);
	if (rc == 0)
		rc = find_field(r, s, s->c, s->arm, &p->c, err);
	if (rc == 0)
		rc = find_field(r, s, s->vcpu, false, &p->vcpu, err);
	return rc;
}

/*
 * Of an event that is called name (as the kernel does); record is HLG_EXITS_NONE if it is
 * of no interest. Fails if its samples or its format lack what is needed.
 */
static int make_probe(struct probe *probe, struct probing *r,
		      const struct hlg_perfdata_event *event, const char *name,
		      struct hlg_err *err)
{
	const struct source *s = find_source(name, true);
	struct probe p = {.c_is = UINT64_MAX};
	int rc;

	*probe = (struct probe){0};
	if (!s)
		return 0;
	rc = check_event(r, event, s, err);
	if (rc == 0)
		rc = choose_machine(r->trace, &s, err);
	if (rc == 0 && !r->found[s->record].record) {
		p.record = s->record;
		p.has_vcpu = s->vcpu;
		rc = find_fields(&p, r, s, err);
		if (rc < 0)
			return rc;
		make_code(&p, s->arm);
		p.no_vcpu = p.vcpu.size ? 0 : HLG_NO_VCPU;
		r->found[s->record] = p;
	}
	if (rc == 0)
		*probe = r->found[s->record];
	return rc;
}

/*
 * Where all that is wanted stands in records of this layout, if that is the same in each;
 * else placed stays false. To be forgotten (placed = false) when a field is taken out.
 */
static void place_probe(struct probe *p, const struct hlg_perfdata_layout *l)
{
	const struct hlg_trace_field *const fields[] = {&p->a, &p->b, &p->c, &p->vcpu};

	p->needs = 0;
	for (int i = 0; i < 4; i++) {
		uint64_t needs;

		p->load[i] = hlg_trace_load(fields[i]);
		needs = hlg_trace_needs(&p->load[i]);
		if (needs > p->needs)
			p->needs = (uint32_t)needs;
		/* PERF_SAMPLE_RAW: u32 size, and that many bytes */
		p->load[i].offset += l->raw + 4u;
	}
	p->raw = l->raw;
	p->tid = l->tid;
	p->time = l->time;
	p->cpu = l->cpu;
	p->placed = l->raw && l->tid && l->time && l->cpu;
}

struct reader {
	const char *path;
	struct hlg_perfdata *pd;
	const struct hlg_options *options;
	struct hlg_select_window window; /* of pairs */
	bool restricts;
	struct hlg_trace *trace;
	struct probing probing;
	struct probe *probes; /* by the reader's number of the event */
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
	struct probe *p = &r->probes[index];
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
	rc = make_probe(p, &r->probing, event, name, err);
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
	struct probe *more = reallocarray(r->probes, (size_t)n + 1, sizeof(*more));
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

static inline __attribute__((always_inline)) void set_fields(struct hlg_exits_item *item,
							     const struct probe *p,
							     uint64_t a, uint64_t b,
							     uint64_t c, uint64_t vcpu)
{
	uint8_t code = (uint8_t)(c & p->c_mask) | p->c_plus | (c == p->c_is);

	item->a = a;
	item->b = (uint32_t)b;
	item->vcpu = (uint32_t)(vcpu | p->no_vcpu);
	item->kind = p->record;
	item->c = code;
}

/* False if the raw data are too short for what is needed. Only a can be negative. */
static bool fill(const struct probe *p, const struct hlg_perfdata_raw *raw,
		 struct hlg_exits_item *item)
{
	const struct hlg_trace_field *const fields[] = {&p->a, &p->b, &p->c, &p->vcpu};
	struct hlg_perfdata_bytes data;
	uint64_t v[4] = {0};

	if (!hlg_perfdata_data(raw, &data))
		return false;
	for (int i = 0; i < 4; i++) {
		if (fields[i]->size && !hlg_trace_get(fields[i], data.at, data.n, &v[i]))
			return false;
		if (i > 0)
			v[i] &= hlg_trace_load(fields[i]).mask;
	}
	set_fields(item, p, v[0], v[1], v[2], v[3]);
	return true;
}

/* The same where all of them stand in known places; false then says nothing yet. */
static inline __attribute__((always_inline)) bool fill_placed(const struct probe *p,
							      const uint8_t *record,
							      uint32_t size,
							      struct hlg_exits_item *item)
{
	uint32_t n = hlg_perfdata_u32(record + p->raw);

	if (n < p->needs || (uint64_t)n + p->raw + sizeof(n) > size)
		return false;
	set_fields(item, p, hlg_trace_loaded(&p->load[0], record),
		   hlg_trace_bits(&p->load[1], record),
		   hlg_trace_bits(&p->load[2], record),
		   hlg_trace_bits(&p->load[3], record));
	return true;
}

/* arm64: the reason is the exception class, if it was a trap. */
static void settle_arm(struct hlg_exits_item *item)
{
	uint8_t ret = item->c & ARM_RET;

	item->c = ret == HLG_ARM_TRAP ? HLG_ISA_ARM_TRAP : HLG_ISA_ARM;
	if (item->c == HLG_ISA_ARM)
		item->b = ret == (HLG_ARM_HYP_GONE & ARM_RET) ? HLG_ARM_HYP_GONE : ret;
}

/* A record is complete, its fields are not what they mean yet; false: it means nothing.
 */
static inline __attribute__((always_inline)) bool settle(struct hlg_exits_item *item)
{
	int64_t error = (int64_t)item->a;

	if (item->kind == HLG_EXITS_EXIT && item->c & HLG_ISA_ARM)
		settle_arm(item);
	/* KVM_RUN may have failed: then its errno is the reason. */
	if (error < 0 && item->kind == HLG_EXITS_USER) {
		item->b = (uint32_t)(0 - item->a);
		item->c = HLG_ISA_ERRNO;
	}
	return item->kind != HLG_EXITS_RUN || item->b == KVM_RUN ||
	       item->b == KVM_CREATE_VCPU;
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
	struct probe *p = &r->probes[raw->event];
	const struct hlg_perfdata_layout *l = raw->layout;
	struct hlg_exits_item item = {.cpu = HLG_ANY_CPU}, *next;

	if (r->restricts && !is_wanted(r, raw))
		return;
	if (!p->record)
		take_sample(r, raw);
	if (!p->record)
		return;
	if (!r->restricts)
		place_probe(p, l);
	item.time = hlg_perfdata_u64(raw->record + l->time);
	item.thread = hlg_perfdata_u64(raw->record + l->tid);
	if (l->cpu)
		item.cpu = (uint16_t)hlg_perfdata_u32(raw->record + l->cpu);
	if (!fill(p, raw, &item)) {
		r->pairing.sums->lone.bad++;
		hlg_exits_lose_at(&r->pairing, item.time);
		return;
	}
	next = settle(&item) ? hlg_exits_next(&r->pairing) : NULL;
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

/* What is plain into *item; false, and nothing is done, if it is not. */
static inline __attribute__((always_inline)) bool take_placed(
	const struct probe *p, const struct hlg_perfdata_raw *raw,
	struct hlg_exits_item *item)
{
	item->time = hlg_perfdata_u64(raw->record + p->time);
	item->thread = hlg_perfdata_u64(raw->record + p->tid);
	item->cpu = (uint16_t)hlg_perfdata_u32(raw->record + p->cpu);
	return fill_placed(p, raw->record, raw->size, item);
}

/* Straight to where it waits. */
static inline __attribute__((always_inline)) void on_sample(void *ctx,
							    struct hlg_perfdata_raw *raw)
{
	struct reader *r = ctx;
	const struct probe *p = &r->probes[raw->event];
	struct hlg_exits_item *item = p->placed ? hlg_exits_next(&r->pairing) : NULL;

	if (item && take_placed(p, raw, item)) {
		if (settle(item))
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

/* The sink has no plain samples: on_record() gets them. */
static inline __attribute__((always_inline)) void on_none(void *ctx,
							  struct hlg_perfdata_raw *raw)
{
	(void)ctx;
	(void)raw;
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
		rc = hlg_perfdata_read(r.pd, on_none, &sink, &r, err);
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
	int rc = options->sandbox.n ? read_turns(&turns, r->path, err) : 0;

	if (rc < 0)
		return rc;
	hlg_exits_begin(&r->pairing, sums);
	r->pairing.start = r->window.start;
	r->pairing.stop = r->window.stop;
	r->pairing.sandboxes = turns ? &options->sandbox : NULL;
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
