// SPDX-License-Identifier: GPL-2.0-only
/*
 * The container of the formats is taken apart, each step checked: 17 08 44 and
 * "tracing", a version, u8 big-endian, u8 size of long, u32 page size; "header_page" and
 * "header_event", each with u64 size and text; u32 number of ftrace's own formats, each
 * u64 size and text; u32 number of systems, each a name, u32 number of formats, and these
 * (tools/perf/util/trace-event-info.c, tracing_data_get). What follows is not read.
 *
 * Of a format only a line that looks as the kernel writes it (kernel/trace/
 * trace_events.c, f_show) declares a field:
 *
 *	name: kvm_exit
 *	ID: 103
 *	format:
 *		field:unsigned int exit_reason;	offset:8;	size:4;	signed:0;
 *
 * Arrays and strings are no numbers and not found; "print fmt", a program in C, is not
 * looked at.
 */
#include "tools/tracepoint/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/profile/strings.h"
#include "symtab/bsearch.h"
#include "symtab/grow.h"

#define WORD_MAX   256        /* bytes of a name, and of its system's, which all share */
#define FORMAT_MAX (1u << 16) /* bytes of one format; the kernel's are a few thousand */
#define DIGITS_MAX 6          /* of an offset or a size; no record has longer ones */

struct cursor {
	const char *at;
	size_t rest;
};

struct number {
	uint64_t id;
	uint32_t name;
};

struct hlg_trace {
	const char *path, *how;
	char *data;
	struct hlg_strings names; /* "kvm:kvm_exit" */
	struct cursor *formats;   /* the text of each name's first, in data */
	struct number *numbers;   /* sorted by id, then by name */
	size_t n_numbers;
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
static bool add_format(struct hlg_trace *t, const char *system, const char *text,
		       size_t size)
{
	const char *name = NULL, *digits = NULL;
	size_t length = find_word(text, size, "name: ", &name);
	size_t n_digits = find_word(text, size, "\nID: ", &digits);
	char whole[2 * WORD_MAX + 2];
	struct number number = {0};

	if (!length || !n_digits || length > WORD_MAX ||
	    strnlen(system, WORD_MAX + 1) > WORD_MAX || size > FORMAT_MAX)
		return true;
	for (size_t i = 0; i < n_digits && i < 18; i++) {
		if (digits[i] < '0' || digits[i] > '9')
			return true;
		number.id = number.id * 10 + (uint64_t)(digits[i] - '0');
	}
	if (!HLG_GROW(t->formats, t->names.n) || !HLG_GROW(t->numbers, t->n_numbers))
		return false;
	snprintf(whole, sizeof(whole), "%s:%.*s", system, (int)length, name);
	number.name = hlg_strings_find(&t->names, whole);
	if (number.name == HLG_NO_STRING) {
		number.name = hlg_strings_add(&t->names, whole);
		if (number.name == HLG_NO_STRING)
			return false;
		t->formats[number.name - 1] = (struct cursor){text, size};
	}
	t->numbers[t->n_numbers++] = number;
	return true;
}

/* Returns 1, 0 if the data are damaged, -1 without memory. */
static int read_systems(struct hlg_trace *t, struct cursor *c)
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
			if (!add_format(t, system, text, size))
				return -1;
		}
	}
	return 1;
}

static int compare_numbers(const void *a, const void *b)
{
	const struct number *x = a, *y = b;

	return x->id != y->id ? (x->id < y->id ? -1 : 1)
			      : (x->name > y->name) - (x->name < y->name);
}

