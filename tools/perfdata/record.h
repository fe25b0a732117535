/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sample's record as it stands in the recording, and the fields that are read of it on
 * demand: hlg_perfdata_sample for what struct hlg_sample has, decode.h for all there is.
 */
#ifndef HLG_TOOLS_PERFDATA_RECORD_H
#define HLG_TOOLS_PERFDATA_RECORD_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "filter/profile/sample.h"
#include "tools/perfdata/bytes.h"

/*
 * Where the fields of an event's samples stand, in bytes from the record's start; 0: not
 * recorded. All stand before the first field of variable length.
 */
struct hlg_perfdata_layout {
	uint64_t fixed_period; /* of the attribute, where samples have none */
	uint32_t event;        /* index of the event; see struct hlg_perfdata_raw */
	uint32_t needs;        /* bytes of its smallest sample; see short_needs */
	/* needs, or UINT32_MAX where a sample is more than plain: step handles it. */
	uint32_t short_needs;
	uint16_t ip, tid, time, cpu, period, id, read;
	uint16_t
		raw; /* of its length, unless something of variable length comes before */
	/* In other records: from their end (sample_id_all). */
	uint16_t time_back, cpu_back;
	bool known;                         /* to the sink */
	const struct perf_event_attr *attr; /* the event's */
};

/* One sample as the sink gets it. Valid during the call only. */
struct hlg_perfdata_raw {
	const uint8_t *record; /* its header and all; not aligned */
	const struct hlg_perfdata_layout *layout;
	uint64_t ip, period;
	/*
	 * Index of the event it counts for. Of counter values that is the member's; the
	 * record itself is always laid out as layout->event says.
	 */
	uint32_t event;
	uint32_t size;      /* of the record; at most UINT16_MAX */
	uint32_t misc;      /* PERF_RECORD_MISC_* */
	uint32_t before;    /* samples that hlg_perfdata_next has passed */
	const uint8_t *end; /* of the samples that may follow */
	bool alone;         /* hlg_perfdata_next is not to look for them */
};

static inline unsigned hlg_perfdata_cpumode(const struct hlg_perfdata_raw *raw)
{
	return raw->misc & PERF_RECORD_MISC_CPUMODE_MASK;
}

/* -1 if it was not recorded. */
static inline int32_t hlg_perfdata_tid(const struct hlg_perfdata_raw *raw)
{
	/* PERF_SAMPLE_TID: u32 pid, tid */
	return raw->layout->tid
		       ? (int32_t)hlg_perfdata_u32(raw->record + raw->layout->tid + 4)
		       : -1;
}

/* The sample for the filter's profile; event is the reader's own index. */
static inline struct hlg_sample hlg_perfdata_sample(const struct hlg_perfdata_raw *raw)
{
	const struct hlg_perfdata_layout *l = raw->layout;
	const uint8_t *r = raw->record;

	return (struct hlg_sample){
		.ip = raw->ip,
		.period = raw->period,
		.time = l->time ? hlg_perfdata_u64(r + l->time) : HLG_NO_TIME,
		.pid = l->tid ? (int32_t)hlg_perfdata_u32(r + l->tid) : -1,
		.tid = hlg_perfdata_tid(raw),
		.cpu = l->cpu ? (int32_t)hlg_perfdata_u32(r + l->cpu) : -1,
		.event = raw->event,
		.cpumode = (uint8_t)hlg_perfdata_cpumode(raw),
	};
}

/* The same where something of variable length stands before. */
bool hlg_perfdata_find_data(const struct hlg_perfdata_raw *raw,
			    struct hlg_perfdata_bytes *data);

/*
 * The raw data of a sample (PERF_SAMPLE_RAW), a tracepoint's fields; false if it has none
 * or they pass its end.
 */
static inline __attribute__((always_inline)) bool hlg_perfdata_data(
	const struct hlg_perfdata_raw *raw, struct hlg_perfdata_bytes *data)
{
	uint32_t at = raw->layout->raw, n;

	if (!at) {
		/*
		 * Copies of what it looks at: what a call could change would be kept in
		 * memory, and fields that nobody wants would be read, for all samples.
		 */
		const struct hlg_perfdata_raw here = {
			.record = raw->record, .layout = raw->layout, .size = raw->size};
		struct hlg_perfdata_bytes found;
		bool has = hlg_perfdata_find_data(&here, &found);

		if (has)
			*data = found;
		return has;
	}
	if (at + sizeof(n) > raw->size)
		return false;
	n = hlg_perfdata_u32(raw->record + at);
	*data = (struct hlg_perfdata_bytes){raw->record + at + sizeof(n), n};
	return n <= raw->size - at - sizeof(n);
}

#endif
