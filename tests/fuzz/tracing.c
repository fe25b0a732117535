// SPDX-License-Identifier: GPL-2.0-only
#include "tests/fuzz/tracing.h"

#include <string.h>

#include "tests/fuzz/door.h"

void tracing_put(FILE *f, const void *bytes, size_t size)
{
	if (fwrite(bytes, 1, size, f) != size)
		door_fail("no memory");
}

void tracing_put_u64(FILE *f, uint64_t v)
{
	tracing_put(f, &v, sizeof(v));
}

static void put_u32(FILE *f, size_t v)
{
	tracing_put(f, &(uint32_t){(uint32_t)v}, sizeof(uint32_t));
}

/* How many of the first have one system. */
static size_t run_of(const struct tracing_format *formats, size_t n)
{
	size_t i = 0;

	while (i < n && strcmp(formats[i].system, formats[0].system) == 0)
		i++;
	return i;
}

/* tools/perf/util/trace-event-info.c, tracing_data_get */
void tracing_put_formats(FILE *f, const struct tracing_format *formats, size_t n)
{
	static const char head[] = "\x17\x08\x44tracing0.6\0" /* version */
				   "\0\x08"                   /* order, size of long */
				   "\0\x10\0\0"               /* page size */
				   "header_page\0\0\0\0\0\0\0\0\0"
				   "header_event\0\0\0\0\0\0\0\0\0"
				   "\0\0\0"; /* formats of ftrace's own, with the NUL */
	size_t systems = 0;

	for (size_t i = 0; i < n; i += run_of(formats + i, n - i))
		systems++;
	tracing_put(f, head, sizeof(head));
	put_u32(f, systems);
	for (size_t i = 0; i < n;) {
		size_t end = i + run_of(formats + i, n - i);

		tracing_put(f, formats[i].system, strlen(formats[i].system) + 1);
		put_u32(f, end - i);
		for (; i < end; i++) {
			tracing_put_u64(f, formats[i].size);
			tracing_put(f, formats[i].text, formats[i].size);
		}
	}
}

/* tools/perf/Documentation/perf.data-file-format.txt */
void tracing_put_file(FILE *f, const struct perf_event_attr *attrs, size_t n,
		      struct tracing_part records, struct tracing_part formats)
{
	/* PERF_RECORD_FINISHED_ROUND, 8 bytes */
	static const uint64_t round = UINT64_C(8) << 48 | 68;
	const uint64_t each = sizeof(attrs[0]) + 16, ids = 104, first = ids + 8 * n;
	const uint64_t data = first + each * n;
	const struct tracing_part empty = {&round, sizeof(round)};

	if (!records.size)
		records = empty;
	/* perf_file_header, behind its magic; bit 1 is HEADER_TRACING_DATA */
	tracing_put(f, "PERFILE2", 8);
	tracing_put(f,
		    (const uint64_t[]){104, each, first, each * n, data, records.size, 0,
				       0, 1 << 1, 0, 0, 0},
		    96);
	for (size_t i = 0; i < n; i++)
		tracing_put_u64(f, i + 1);
	for (size_t i = 0; i < n; i++) {
		tracing_put(f, &attrs[i], sizeof(attrs[i]));
		tracing_put_u64(f, ids + 8 * i);
		tracing_put_u64(f, 8);
	}
	tracing_put(f, records.bytes, records.size);
	tracing_put_u64(f, data + records.size + 16);
	tracing_put_u64(f, formats.size);
	tracing_put(f, formats.bytes, formats.size);
}
