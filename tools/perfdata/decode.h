/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All that a sample can hold: PERF_SAMPLE_* in the order of linux/perf_event.h (struct
 * PERF_RECORD_SAMPLE). For views that need more than struct hlg_sample has.
 */
#ifndef HLG_TOOLS_PERFDATA_DECODE_H
#define HLG_TOOLS_PERFDATA_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/perfdata/bytes.h"
#include "tools/perfdata/event.h"

/*
 * The values of PERF_SAMPLE_READ: of one counter, or of a group (struct read_format in
 * linux/perf_event.h). Value i is at at + i * stride.
 */
struct hlg_perfdata_values {
	const uint8_t *at; /* NULL: not recorded; not aligned */
	uint64_t n;
	size_t stride;                       /* bytes from a value to the next */
	size_t id, lost;                     /* bytes from a value to these; 0: none */
	uint64_t time_enabled, time_running; /* ns; 0: not recorded */
};

/*
 * Reads values of an attribute's read_format from size bytes. Returns the bytes they
 * take, 0 if they pass the end.
 */
size_t hlg_perfdata_values(struct hlg_perfdata_values *values, uint64_t read_format,
			   const uint8_t *at, size_t size);

struct hlg_perfdata_fields {
	uint64_t
		has; /* PERF_SAMPLE_* that were read: those of the event that are known */
	uint64_t identifier, ip, time, addr, id, stream_id, period;
	int32_t pid, tid, cpu;
	struct hlg_perfdata_values read;     /* counters */
	struct hlg_perfdata_bytes callchain; /* addresses, 8 bytes each, with contexts */
	struct hlg_perfdata_bytes raw;       /* bytes */
	uint64_t branch_hw_index;            /* UINT64_MAX: not recorded */
	struct hlg_perfdata_bytes branches;  /* struct perf_branch_entry, 24 bytes each */
	struct hlg_perfdata_bytes branch_counters;      /* 8 bytes for each branch */
	uint64_t user_abi, intr_abi;                    /* PERF_SAMPLE_REGS_ABI_* */
	struct hlg_perfdata_bytes user_regs, intr_regs; /* 8 bytes for each bit of mask */
	struct hlg_perfdata_bytes user_stack;           /* bytes that are filled */
	uint64_t weight, data_src, transaction, phys_addr, cgroup;
	uint64_t data_page_size, code_page_size;
	struct hlg_perfdata_bytes aux; /* bytes */
};

/*
 * Reads a whole sample of size bytes, header included. False if a field passes the end
 * of the record, or has a layout that is not known: then fields->has tells what was read
 * before it. Absent numbers are 0, but for time, id, stream_id (UINT64_MAX), pid, tid,
 * cpu (-1) and period (the attribute's).
 */
bool hlg_perfdata_decode(struct hlg_perfdata_fields *fields,
			 const struct perf_event_attr *attr, const uint8_t *record,
			 uint16_t size);

#endif
