/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The format texts of tracepoints that a recording holds: each is found by its name or
 * its number, and tells where its fields stand.
 *
 * A text comes out of a recording, so somebody else may have written it. Only a line that
 * looks as the kernel writes it (kernel/trace/trace_events.c, f_show) declares a field:
 *
 *	name: kvm_exit
 *	ID: 103
 *	format:
 *		field:unsigned int exit_reason;	offset:8;	size:4;	signed:0;
 *
 * Arrays and strings are no numbers and not found; "print fmt", a program in C, is not
 * looked at.
 */
#ifndef HLG_TOOLS_TRACEPOINT_FORMATS_H
#define HLG_TOOLS_TRACEPOINT_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hlg_formats_event {
	char *name; /* "kvm:kvm_exit" */
	uint64_t id;
	const char *text; /* in the data that were read; not terminated */
	size_t size;
};

struct hlg_formats {
	struct hlg_formats_event *formats; /* as in the recording */
	size_t n;
	/* Each; of several that are called the same the first comes first. */
	struct hlg_formats_event **by_id, **by_name;
};

/* A number in the raw data of a tracepoint's samples (PERF_SAMPLE_RAW). */
struct hlg_trace_field {
	uint32_t offset; /* bytes from the start of the raw data, at most UINT16_MAX */
	uint8_t size;    /* 1, 2, 4, 8; 0: there is no such field */
	bool is_signed;
};

/*
 * *formats is all zero before; data stay as they are until finish, which comes in any
 * case. Returns 1, 0 if the data are damaged, -1 without memory.
 */
int hlg_formats_read(struct hlg_formats *formats, const char *data, size_t size);

/* The first of this number, or name ("kvm:kvm_exit"); NULL if there is none. */
const struct hlg_formats_event *hlg_formats_id(const struct hlg_formats *formats,
					       uint64_t id);
const struct hlg_formats_event *hlg_formats_name(const struct hlg_formats *formats,
						 const char *name);

/*
 * Where the first field of this name stands: size 0 if there is none, or it is not a
 * number. Returns false if the text has no line "format:", and so no fields at all.
 */
bool hlg_formats_field(const struct hlg_formats_event *format, const char *name,
		       struct hlg_trace_field *field);

void hlg_formats_finish(struct hlg_formats *formats);

#endif
