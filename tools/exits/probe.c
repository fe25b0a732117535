// SPDX-License-Identifier: GPL-2.0-only
#include "tools/exits/probe.h"

#include <string.h>

#define ARM_RET 0x1f /* of arm64's ret: what tells its values apart */

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
	const struct source *other;
	struct hlg_trace_field field;
	int rc;

	if (!(*source)->arm)
		return 0;
	rc = hlg_trace_find(trace, (*source)->name, (*source)->a, &field, err);
	other = find_source((*source)->name, false);
	if (rc == 0 && !field.size && other)
		*source = other;
	return rc;
}

static int find_field(const struct hlg_exits_probing *r, const struct source *source,
		      const char *name, bool needed, struct hlg_trace_field *field,
		      struct hlg_err *err)
{
	if (!name)
		return 0;
	return (needed ? hlg_trace_need : hlg_trace_find)(r->trace, source->name, name,
							  field, err);
}

/* What a sample of these lacks shows only when there is one. */
static int check_event(const struct hlg_exits_probing *r,
		       const struct hlg_perfdata_event *event,
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
static void make_code(struct hlg_exits_probe *p, bool arm)
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

static int find_fields(struct hlg_exits_probe *p, const struct hlg_exits_probing *r,
		       const struct source *s, struct hlg_err *err)
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

int hlg_exits_probe_make(struct hlg_exits_probe *probe, struct hlg_exits_probing *r,
			 const struct hlg_perfdata_event *event, const char *name,
			 struct hlg_err *err)
{
	const struct source *s = find_source(name, true);
	struct hlg_exits_probe p = {.c_is = UINT64_MAX};
	int rc;

	*probe = (struct hlg_exits_probe){0};
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

void hlg_exits_probe_place(struct hlg_exits_probe *p, const struct hlg_perfdata_layout *l)
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

bool hlg_exits_probe_fill(const struct hlg_exits_probe *p,
			  const struct hlg_perfdata_raw *raw, struct hlg_exits_item *item)
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
	hlg_exits_probe_set(item, p, v[0], v[1], v[2], v[3]);
	return true;
}

/* arm64: the reason is the exception class, if it was a trap. */
void hlg_exits_probe_settle_arm(struct hlg_exits_item *item)
{
	uint8_t ret = item->c & ARM_RET;

	item->c = ret == HLG_ARM_TRAP ? HLG_ISA_ARM_TRAP : HLG_ISA_ARM;
	if (item->c == HLG_ISA_ARM)
		item->b = ret == (HLG_ARM_HYP_GONE & ARM_RET) ? HLG_ARM_HYP_GONE : ret;
}
