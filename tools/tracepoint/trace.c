// SPDX-License-Identifier: GPL-2.0-only
/*
 * libtraceevent gets to see a format only when a field of it is asked for, and then what
 * vet.h lets through.
 */
#include "tools/tracepoint/trace.h"

#include <config.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/tracepoint/formats.h"
#include "tools/tracepoint/vet.h"

#if HLG_HAVE_TRACEEVENT
#include <traceevent/event-parse.h>
#else
struct tep_handle;
struct tep_event;
#endif

#define FIELD_MAX UINT16_MAX /* no record is longer */

struct hlg_trace {
	const char *path, *how;
	char *data;
	struct hlg_trace_formats formats;
	struct tep_handle *tep;
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
	rc = hlg_trace_formats_read(&trace->formats, data, size);
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

	*trace = NULL;
	if (!hlg_trace_available())
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: tracepoints need libtraceevent, which hlguest "
				   "was built without (install libtraceevent-dev and "
				   "build again)",
				   path);
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

const char *hlg_trace_name(const struct hlg_trace *trace, uint64_t id)
{
	const struct hlg_trace_format *format = hlg_trace_formats_id(&trace->formats, id);

	return format ? format->name : NULL;
}

int hlg_trace_need(struct hlg_trace *trace, const char *event, const char *name,
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

#if HLG_HAVE_TRACEEVENT

bool hlg_trace_available(void)
{
	return true;
}

void hlg_trace_close(struct hlg_trace *trace)
{
	if (!trace)
		return;
	hlg_trace_formats_finish(&trace->formats);
	if (trace->tep)
		tep_free(trace->tep);
	free(trace->data);
	free(trace);
}

/* Leaves format->event NULL where the text makes no sense. False without memory. */
static bool parse(struct hlg_trace *trace, struct hlg_trace_format *format)
{
	char *text, *system;
	size_t size;

	if (!trace->tep) {
		trace->tep = tep_alloc();
		if (!trace->tep)
			return false;
		tep_set_loglevel(TEP_LOG_NONE);
	}
	system = strndup(format->name, format->system_size);
	text = malloc(HLG_TRACE_VET_ROOM(format->size));
	if (text && system) {
		size = hlg_trace_vet(text, format->text, format->size);
		errno = 0;
		tep_parse_format(trace->tep, &format->event, text, (unsigned long)size,
				 system);
		/* Without memory it may have fewer fields, and no error. */
		format->parsed = errno != ENOMEM;
	}
	free(text);
	free(system);
	return format->parsed;
}

static bool is_number(const struct tep_format_field *field)
{
	return !(field->flags &
		 (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_DYNAMIC | TEP_FIELD_IS_STRING)) &&
	       (field->size == 1 || field->size == 2 || field->size == 4 ||
		field->size == 8) &&
	       field->offset >= 0 && field->offset <= FIELD_MAX;
}

int hlg_trace_find(struct hlg_trace *trace, const char *event, const char *name,
		   struct hlg_trace_field *field, struct hlg_err *err)
{
	struct hlg_trace_format *format = hlg_trace_formats_name(&trace->formats, event);
	const struct tep_format_field *found;

	*field = (struct hlg_trace_field){0};
	if (!format)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: holds no format of %s (record it with %s)",
				   trace->path, event, trace->how);
	if (!format->parsed && !parse(trace, format))
		return hlg_err_memory(err, trace->path);
	if (!format->event)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: its format of %s is damaged (record it with %s)",
				   trace->path, event, trace->how);
	found = tep_find_any_field(format->event, name);
	if (found && is_number(found))
		*field = (struct hlg_trace_field){
			.offset = (uint32_t)found->offset,
			.size = (uint8_t)found->size,
			.is_signed = found->flags & TEP_FIELD_IS_SIGNED,
		};
	return 0;
}

#else

bool hlg_trace_available(void)
{
	return false;
}

/* There is none: hlg_trace_open fails. */
void hlg_trace_close(struct hlg_trace *trace)
{
	(void)trace;
}

int hlg_trace_find(struct hlg_trace *trace, const char *event, const char *name,
		   struct hlg_trace_field *field, struct hlg_err *err)
{
	(void)event;
	(void)name;
	*field = (struct hlg_trace_field){0};
	return fail(trace, "cannot be read without libtraceevent", err);
}

#endif
