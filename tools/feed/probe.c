// SPDX-License-Identifier: GPL-2.0-only
#include "tools/feed/probe.h"

#include <elf.h>
#include <linux/perf_event.h>

#define MMIO_WRITE 2 /* KVM_TRACE_MMIO_WRITE, include/trace/events/kvm.h */

/* Where a field of the probe stands; nowhere, if that is not known. Fails without memory.
 */
static int find(struct hlg_probe *probe, struct hlg_trace_field *field,
		const struct hlg_trace *trace, const char *event, const char *name,
		struct hlg_err *err)
{
	int rc = hlg_trace_find(trace, event, name, field, err);

	if (rc < 0)
		*field = (struct hlg_trace_field){0};
	probe->undecoded |= rc < 0;
	return rc == HLG_ESYSTEM ? rc : 0;
}

/* A tracepoint, and what its fields are called by x86 and by arm64
 * (arch/x86/kvm/trace.h, arch/arm64/kvm/trace_arm.h, include/trace/events/kvm.h). */
struct tracepoint {
	const char *name;
	enum hlg_probe_kind kind;
	const char *rip, *pc; /* pc: of arm64, where there is no rip */
	const char *port, *out;
	bool mmio;
};

static const struct tracepoint *find_tracepoint(const struct hlg_perfdata *pd,
						const struct hlg_perfdata_event *event)
{
	static const struct tracepoint tracepoints[] = {
		{"kvm:kvm_exit", HLG_PROBE_EXIT, "guest_rip", "vcpu_pc", NULL, NULL,
		 false},
		{"kvm:kvm_entry", HLG_PROBE_ENTRY, "rip", "vcpu_pc", NULL, NULL, false},
		{"kvm:kvm_emulate_insn", HLG_PROBE_EMULATE, "rip", NULL, NULL, NULL,
		 false},
		{"kvm:kvm_pio", HLG_PROBE_PIO, "val", NULL, "port", "rw", false},
		{"kvm:kvm_mmio", HLG_PROBE_PIO, "val", NULL, "gpa", "type", true},
	};

	if (event->attr.type != PERF_TYPE_TRACEPOINT ||
	    !(event->attr.sample_type & PERF_SAMPLE_RAW))
		return NULL;
	for (size_t i = 0; i < sizeof(tracepoints) / sizeof(tracepoints[0]); i++)
		if (strcmp(event->name, tracepoints[i].name) == 0)
			/* Ports are words of memory on AArch64 only. */
			return tracepoints[i].mmio && hlg_perfdata_host(pd)->machine !=
							      EM_AARCH64
				       ? NULL
				       : &tracepoints[i];
	return NULL;
}

static int find_fields(struct hlg_probe *probe, const struct hlg_trace *trace,
		       const struct tracepoint *tracepoint, struct hlg_err *err)
{
	const char *event = tracepoint->name;
	int rc = find(probe, &probe->rip, trace, event, tracepoint->rip, err);

	if (rc == 0 && !probe->rip.size && tracepoint->pc)
		rc = find(probe, &probe->rip, trace, event, tracepoint->pc, err);
	if (rc == 0 && tracepoint->port)
		rc = find(probe, &probe->port, trace, event, tracepoint->port, err);
	if (rc == 0 && tracepoint->out)
		rc = find(probe, &probe->out, trace, event, tracepoint->out, err);
	return rc;
}

int hlg_probe_find(struct hlg_probe *probe, struct hlg_trace **trace,
		   const struct hlg_perfdata *pd, const char *path,
		   const struct hlg_perfdata_event *event, struct hlg_err *err)
{
	const struct tracepoint *tracepoint = find_tracepoint(pd, event);
	int rc = 0;

	*probe = (struct hlg_probe){.kind = HLG_PROBE_NONE};
	if (!tracepoint)
		return 0;
	probe->kind = tracepoint->kind;
	probe->mmio = tracepoint->mmio;
	if (!*trace)
		rc = hlg_trace_open(trace, pd, path, "hlguest record --exits", err);
	probe->undecoded = rc < 0;
	if (rc < 0)
		return rc == HLG_ESYSTEM ? rc : 0;
	return find_fields(probe, *trace, tracepoint, err);
}

bool hlg_probe_is_out(const struct hlg_probe *probe, const struct hlg_perfdata_bytes *raw,
		      uint64_t *port)
{
	uint64_t out;

	if (probe->kind != HLG_PROBE_PIO ||
	    !hlg_trace_get(&probe->port, raw->at, raw->n, port) ||
	    !hlg_trace_get(&probe->out, raw->at, raw->n, &out))
		return false;
	return probe->mmio ? out == MMIO_WRITE && hlg_ports_of_word(port) : out != 0;
}

void hlg_probe_count(const struct hlg_probe *probe, struct hlg_profile *profile,
		     const struct hlg_sample *sample, bool selected,
		     const struct hlg_perfdata_bytes *raw)
{
	uint64_t ip, port = 0;
	const bool out = hlg_probe_is_out(probe, raw, &port);
	const bool pio = probe->kind == HLG_PROBE_PIO;
	const bool entry = probe->kind == HLG_PROBE_ENTRY;

	if (out && selected)
		hlg_ports_out(&profile->transits.ports, port);
	if (!hlg_trace_get(&probe->rip, raw->at, raw->n, &ip))
		return;
	if (entry || (out && port == HLG_PORT_HALT))
		hlg_starts_add(&profile->starts,
			       (struct hlg_start){.ip = ip,
						  .time = sample->time == HLG_NO_TIME
								  ? 0
								  : sample->time,
						  .tid = sample->tid,
						  .sandbox = sample->sandbox,
						  .halt = pio});
	if (!pio && selected)
		hlg_transits_add(&profile->transits,
				 (struct hlg_transit){
					 .ip = ip,
					 .exits = probe->kind == HLG_PROBE_EXIT,
					 .entries = entry,
					 .emulated = probe->kind == HLG_PROBE_EMULATE});
}
