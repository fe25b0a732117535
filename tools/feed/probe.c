// SPDX-License-Identifier: GPL-2.0-only
#include "tools/feed/probe.h"

#include <linux/perf_event.h>

static const struct {
	const char *event, *field;
} known[] = {
	[HLG_PROBE_EXIT] = {"kvm:kvm_exit", "guest_rip"},
	[HLG_PROBE_ENTRY] = {"kvm:kvm_entry", "rip"},
	[HLG_PROBE_PORT] = {"kvm:kvm_pio", "port"},
};

void hlg_probe_find(struct hlg_probe *probe, struct hlg_trace **trace,
		    const struct hlg_perfdata *pd, const char *path,
		    const struct hlg_perfdata_event *event)
{
	unsigned kind = 0;
	struct hlg_err err;

	while (kind < HLG_PROBES && strcmp(event->name, known[kind].event) != 0)
		kind++;
	*probe = (struct hlg_probe){.kind = kind};
	if (event->attr.type != PERF_TYPE_TRACEPOINT ||
	    !(event->attr.sample_type & PERF_SAMPLE_RAW) || kind == HLG_PROBES)
		return;
	if (!*trace &&
	    hlg_trace_open(trace, pd, path, "hlguest record --exits", &err) < 0)
		return;
	if (hlg_trace_find(*trace, event->name, known[kind].field, &probe->field, &err) <
	    0)
		probe->field = (struct hlg_trace_field){0};
}

void hlg_probe_count(const struct hlg_probe *probe, struct hlg_transits *transits,
		     const struct hlg_perfdata_bytes *raw)
{
	bool entry = probe->kind == HLG_PROBE_ENTRY;
	uint64_t value;

	if (!hlg_trace_get(&probe->field, raw->at, raw->n, &value))
		return;
	if (probe->kind == HLG_PROBE_PORT)
		hlg_transits_out(transits, value);
	else
		hlg_transits_add(transits, (struct hlg_transit){value, !entry, entry});
}
