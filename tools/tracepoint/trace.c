// SPDX-License-Identifier: GPL-2.0-only
#include "tools/tracepoint/trace.h"

#include <stdlib.h>

struct hlg_trace {
	const char *path, *how;
	char *data;
	struct hlg_formats formats;
};

static int fail(const struct hlg_trace *trace, const char *problem, struct hlg_err *err)
{
	return hlg_err_set(err, HLG_EINPUT, "%s: %s (record it with %s)", trace->path,
			   problem, trace->how);
}

static int read_trace(struct hlg_trace *trace, const struct hlg_perfdata *pd,
		      struct hlg_err *err)
{
	void *data;
	size_t size;
	int rc = hlg_perfdata_tracing(pd, &data, &size, err);

	if (rc < 0)
		return rc;
	trace->data = data;
	if (size == 0)
		return fail(trace, "holds no formats of tracepoints", err);
	rc = hlg_formats_read(&trace->formats, data, size);
	if (rc < 0)
		return hlg_err_memory(err, trace->path);
	if (rc == 0)
		return fail(trace, "its formats of tracepoints are damaged", err);
	return 0;
}

int hlg_trace_open(struct hlg_trace **trace, const struct hlg_perfdata *pd,
		   const char *path, const char *how, struct hlg_err *err)
{
	int rc;

	*trace = calloc(1, sizeof(**trace));
	if (!*trace)
		return hlg_err_memory(err, path);
	(*trace)->path = path;
	(*trace)->how = how;
	rc = read_trace(*trace, pd, err);
	if (rc < 0) {
		hlg_trace_close(*trace);
		*trace = NULL;
	}
	return rc;
}

void hlg_trace_close(struct hlg_trace *trace)
{
	if (!trace)
		return;
	hlg_formats_finish(&trace->formats);
	free(trace->data);
	free(trace);
}

const char *hlg_trace_name(const struct hlg_trace *trace, uint64_t id)
{
	const struct hlg_formats_event *format = hlg_formats_id(&trace->formats, id);

	return format ? format->name : NULL;
}

int hlg_trace_find(const struct hlg_trace *trace, const char *event, const char *name,
		   struct hlg_trace_field *field, struct hlg_err *err)
{
	const struct hlg_formats_event *format = hlg_formats_name(&trace->formats, event);

	*field = (struct hlg_trace_field){0};
	if (!format)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: holds no format of %s (record it with %s)",
				   trace->path, event, trace->how);
	if (!hlg_formats_field(format, name, field))
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: its format of %s is damaged (record it with %s)",
				   trace->path, event, trace->how);
	return 0;
}

int hlg_trace_need(const struct hlg_trace *trace, const char *event, const char *name,
		   struct hlg_trace_field *field, struct hlg_err *err)
{
	int rc = hlg_trace_find(trace, event, name, field, err);

	if (rc < 0 || field->size)
		return rc;
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: %s has no number %s on the kernel of this recording "
			   "(record it with %s on another kernel)",
			   trace->path, event, name, trace->how);
}
