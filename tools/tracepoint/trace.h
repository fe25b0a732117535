/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fields of tracepoints by name: where they stand moves between kernels, so it is read
 * from the format texts that perf keeps inside a recording (tools/perf/util/
 * trace-event-read.c).
 *
 * That is done once for each field; what comes out is where the number stands, and a
 * sample then costs a load:
 *
 *	rc = hlg_trace_open(&trace, pd, path, "hlguest record --exits", err);
 *	rc = hlg_trace_need(trace, "kvm:kvm_exit", "exit_reason", &reason, err);
 *	...
 *	if (hlg_trace_get(&reason, raw.at, raw.n, &value))
 *
 * Format texts are somebody else's: whatever they say, no byte outside a sample is read.
 */
#ifndef HLG_TOOLS_TRACEPOINT_TRACE_H
#define HLG_TOOLS_TRACEPOINT_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "symtab/err.h"
#include "tools/perfdata/perfdata.h"

struct hlg_trace;

/* A number in the raw data of a tracepoint's samples (PERF_SAMPLE_RAW). */
struct hlg_trace_field {
	uint32_t offset; /* bytes from the start of the raw data, at most UINT16_MAX */
	uint8_t size;    /* 1, 2, 4, 8; 0: there is no such field */
	bool is_signed;
};

/*
 * Takes the formats out of a recording: after open, in pipe mode from the first sample
 * on. *trace is for hlg_trace_close, NULL after a failure. how is the command that
 * records what is wanted here, for messages; it is not copied, nor is path. Fails
 * without formats and when they are damaged.
 */
int hlg_trace_open(struct hlg_trace **trace, const struct hlg_perfdata *pd,
		   const char *path, const char *how, struct hlg_err *err);
void hlg_trace_close(struct hlg_trace *trace);

/*
 * What the tracepoint of a number (perf_event_attr.config of PERF_TYPE_TRACEPOINT) is
 * called, "kvm:kvm_exit"; NULL if its format is missing. Owned by trace, not escaped.
 */
const char *hlg_trace_name(const struct hlg_trace *trace, uint64_t id);

/*
 * Where a field of an event ("kvm:kvm_exit") stands. If there is no such field, or it is
 * not a number, that is an error for need, and size 0 for find. For both it is one when
 * the event's format is missing or cannot be understood.
 */
int hlg_trace_need(const struct hlg_trace *trace, const char *event, const char *name,
		   struct hlg_trace_field *field, struct hlg_err *err);
int hlg_trace_find(const struct hlg_trace *trace, const char *event, const char *name,
		   struct hlg_trace_field *field, struct hlg_err *err);

/* False if the field is absent or passes the end of the n bytes of raw data at raw. */
static inline bool hlg_trace_get(const struct hlg_trace_field *field, const uint8_t *raw,
				 uint64_t n, uint64_t *value)
{
	uint64_t v = 0;
	unsigned unused = 64 - 8u * field->size;

	if (field->size == 0 || n < field->size || field->offset > n - field->size)
		return false;
	memcpy(&v, raw + field->offset, field->size);
	*value = field->is_signed ? (uint64_t)((int64_t)(v << unused) >> unused) : v;
	return true;
}

/*
 * The same without a branch, for several fields of many samples: a word of 8 bytes is
 * loaded wherever the field stands, even if there is none, when n is at least
 * hlg_trace_needs.
 */
struct hlg_trace_load {
	uint32_t offset;
	uint64_t mask, sign; /* of the field's bits; its highest bit if it is signed */
};

static inline struct hlg_trace_load hlg_trace_load(const struct hlg_trace_field *field)
{
	uint64_t top = field->size ? (uint64_t)1 << (8 * field->size - 1) : 0;

	return (struct hlg_trace_load){.offset = field->offset,
				       .mask = top ? top | (top - 1) : 0,
				       .sign = field->is_signed ? top : 0};
}

static inline uint64_t hlg_trace_needs(const struct hlg_trace_load *load)
{
	return (uint64_t)load->offset + 8;
}

/* 0 if the field is absent. The bits alone are those of a number that is not negative. */
static inline uint64_t hlg_trace_bits(const struct hlg_trace_load *load,
				      const uint8_t *raw)
{
	uint64_t v;

	memcpy(&v, raw + load->offset, sizeof(v));
	return v & load->mask;
}

static inline uint64_t hlg_trace_loaded(const struct hlg_trace_load *load,
					const uint8_t *raw)
{
	return (hlg_trace_bits(load, raw) ^ load->sign) - load->sign;
}

#endif
