/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recordings with formats of tracepoints, well made around what a door is given. Ends the
 * program without memory.
 */
#ifndef HLG_TESTS_FUZZ_TRACING_H
#define HLG_TESTS_FUZZ_TRACING_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct tracing_format {
	const char *system;
	const void *text; /* as the kernel's file "format" has it */
	size_t size;
};

void tracing_put(FILE *f, const void *bytes, size_t size);
void tracing_put_u64(FILE *f, uint64_t v);

/* The container of formats; those of a system follow each other. */
void tracing_put_formats(FILE *f, const struct tracing_format *formats, size_t n);

struct tracing_part {
	const void *bytes;
	size_t size;
};

/*
 * A file of n events, whose ids are 1 to n, with records and a container of formats; of
 * one empty record if there is none, or it would be taken for one that was cut off.
 */
void tracing_put_file(FILE *f, const struct perf_event_attr *attrs, size_t n,
		      struct tracing_part records, struct tracing_part formats);

#endif
