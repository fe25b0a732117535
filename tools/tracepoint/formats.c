// SPDX-License-Identifier: GPL-2.0-only
/*
 * The container of the formats is taken apart, each step checked: 17 08 44 and
 * "tracing", a version, u8 big-endian, u8 size of long, u32 page size; "header_page" and
 * "header_event", each with u64 size and text; u32 number of ftrace's own formats, each
 * u64 size and text; u32 number of systems, each a name, u32 number of formats, and these
 * (tools/perf/util/trace-event-info.c, tracing_data_get). What follows is not read.
 */
#include "tools/tracepoint/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD_MAX   256        /* bytes of a name, and of its system's, which all share */
#define FORMAT_MAX (1u << 16) /* bytes of one format; the kernel's are a few thousand */

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
static bool add_format(struct hlg_trace_formats *f, const char *system, const char *text,
		       size_t size)
{
	const char *name = NULL, *number = NULL;
	size_t length = find_word(text, size, "name: ", &name);
	size_t digits = find_word(text, size, "\nID: ", &number);
	struct hlg_trace_format *more, format = {.text = text, .size = size};

	format.system_size = strnlen(system, WORD_MAX + 1);
	if (!length || !digits || length > WORD_MAX || format.system_size > WORD_MAX ||
	    size > FORMAT_MAX)
		return true;
	for (size_t i = 0; i < digits && i < 18; i++) {
		if (number[i] < '0' || number[i] > '9')
			return true;
		format.id = format.id * 10 + (uint64_t)(number[i] - '0');
	}
	/* Doubled at powers of two. */
	if ((f->n & (f->n - 1)) == 0) {
		more = reallocarray(f->formats, f->n ? 2 * f->n : 1, sizeof(*more));
		if (!more)
			return false;
		f->formats = more;
	}
	if (asprintf(&format.name, "%s:%.*s", system, (int)length, name) < 0)
		return false;
	f->formats[f->n++] = format;
	return true;
}

/* Returns 1, 0 if the data are damaged, -1 without memory. */
static int read_systems(struct hlg_trace_formats *f, struct cursor *c)
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
			if (!add_format(f, system, text, size))
				return -1;
		}
	}
	return 1;
}

typedef int comparison(const struct hlg_trace_format *, const struct hlg_trace_format *);

static int compare_ids(const struct hlg_trace_format *a, const struct hlg_trace_format *b)
{
	return (a->id > b->id) - (a->id < b->id);
}

static int compare_names(const struct hlg_trace_format *a,
			 const struct hlg_trace_format *b)
{
	return strcmp(a->name, b->name);
}

/* By what is compared, then as in the recording. */
static int order(const void *a, const void *b, void *compare)
{
	const struct hlg_trace_format *const *x = a, *const *y = b;
	int order = (*(comparison **)compare)(*x, *y);

	return order ? order : (*x > *y) - (*x < *y);
}

static void sort(struct hlg_trace_format **sorted, size_t n, comparison *compare)
{
	qsort_r(sorted, n, sizeof(*sorted), order, &compare);
}

/* Once all are there. False without memory. */
static bool sort_formats(struct hlg_trace_formats *f)
{
	f->by_id = calloc(f->n + 1, sizeof(struct hlg_trace_format *));
	f->by_name = calloc(f->n + 1, sizeof(struct hlg_trace_format *));
	if (!f->by_id || !f->by_name)
		return false;
	for (size_t i = 0; i < f->n; i++)
		f->by_id[i] = f->by_name[i] = &f->formats[i];
	sort(f->by_id, f->n, compare_ids);
	sort(f->by_name, f->n, compare_names);
	return true;
}

/* The first that is as wanted, or NULL. */
static struct hlg_trace_format *find_sorted(struct hlg_trace_format *const *sorted,
					    size_t n,
					    const struct hlg_trace_format *wanted,
					    comparison *compare)
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

int hlg_trace_formats_read(struct hlg_trace_formats *f, const char *data, size_t size)
{
	static const char magic[] = {'\x17', '\x08', '\x44', 't', 'r',
				     'a',    'c',    'i',    'n', 'g'};
	struct cursor c = {data, size};
	const char *text;
	uint64_t big_endian, long_size;
	int rc;

	if (!take(&c, &text, sizeof(magic)) || memcmp(text, magic, sizeof(magic)) != 0 ||
	    !take_string(&c, &text) || !take_number(&c, &big_endian, 1) || big_endian ||
	    !take_number(&c, &long_size, 1) || !take(&c, NULL, 4) ||
	    !skip_header(&c, "header_page") || !skip_header(&c, "header_event") ||
	    !skip_ftrace(&c))
		return 0;
	rc = read_systems(f, &c);
	return rc > 0 && !sort_formats(f) ? -1 : rc;
}

struct hlg_trace_format *hlg_trace_formats_id(const struct hlg_trace_formats *f,
					      uint64_t id)
{
	const struct hlg_trace_format wanted = {.id = id};

	return find_sorted(f->by_id, f->n, &wanted, compare_ids);
}

struct hlg_trace_format *hlg_trace_formats_name(const struct hlg_trace_formats *f,
						const char *name)
{
	const struct hlg_trace_format wanted = {.name = (char *)name};

	return find_sorted(f->by_name, f->n, &wanted, compare_names);
}

void hlg_trace_formats_finish(struct hlg_trace_formats *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->formats[i].name);
	free(f->formats);
	free(f->by_id);
	free(f->by_name);
	*f = (struct hlg_trace_formats){0};
}
