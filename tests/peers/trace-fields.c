// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace-fields RECORDING: for each line "EVENT FIELD" of standard input where that field
 * stands, as "OFFSET SIZE SIGNED", or "-"; for trace.py.
 */
#include <stdio.h>

#include "tools/tracepoint/trace.h"

int main(int argc, char **argv)
{
	char event[600], name[600];
	struct hlg_perfdata *pd;
	struct hlg_trace *trace = NULL;
	struct hlg_err err;
	int rc;

	if (argc != 2)
		return 2;
	rc = hlg_perfdata_open(&pd, argv[1], &err);
	if (rc == 0)
		rc = hlg_trace_open(&trace, pd, argv[1], "perf record", &err);
	while (rc == 0 && scanf("%599s %599s", event, name) == 2) {
		struct hlg_trace_field field;

		rc = hlg_trace_find(trace, event, name, &field, &err);
		if (field.size)
			printf("%u %u %d\n", field.offset, field.size, field.is_signed);
		else if (rc == 0)
			puts("-");
	}
	if (rc < 0)
		fprintf(stderr, "%s\n", err.msg);
	hlg_trace_close(trace);
	hlg_perfdata_close(pd);
	return rc < 0;
}
