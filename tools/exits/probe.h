/* SPDX-License-Identifier: GPL-2.0-only */
/* Which tracepoints tell of crossings, and where their fields stand in a recording. */
#ifndef HLG_TOOLS_EXITS_PROBE_H
#define HLG_TOOLS_EXITS_PROBE_H

#include "tools/exits/pair.h"
#include "tools/perfdata/perfdata.h"
#include "tools/tracepoint/trace.h"

/* What records them, for messages. */
#define HLG_EXITS_HOW "hlguest record --exits"

/* An event of a recording: where its fields stand. */
struct hlg_exits_probe {
	uint8_t record; /* enum hlg_exits_record */
	bool has_vcpu;  /* on kernels of today */
	struct hlg_trace_field a, b, c, vcpu;
	uint64_t no_vcpu; /* HLG_NO_VCPU if vcpu is absent */
	uint64_t c_is;    /* the value of c that makes it 1; see make_code */
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

#endif