/* Returns 1, 0 if the data are damaged, -1 without memory. */
static int read_formats(struct hlg_trace *t, size_t size)
{
	static const char magic[] = {'\x17', '\x08', '\x44', 't', 'r',
				     'a',    'c',    'i',    'n', 'g'};
	struct cursor c = {t->data, size};
	const char *text;
	uint64_t big_endian, long_size;
	int rc;

	if (!take(&c, &text, sizeof(magic)) || memcmp(text, magic, sizeof(magic)) != 0 ||
	    !take_string(&c, &text) || !take_number(&c, &big_endian, 1) || big_endian ||
	    !take_number(&c, &long_size, 1) || !take(&c, NULL, 4) ||
	    !skip_header(&c, "header_page") || !skip_header(&c, "header_event") ||
	    !skip_ftrace(&c))
		return 0;
	rc = read_systems(t, &c);
	if (t->n_numbers)
		qsort(t->numbers, t->n_numbers, sizeof(*t->numbers), compare_numbers);
	return rc;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool take_literal(struct cursor *c, const char *text)
{
	size_t n = strlen(text);

	return n <= c->rest && memcmp(c->at, text, n) == 0 && take(c, NULL, n);
}

static bool take_decimal(struct cursor *c, uint32_t *v)
{
	const char *start = c->at;

	*v = 0;
	while (c->rest && is_digit(*c->at) && c->at - start < DIGITS_MAX) {
		*v = *v * 10 + (uint32_t)(*c->at - '0');
		take(c, NULL, 1);
	}
	return c->at > start;
}

static bool take_word(struct cursor *c, struct cursor *word)
{
	*word = *c;
	while (c->rest && (is_letter(*c->at) || (c->at > word->at && is_digit(*c->at))))
		take(c, NULL, 1);
	word->rest = (size_t)(c->at - word->at);
	return word->rest > 0;
}

/* Between two words of a declaration: one blank, or a '*' that may have one. */
static bool take_gap(struct cursor *c)
{
	bool pointer = take_literal(c, "*"), blank = take_literal(c, " ");

	while (take_literal(c, "*"))
		take_literal(c, " ");
	return pointer || blank;
}

/* "TYPE... NAME", at least two words: the last one is the name. */
static bool take_declaration(struct cursor *c, struct cursor *name)
{
	unsigned words = 0;

	do {
		if (!take_word(c, name))
			return false;
		words++;
	} while (take_gap(c));
	return words > 1;
}

/* A line that declares a field; of a kernel that does not write "signed:" it is none. */
static bool take_field(struct cursor line, struct cursor *name, uint32_t *offset,
		       uint32_t *size, uint32_t *is_signed)
{
	*is_signed = 0;
	if (!take_literal(&line, "\tfield:") || !take_declaration(&line, name) ||
	    !take_literal(&line, ";\toffset:") || !take_decimal(&line, offset) ||
	    !take_literal(&line, ";\tsize:") || !take_decimal(&line, size) ||
	    !take_literal(&line, ";"))
		return false;
	if (take_literal(&line, "\tsigned:") &&
	    (!take_decimal(&line, is_signed) || !take_literal(&line, ";")))
		return false;
	return line.rest == 0;
}

static struct cursor next_line(struct cursor *text)
{
	const char *end = memchr(text->at, '\n', text->rest);
	struct cursor line = {text->at, end ? (size_t)(end - text->at) : text->rest};

	take(text, NULL, line.rest + (end != NULL));
	return line;
}

static bool is_text(const struct cursor *c, const char *text)
{
	return c->rest == strlen(text) && memcmp(c->at, text, c->rest) == 0;
}

/*
 * Where the first field of this name stands: size 0 if there is none, or it is not a
 * number. Returns false if the text has no line "format:", and so no fields at all.
 */
static bool find_field(struct cursor text, const char *wanted,
		       struct hlg_trace_field *field)
{
	struct cursor name;
	uint32_t offset, size, is_signed;
	bool begun = false;

	*field = (struct hlg_trace_field){0};
	while (text.rest) {
		struct cursor line = next_line(&text);

		begun = begun || is_text(&line, "format:");
		if (!begun || !take_field(line, &name, &offset, &size, &is_signed) ||
		    !is_text(&name, wanted))
			continue;
		if (offset <= UINT16_MAX &&
		    (size == 1 || size == 2 || size == 4 || size == 8))
			*field = (struct hlg_trace_field){offset, (uint8_t)size,
							  is_signed != 0};
		return true;
	}
	return begun;
}

static int fail(const struct hlg_trace *trace, const char *problem, struct hlg_err *err)
{
	return hlg_err_set(err, HLG_EINPUT, "%s: %s (record it with %s)", trace->path,
			   problem, trace->how);
}

static bool was_cut(const struct hlg_perfdata_counts *counts)
{
	return counts->facts_cut || counts->missing || counts->unfinished;
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
	if (size == 0 && was_cut(hlg_perfdata_counts(pd)))
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: was cut off, and with it the formats of its "
				   "tracepoints, which stand at its end (record again)",
				   trace->path);
	if (size == 0)
		return fail(trace, "holds no formats of tracepoints", err);
	rc = read_formats(trace, size);
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
	hlg_strings_finish(&trace->names);
	free(trace->formats);
	free(trace->numbers);
	free(trace->data);
	free(trace);
}

const char *hlg_trace_name(const struct hlg_trace *trace, uint64_t id)
{
	const struct number *numbers = trace->numbers;
	size_t i = id ? HLG_BSEARCH_UPTO(numbers, trace->n_numbers, id, id - 1) : 0;

	return i < trace->n_numbers && numbers[i].id == id
		       ? hlg_strings_get(&trace->names, numbers[i].name)
		       : NULL;
}

int hlg_trace_find(const struct hlg_trace *trace, const char *event, const char *name,
		   struct hlg_trace_field *field, struct hlg_err *err)
{
	uint32_t number = hlg_strings_find(&trace->names, event);

	*field = (struct hlg_trace_field){0};
	if (number == HLG_NO_STRING)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: holds no format of %s (record it with %s)",
				   trace->path, event, trace->how);
	if (!find_field(trace->formats[number - 1], name, field))
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
