// SPDX-License-Identifier: GPL-2.0-only
/*
 * The container of the formats is taken apart here, each step checked: 17 08 44 and
 * "tracing", a version, u8 big-endian, u8 size of long, u32 page size; "header_page" and
 * "header_event", each with u64 size and text; u32 number of ftrace's own formats, each
 * u64 size and text; u32 number of systems, each a name, u32 number of formats, and these
 * (tools/perf/util/trace-event-info.c, tracing_data_get). What follows is not read.
 *
 * libtraceevent gets to see a format only when a field of it is asked for, and then what
 * trace-vet.h lets through.
 */
#include "trace.h"

#include <config.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace-vet.h"

#if HLG_HAVE_TRACEEVENT
#include <traceevent/event-parse.h>
#else
struct tep_handle;
struct tep_event;
#endif

#define FORMAT_MAX (1u << 20) /* bytes of one format; the kernel's are a few thousand */
#define FIELD_MAX  UINT16_MAX /* no record is longer */

struct format {
	char *name; /* "kvm:kvm_exit"; owned */
	uint64_t id;
	const char *text; /* in the data; not terminated */
	size_t size;
	size_t system_size;      /* of the name up to the colon */
	struct tep_event *event; /* once it was asked for; tep's */
	bool parsed;
};

struct hlg_trace {
	const char *path, *how;
	char *data;
	struct format *formats; /* as in the recording */
	size_t n;
	struct format **by_id, **by_name; /* each; the first of several comes first */
	struct tep_handle *tep;
};

struct cursor {
	const char *at;
	size_t rest;
};

static bool take(struct cursor *c, const char **bytes, uint64_t n)
{
	if (n > c->rest)
		return false;
	if (bytes)
		*bytes = c->at;
	c->at += n;
	c->rest -= n;
	return true;
}

static bool take_number(struct cursor *c, uint64_t *v, size_t size)
{
	const char *bytes;

	*v = 0;
	if (!take(c, &bytes, size))
		return false;
	memcpy(v, bytes, size); /* both little-endian */
	return true;
}

static bool take_string(struct cursor *c, const char **text)
{
	return take(c, text, strnlen(c->at, c->rest) + 1);
}

static bool take_text(struct cursor *c, const char **text, uint64_t *size)
{
	return take_number(c, size, 8) && take(c, text, *size);
}

/* "header_page" or "header_event". */
static bool skip_header(struct cursor *c, const char *name)
{
	const char *text;
	uint64_t size;

	return take_string(c, &text) && strcmp(text, name) == 0 &&
	       take_text(c, &text, &size);
}

static bool skip_ftrace(struct cursor *c)
{
	const char *text;
	uint64_t n, size;

	if (!take_number(c, &n, 4))
		return false;
	while (n--)
		if (!take_text(c, &text, &size))
			return false;
	return true;
}

/* The word behind key in a text of size bytes: its length, 0 if there is none. */
static size_t find_word(const char *text, size_t size, const char *key, const char **word)
{
	const char *at = memmem(text, size, key, strlen(key)), *end = text + size;
	size_t n = 0;

	if (!at)
		return 0;
	*word = at + strlen(key);
	while (*word + n < end && (*word)[n] != '\n' && (*word)[n] != '\0')
		n++;
	return n;
}

/* Returns false without memory. A text without name or number is nobody's. */
static bool add_format(struct hlg_trace *trace, const char *system, const char *text,
		       size_t size)
{
	const char *name = NULL, *number = NULL;
	size_t length = find_word(text, size, "name: ", &name);
	size_t digits = find_word(text, size, "\nID: ", &number);
	struct format *more, format = {.text = text, .size = size};

	if (!length || !digits || length > 256 || size > FORMAT_MAX)
		return true;
	for (size_t i = 0; i < digits && i < 18; i++) {
		if (number[i] < '0' || number[i] > '9')
			return true;
		format.id = format.id * 10 + (uint64_t)(number[i] - '0');
	}
	/* Doubled at powers of two. */
	if ((trace->n & (trace->n - 1)) == 0) {
		more = reallocarray(trace->formats, trace->n ? 2 * trace->n : 1,
				    sizeof(*more));
		if (!more)
			return false;
		trace->formats = more;
	}
	format.system_size = strlen(system);
	if (asprintf(&format.name, "%s:%.*s", system, (int)length, name) < 0)
		return false;
	trace->formats[trace->n++] = format;
	return true;
}

