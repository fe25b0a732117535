/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kvm_exit, kvm_entry, kvm_emulate_insn and kvm_pio on their way into a profile: where
 * guests are left and entered, and where they began. Of a recording of arm64 the first
 * two have other fields, and kvm_mmio stands for kvm_pio (filter/profile/ports.h).
 */
#ifndef HLG_TOOLS_FEED_PROBE_H
#define HLG_TOOLS_FEED_PROBE_H

#include "filter/profile/profile.h"
#include "tools/tracepoint/trace.h"

enum hlg_probe_kind {
	HLG_PROBE_NONE,
	HLG_PROBE_EXIT,
	HLG_PROBE_ENTRY,
	HLG_PROBE_EMULATE,
	HLG_PROBE_PIO
};

/* Of one of a reader's events. */
struct hlg_probe {
	enum hlg_probe_kind kind;
	bool mmio;                        /* PIO: kvm_mmio, of arm64 */
	bool undecoded; /* its format is missing, or damaged: no field is known */
	struct hlg_trace_field rip;       /* of PIO what is written */
	struct hlg_trace_field port, out; /* of PIO; with mmio a guest-physical address
					   * and the kind of access */
};

/*
 * Looks where the guest's address stands in an event's samples. What cannot be found is
 * not counted: a report needs none, but is to say so. *trace is NULL before, and for
 * hlg_trace_close. Fails without memory only.
 */
int hlg_probe_find(struct hlg_probe *probe, struct hlg_trace **trace,
		   const struct hlg_perfdata *pd, const char *path,
		   const struct hlg_perfdata_event *event, struct hlg_err *err);

/* Is it a write to a port, and to which? */
bool hlg_probe_is_out(const struct hlg_probe *probe, const struct hlg_perfdata_bytes *raw,
		      uint64_t *port);

/* Counts a sample; where a guest began also if it is not selected. */
void hlg_probe_count(const struct hlg_probe *probe, struct hlg_profile *profile,
		     const struct hlg_sample *sample, bool selected,
		     const struct hlg_perfdata_bytes *raw);

#endif
