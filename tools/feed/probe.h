/* SPDX-License-Identifier: GPL-2.0-only */
/* kvm_exit, kvm_entry and kvm_pio on their way into a profile: where guests are left and
 * entered, and what Hyperlight's guests say by ports.
 */
#ifndef HLG_TOOLS_FEED_PROBE_H
#define HLG_TOOLS_FEED_PROBE_H

#include "filter/profile/transits.h"
#include "tools/tracepoint/trace.h"

enum {
	HLG_PROBE_EXIT,
	HLG_PROBE_ENTRY,
	HLG_PROBE_PORT,
	HLG_PROBES
};

/* Of one of a reader's events. Without a field it is none of these. */
struct hlg_probe {
	struct hlg_trace_field field; /* the guest's address, or the port */
	unsigned kind;
};

/*
 * Looks where the field stands in an event's samples. What cannot be found is
 * not counted: a report needs none. *trace is NULL before, and for hlg_trace_close.
 */
void hlg_probe_find(struct hlg_probe *probe, struct hlg_trace **trace,
		    const struct hlg_perfdata *pd, const char *path,
		    const struct hlg_perfdata_event *event);

void hlg_probe_count(const struct hlg_probe *probe, struct hlg_transits *transits,
		     const struct hlg_perfdata_bytes *raw);

#endif