/* Returns 1, 0 if the data are damaged, -1 without memory. */
static int read_systems(struct hlg_trace *trace, struct cursor *c)
{
	const char *system, *text;
	uint64_t systems, n, size;

	if (!take_number(c, &systems, 4))
		return 0;
	while (systems--) {
		if (!take_string(c, &system) || !take_number(c, &n, 4))
			return 0;
		while (n--) {
			if (!take_text(c, &text, &size))
				return 0;
			if (!add_format(trace, system, text, size))
				return -1;
		}
	}
	return 1;
}

static int compare_ids(const struct format *a, const struct format *b)
{
	return (a->id > b->id) - (a->id < b->id);
}

static int compare_names(const struct format *a, const struct format *b)
{
	return strcmp(a->name, b->name);
}

static int order_ids(const void *a, const void *b)
{
	const struct format *const *x = a, *const *y = b;
	int order = compare_ids(*x, *y);

	return order ? order : (*x > *y) - (*x < *y);
}

static int order_names(const void *a, const void *b)
{
	const struct format *const *x = a, *const *y = b;
	int order = compare_names(*x, *y);

	return order ? order : (*x > *y) - (*x < *y);
}

/* Once all are there. False without memory. */
static bool sort_formats(struct hlg_trace *trace)
{
	trace->by_id = calloc(trace->n + 1, sizeof(struct format *));
	trace->by_name = calloc(trace->n + 1, sizeof(struct format *));
	if (!trace->by_id || !trace->by_name)
		return false;
	for (size_t i = 0; i < trace->n; i++)
		trace->by_id[i] = trace->by_name[i] = &trace->formats[i];
	qsort(trace->by_id, trace->n, sizeof(struct format *), order_ids);
	qsort(trace->by_name, trace->n, sizeof(struct format *), order_names);
	return true;
}

/* The first that is as wanted, or NULL. */
static struct format *find_sorted(struct format *const *sorted, size_t n,
				  const struct format *wanted,
				  int (*compare)(const struct format *,
						 const struct format *))
{
	size_t from = 0;

	for (size_t to = n; from < to;) {
		size_t middle = from + (to - from) / 2;

		if (compare(sorted[middle], wanted) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from < n && compare(sorted[from], wanted) == 0 ? sorted[from] : NULL;
}

static int read_data(struct hlg_trace *trace, size_t size)
{
	static const char magic[] = {'\x17', '\x08', '\x44', 't', 'r',
				     'a',    'c',    'i',    'n', 'g'};
	struct cursor c = {trace->data, size};
	const char *text;
	uint64_t big_endian, long_size;

	if (!take(&c, &text, sizeof(magic)) || memcmp(text, magic, sizeof(magic)) != 0 ||
	    !take_string(&c, &text) || !take_number(&c, &big_endian, 1) || big_endian ||
	    !take_number(&c, &long_size, 1) || !take(&c, NULL, 4) ||
	    !skip_header(&c, "header_page") || !skip_header(&c, "header_event") ||
	    !skip_ftrace(&c))
		return 0;
	return read_systems(trace, &c);
}

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
	rc = read_data(trace, size);
	if (rc > 0 && !sort_formats(trace))
		rc = -1;
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
	const struct format wanted = {.id = id};
	const struct format *format =
		find_sorted(trace->by_id, trace->n, &wanted, compare_ids);

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
	for (size_t i = 0; i < trace->n; i++)
		free(trace->formats[i].name);
	free(trace->formats);
	free(trace->by_id);
	free(trace->by_name);
	if (trace->tep)
		tep_free(trace->tep);
	free(trace->data);
	free(trace);
}

/* Leaves format->event NULL where the text makes no sense. False without memory. */
static bool parse(struct hlg_trace *trace, struct format *format)
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
	const struct format wanted = {.name = (char *)event};
	struct format *format =
		find_sorted(trace->by_name, trace->n, &wanted, compare_names);
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
