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

int hlg_probe_find(struct hlg_probe *probe, struct hlg_trace **trace,
		   const struct hlg_perfdata *pd, const char *path,
		   const struct hlg_perfdata_event *event, struct hlg_err *err)
{
	bool entry = strcmp(event->name, "kvm:kvm_entry") == 0;
	bool pio = strcmp(event->name, "kvm:kvm_pio") == 0;
	int rc = 0;

	*probe = (struct hlg_probe){.entry = entry, .pio = pio};
	if (event->attr.type != PERF_TYPE_TRACEPOINT ||
	    !(event->attr.sample_type & PERF_SAMPLE_RAW) ||
	    (!entry && !pio && strcmp(event->name, "kvm:kvm_exit") != 0))
		return 0;
	if (!*trace)
		rc = hlg_trace_open(trace, pd, path, "hlguest record --exits", err);
	if (rc < 0)
		return rc == HLG_ESYSTEM ? rc : 0;
	rc = find(&probe->rip, *trace, event->name,
		  pio     ? "val"
		  : entry ? "rip"
			  : "guest_rip",
		  err);
	if (rc == 0 && pio)
		rc = find(&probe->port, *trace, event->name, "port", err);
	if (rc == 0 && pio)
		rc = find(&probe->out, *trace, event->name, "rw", err);
	return rc;
}

/* Is it a write to a port, and to which? */
static bool is_out(const struct hlg_probe *probe, const struct hlg_perfdata_bytes *raw,
		   uint64_t *port)
{
	uint64_t out;

	return probe->pio && hlg_trace_get(&probe->port, raw->at, raw->n, port) &&
	       hlg_trace_get(&probe->out, raw->at, raw->n, &out) && out;
}

void hlg_probe_count(const struct hlg_probe *probe, struct hlg_profile *profile,
		     const struct hlg_sample *sample, bool selected,
		     const struct hlg_perfdata_bytes *raw)
{
	uint64_t ip, port = 0;
	const bool out = is_out(probe, raw, &port);

	if (out && selected)
		hlg_transits_out(&profile->transits, port);
	if (!hlg_trace_get(&probe->rip, raw->at, raw->n, &ip))
		return;
	if (probe->entry || (out && port == HLG_PORT_HALT))
		hlg_starts_add(&profile->starts,
			       (struct hlg_start){.ip = ip,
						  .time = sample->time == HLG_NO_TIME
								  ? 0
								  : sample->time,
						  .tid = sample->tid,
						  .sandbox = sample->sandbox,
						  .halt = probe->pio});
	if (!probe->pio && selected)
		hlg_transits_add(&profile->transits,
				 (struct hlg_transit){ip, !probe->entry, probe->entry});
}
