// SPDX-License-Identifier: GPL-2.0-only
#include "tools/feed/probe.h"

#include <linux/perf_event.h>

void hlg_probe_find(struct hlg_probe *probe, struct hlg_trace **trace,
		    const struct hlg_perfdata *pd, const char *path,
		    const struct hlg_perfdata_event *event)
{
	bool entry = strcmp(event->name, "kvm:kvm_entry") == 0;
	struct hlg_err err;

	*probe = (struct hlg_probe){.entry = entry};
	if (event->attr.type != PERF_TYPE_TRACEPOINT ||
	    !(event->attr.sample_type & PERF_SAMPLE_RAW) ||
	    (!entry && strcmp(event->name, "kvm:kvm_exit") != 0))
		return;
	if (!*trace &&
	    hlg_trace_open(trace, pd, path, "hlguest record --exits", &err) < 0)
		return;
	if (hlg_trace_find(*trace, event->name, entry ? "rip" : "guest_rip", &probe->rip,
			   &err) < 0)
		probe->rip = (struct hlg_trace_field){0};
}

void hlg_probe_count(const struct hlg_probe *probe, struct hlg_transits *transits,
		     const struct hlg_perfdata_bytes *raw)
{
	uint64_t ip;

	if (hlg_trace_get(&probe->rip, raw->at, raw->n, &ip))
		hlg_transits_add(transits,
				 (struct hlg_transit){ip, !probe->entry, probe->entry});
}
