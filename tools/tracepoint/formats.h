/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The format texts of tracepoints that a recording holds, taken apart only so far that
 * each is found by its name and its number. What they say is for trace.h.
 */
#ifndef HLG_TOOLS_TRACEPOINT_FORMATS_H
#define HLG_TOOLS_TRACEPOINT_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tep_event;

struct hlg_trace_format {
	char *name; /* "kvm:kvm_exit" */
	uint64_t id;
	const char *text; /* in the data that were read; not terminated */
	size_t size;
	size_t system_size;      /* of the name up to the colon */
	struct tep_event *event; /* trace.c's: once it was asked for */
	bool parsed;
};

struct hlg_trace_formats {
	struct hlg_trace_format *formats; /* as in the recording */
	size_t n;
	/* Each; of several that are called the same the first comes first. */
	struct hlg_trace_format **by_id, **by_name;
};

/*
 * *formats is all zero before; data stay as they are until finish, which comes in any
 * case. Returns 1, 0 if the data are damaged, -1 without memory.
 */
int hlg_trace_formats_read(struct hlg_trace_formats *formats, const char *data,
			   size_t size);

/* The first of this number, or name ("kvm:kvm_exit"); NULL if there is none. */
struct hlg_trace_format *hlg_trace_formats_id(const struct hlg_trace_formats *formats,
					      uint64_t id);
struct hlg_trace_format *hlg_trace_formats_name(const struct hlg_trace_formats *formats,
						const char *name);

void hlg_trace_formats_finish(struct hlg_trace_formats *formats);

#endif
