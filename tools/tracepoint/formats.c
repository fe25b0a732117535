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
#define DIGITS_MAX 6          /* of an offset or a size; no record has longer ones */

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
static bool add_format(struct hlg_formats *f, const char *system, const char *text,
		       size_t size)
{
	const char *name = NULL, *number = NULL;
	size_t length = find_word(text, size, "name: ", &name);
	size_t digits = find_word(text, size, "\nID: ", &number);
	struct hlg_formats_event *more, format = {.text = text, .size = size};

	if (!length || !digits || length > WORD_MAX ||
	    strnlen(system, WORD_MAX + 1) > WORD_MAX || size > FORMAT_MAX)
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
static int read_systems(struct hlg_formats *f, struct cursor *c)
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

typedef int comparison(const struct hlg_formats_event *,
		       const struct hlg_formats_event *);

static int compare_ids(const struct hlg_formats_event *a,
		       const struct hlg_formats_event *b)
{
	return (a->id > b->id) - (a->id < b->id);
}

static int compare_names(const struct hlg_formats_event *a,
			 const struct hlg_formats_event *b)
{
	return strcmp(a->name, b->name);
}

/* By what is compared, then as in the recording. */
static int order(const void *a, const void *b, void *compare)
{
	const struct hlg_formats_event *const *x = a, *const *y = b;
	int order = (*(comparison **)compare)(*x, *y);

	return order ? order : (*x > *y) - (*x < *y);
}

static void sort(struct hlg_formats_event **sorted, size_t n, comparison *compare)
{
	qsort_r(sorted, n, sizeof(*sorted), order, &compare);
}

/* Once all are there. False without memory. */
static bool sort_formats(struct hlg_formats *f)
{
	f->by_id = calloc(f->n + 1, sizeof(struct hlg_formats_event *));
	f->by_name = calloc(f->n + 1, sizeof(struct hlg_formats_event *));
	if (!f->by_id || !f->by_name)
		return false;
	for (size_t i = 0; i < f->n; i++)
		f->by_id[i] = f->by_name[i] = &f->formats[i];
	sort(f->by_id, f->n, compare_ids);
	sort(f->by_name, f->n, compare_names);
	return true;
}

/* The first that is as wanted, or NULL. */
static const struct hlg_formats_event *find_sorted(
	struct hlg_formats_event *const *sorted, size_t n,
	const struct hlg_formats_event *wanted, comparison *compare)
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

int hlg_formats_read(struct hlg_formats *f, const char *data, size_t size)
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

const struct hlg_formats_event *hlg_formats_id(const struct hlg_formats *f, uint64_t id)
{
	const struct hlg_formats_event wanted = {.id = id};

	return find_sorted(f->by_id, f->n, &wanted, compare_ids);
}

const struct hlg_formats_event *hlg_formats_name(const struct hlg_formats *f,
						 const char *name)
{
	const struct hlg_formats_event wanted = {.name = (char *)name};

	return find_sorted(f->by_name, f->n, &wanted, compare_names);
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

bool hlg_formats_field(const struct hlg_formats_event *format, const char *wanted,
		       struct hlg_trace_field *field)
{
	struct cursor text = {format->text, format->size}, name;
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

void hlg_formats_finish(struct hlg_formats *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->formats[i].name);
	free(f->formats);
	free(f->by_id);
	free(f->by_name);
	*f = (struct hlg_formats){0};
}
