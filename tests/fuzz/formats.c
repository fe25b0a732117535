// SPDX-License-Identifier: GPL-2.0-only
/*
 * The formats of tracepoints in a recording. The first byte says what the rest is: the
 * whole container, or the text of one event, in a container that is well made. Fields are
 * looked for and read in a sample.
 */
#include <stdlib.h>

#include "tests/fuzz/door.h"
#include "tests/fuzz/tracing.h"
#include "tools/tracepoint/trace.h"

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

static void put_tracing(FILE *f, const uint8_t *data, size_t size)
{
	const struct tracing_format format = {"kvm", data + 1, size - 1};

	if (data[0] & 1)
		tracing_put_formats(f, &format, 1);
	else
		tracing_put(f, data + 1, size - 1);
}

static FILE *open_text(struct tracing_part *part, char **text)
{
	FILE *f = open_memstream(text, &part->size);

	if (!f)
		door_fail("no memory");
	return f;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT,
					     .size = sizeof(attr),
					     .sample_type = PERF_SAMPLE_RAW};
	struct tracing_part formats, whole;
	char *tracing, *file;
	FILE *f = open_text(&formats, &tracing);
	struct hlg_trace *trace;
	struct hlg_perfdata *pd;
	struct hlg_err err;

	if (size)
		put_tracing(f, data, size);
	fclose(f);
	formats.bytes = tracing;
	f = open_text(&whole, &file);
	tracing_put_file(f, &attr, 1, (struct tracing_part){0}, formats);
	fclose(f);
	if (hlg_perfdata_open(&pd, door_path(file, whole.size), &err) < 0)
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
