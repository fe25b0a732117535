/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How an event of a recording becomes an item of pair.h: which tracepoint it is, what its
 * fields are called on the recording's kernel, and where they stand in its records.
 */
#ifndef HLG_TOOLS_EXITS_PROBE_H
#define HLG_TOOLS_EXITS_PROBE_H

#include <linux/kvm.h>

#include "tools/exits/pair.h"
#include "tools/exits/reasons.h"
#include "tools/perfdata/perfdata.h"
#include "tools/tracepoint/trace.h"

/* An event of a recording: where its fields stand. */
struct hlg_exits_probe {
	uint8_t record; /* enum hlg_exits_record */
	bool has_vcpu;  /* on kernels of today */
	struct hlg_trace_field a, b, c, vcpu;
	uint64_t no_vcpu; /* HLG_NO_VCPU if vcpu is absent */
	uint64_t c_is;    /* the value of c that makes it 1; see make_code, probe.c */
	uint8_t c_mask, c_plus;
	/*
	 * Set by hlg_exits_probe_place, in bytes from a record's start: the fields; the
	 * length of the raw data, how long these must be for all of the fields to be
	 * loaded, and the rest.
	 */
	bool placed;
	uint16_t raw, tid, time, cpu;
	uint32_t needs;
	struct hlg_trace_load load[4];
};

/* Of a recording; found is zero when it begins. */
struct hlg_exits_probing {
	const struct hlg_trace *trace;
	const char *path; /* of the recording, for messages */
	/* By record: what was found. Events of one tracepoint may be many. */
	struct hlg_exits_probe found[HLG_EXITS_RECORDS];
};

/*
 * Of an event that is called name (as the kernel does); record is HLG_EXITS_NONE if it is
 * of no interest. Fails if its samples or its format lack what is needed.
 */
int hlg_exits_probe_make(struct hlg_exits_probe *probe, struct hlg_exits_probing *probing,
			 const struct hlg_perfdata_event *event, const char *name,
			 struct hlg_err *err);

/*
 * Where all that is wanted stands in records of this layout, if that is the same in each;
 * else placed stays false. To be forgotten (placed = false) when a field is taken out.
 */
void hlg_exits_probe_place(struct hlg_exits_probe *probe,
			   const struct hlg_perfdata_layout *layout);

/* Sets all of item that is of the event's fields; false if the raw data are too short for
 * what is needed. */
bool hlg_exits_probe_fill(const struct hlg_exits_probe *probe,
			  const struct hlg_perfdata_raw *raw,
			  struct hlg_exits_item *item);

/* Of arm64; see hlg_exits_probe_settle. */
void hlg_exits_probe_settle_arm(struct hlg_exits_item *item);

/* Only a can be negative. */
static inline __attribute__((always_inline)) void hlg_exits_probe_set(
	struct hlg_exits_item *item, const struct hlg_exits_probe *p, uint64_t a,
	uint64_t b, uint64_t c, uint64_t vcpu)
{
	uint8_t code = (uint8_t)(c & p->c_mask) | p->c_plus | (c == p->c_is);

	item->a = a;
	item->b = (uint32_t)b;
	item->vcpu = (uint32_t)(vcpu | p->no_vcpu);
	item->kind = p->record;
	item->c = code;
}

/* All of item, of an event that is placed. False says nothing yet: its raw data may be
 * short, which hlg_exits_probe_fill tells. */
static inline __attribute__((always_inline)) bool hlg_exits_probe_take(
	const struct hlg_exits_probe *p, const struct hlg_perfdata_raw *raw,
	struct hlg_exits_item *item)
{
	const uint8_t *record = raw->record;
	uint32_t n = hlg_perfdata_u32(record + p->raw);

	item->time = hlg_perfdata_u64(record + p->time);
	item->thread = hlg_perfdata_u64(record + p->tid);
	item->cpu = (uint16_t)hlg_perfdata_u32(record + p->cpu);
	if (n < p->needs || (uint64_t)n + p->raw + sizeof(n) > raw->size)
		return false;
	hlg_exits_probe_set(item, p, hlg_trace_loaded(&p->load[0], record),
			    hlg_trace_bits(&p->load[1], record),
			    hlg_trace_bits(&p->load[2], record),
			    hlg_trace_bits(&p->load[3], record));
	return true;
}

/* What the fields of a complete item mean; false: it means nothing. */
static inline __attribute__((always_inline)) bool hlg_exits_probe_settle(
	struct hlg_exits_item *item)
{
	int64_t error = (int64_t)item->a;

	if (item->kind == HLG_EXITS_EXIT && item->c & HLG_ISA_ARM)
		hlg_exits_probe_settle_arm(item);
	/* KVM_RUN may have failed: then its errno is the reason. */
	if (error < 0 && item->kind == HLG_EXITS_USER) {
		item->b = (uint32_t)(0 - item->a);
		item->c = HLG_ISA_ERRNO;
	}
	return item->kind != HLG_EXITS_RUN || item->b == KVM_RUN ||
	       item->b == KVM_CREATE_VCPU;
}

#endif
