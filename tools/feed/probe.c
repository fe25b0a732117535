// SPDX-License-Identifier: GPL-2.0-only
#include "tools/feed/probe.h"

#include <linux/perf_event.h>

/* Where a field stands; nowhere, if that is not known. Fails without memory. */
static int find(struct hlg_trace_field *field, const struct hlg_trace *trace,
		const char *event, const char *name, struct hlg_err *err)
{
	int rc = hlg_trace_find(trace, event, name, field, err);

	if (rc < 0)
		*field = (struct hlg_trace_field){0};
	return rc == HLG_ESYSTEM ? rc : 0;
}

static enum hlg_probe_kind kind_of(const struct hlg_perfdata_event *event)
{
	static const char *const names[] = {[HLG_PROBE_EXIT] = "kvm:kvm_exit",
					    [HLG_PROBE_ENTRY] = "kvm:kvm_entry",
					    [HLG_PROBE_PIO] = "kvm:kvm_pio"};

	if (event->attr.type != PERF_TYPE_TRACEPOINT ||
	    !(event->attr.sample_type & PERF_SAMPLE_RAW))
		return HLG_PROBE_NONE;
	for (int kind = HLG_PROBE_EXIT; kind <= HLG_PROBE_PIO; kind++)
		if (strcmp(event->name, names[kind]) == 0)
			return (enum hlg_probe_kind)kind;
	return HLG_PROBE_NONE;
}

int hlg_probe_find(struct hlg_probe *probe, struct hlg_trace **trace,
		   const struct hlg_perfdata *pd, const char *path,
		   const struct hlg_perfdata_event *event, struct hlg_err *err)
{
	static const char *const addresses[] = {[HLG_PROBE_EXIT] = "guest_rip",
						[HLG_PROBE_ENTRY] = "rip",
						[HLG_PROBE_PIO] = "val"};
	int rc = 0;

	*probe = (struct hlg_probe){.kind = kind_of(event)};
	if (probe->kind == HLG_PROBE_NONE)
		return 0;
	if (!*trace)
		rc = hlg_trace_open(trace, pd, path, "hlguest record --exits", err);
	if (rc < 0)
		return rc == HLG_ESYSTEM ? rc : 0;
	rc = find(&probe->rip, *trace, event->name, addresses[probe->kind], err);
	if (rc == 0 && probe->kind == HLG_PROBE_PIO)
		rc = find(&probe->port, *trace, event->name, "port", err);
	if (rc == 0 && probe->kind == HLG_PROBE_PIO)
		rc = find(&probe->out, *trace, event->name, "rw", err);
	return rc;
}

bool hlg_probe_is_out(const struct hlg_probe *probe, const struct hlg_perfdata_bytes *raw,
		      uint64_t *port)
{
	uint64_t out;

	return probe->kind == HLG_PROBE_PIO &&
	       hlg_trace_get(&probe->port, raw->at, raw->n, port) &&
	       hlg_trace_get(&probe->out, raw->at, raw->n, &out) && out;
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
				 (struct hlg_transit){ip, !entry, entry});
}
