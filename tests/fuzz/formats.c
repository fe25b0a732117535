// SPDX-License-Identifier: GPL-2.0-only
/*
 * The formats of tracepoints in a recording. The first byte says what the rest is: the
 * whole container, or the text of one event, in a container that is well made. Fields are
 * looked for and read in a sample.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../tools/trace.h"
#include "door.h"

/* libtraceevent 1.7 leaks a few bytes of texts that it refuses
 * (sanitizer/lsan_interface.h).
 */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent";
}

static void put(FILE *f, const void *bytes, size_t size)
{
	if (fwrite(bytes, 1, size, f) != size)
		door_fail("no memory");
}

static void put_u64(FILE *f, uint64_t v)
{
	put(f, &v, sizeof(v));
}

/* tools/perf/util/trace-event-info.c, tracing_data_get */
static void put_container(FILE *f, const uint8_t *text, size_t size)
{
	static const char head[] = "\x17\x08\x44tracing0.6\0" /* version */
				   "\0\x08"                   /* order, size of long */
				   "\0\x10\0\0"               /* page size */
				   "header_page\0\0\0\0\0\0\0\0\0"
				   "header_event\0\0\0\0\0\0\0\0\0"
				   "\0\0\0\0"      /* formats of ftrace's own */
				   "\1\0\0\0kvm\0" /* systems */
				   "\1\0\0";       /* events, with the NUL behind */

	put(f, head, sizeof(head));
	put_u64(f, size);
	put(f, text, size);
}

/*
 * A recording of no samples (but of one record, or it would be taken for one that was cut
 * off) that has these tracing data: perf_file_header, an attribute,
 * the sections of features (tools/perf/Documentation/perf.data-file-format.txt).
 */
static void put_file(FILE *f, const void *tracing, size_t size)
{
	const struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT,
					     .size = sizeof(attr),
					     .sample_type = PERF_SAMPLE_RAW};
	const uint64_t each = sizeof(attr) + 16, data = 104 + each;
	const uint64_t header[] = {
		104, each, 104, each, data, 8, 0, 0, 1 << 1, 0, 0, 0,
	}; /* bit 1: HEADER_TRACING_DATA */

	put(f, "PERFILE2", 8);
	put(f, header, sizeof(header));
	put(f, &attr, sizeof(attr));
	put_u64(f, 104);
	put_u64(f, 0);
	put_u64(f, UINT64_C(8) << 48 | 68); /* PERF_RECORD_FINISHED_ROUND, 8 bytes */
	put_u64(f, data + 8 + 16);
	put_u64(f, size);
	put(f, tracing, size);
}

static void use(struct hlg_trace *trace)
{
	static const char *const fields[] = {"exit_reason", "guest_rip", "common_type",
					     "isa"};
	static const uint8_t raw[64];
	struct hlg_trace_field field;
	struct hlg_err err;
	uint64_t value;

	hlg_trace_name(trace, 1);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (hlg_trace_need(trace, "kvm:kvm_exit", fields[i], &field, &err) == 0)
			hlg_trace_get(&field, raw, sizeof(raw), &value);
		hlg_trace_find(trace, "kvm:kvm_entry", fields[i], &field, &err);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *tracing, *file;
	size_t n_tracing, n_file;
	FILE *f = open_memstream(&tracing, &n_tracing);
	struct hlg_trace *trace;
	struct hlg_perfdata *pd;
	struct hlg_err err;

	if (!f)
		door_fail("no memory");
	if (size && data[0] & 1)
		put_container(f, data + 1, size - 1);
	else if (size)
		put(f, data + 1, size - 1);
	fclose(f);
	f = open_memstream(&file, &n_file);
	if (!f)
		door_fail("no memory");
	put_file(f, tracing, n_tracing);
	fclose(f);
	if (hlg_perfdata_open(&pd, door_path(file, n_file), &err) < 0)
		door_fail(err.msg);
	if (hlg_trace_open(&trace, pd, "recording", "hlguest record", &err) == 0) {
		use(trace);
		hlg_trace_close(trace);
	}
	hlg_perfdata_close(pd);
	free(file);
	free(tracing);
	return 0;
}
