// SPDX-License-Identifier: GPL-2.0-only
#include "tools/record/modifiers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/output/memstream.h"

/* perf-list(1) has them */
#define MODIFIERS "ukhIGHpPSDWebR"

/* Where the event that begins here ends: at a comma that parts events, or the end. */
static const char *find_end(const char *event)
{
	bool terms = false;
	int depth = 0;

	for (; *event; event++) {
		if (*event == '/')
			terms = !terms;
		if (*event == '{')
			depth++;
		if (*event == '}')
			depth--;
		if (*event == ',' && !terms && depth <= 0)
			break;
	}
	return event;
}

/* Where the modifiers of event begin, without what parts them from its name; NULL: it is
 * a tracepoint or a breakpoint. */
static const char *find_modifiers(const char *event, const char *end)
{
	size_t n = (size_t)(end - event);
	const char *brace = memrchr(event, '}', n), *slash = memrchr(event, '/', n);
	const char *name_end = brace ? brace + 1 : slash ? slash + 1 : NULL;
	const char *colon;

	if (strncmp(event, "mem:", 4) == 0)
		return NULL;
	if (name_end)
		return name_end < end && *name_end == ':' ? name_end + 1 : name_end;
	colon = memchr(event, ':', n);
	if (!colon)
		return end;
	colon++;
	return colon + strspn(colon, MODIFIERS) >= end ? colon : NULL;
}

static bool is_clock(const char *event, const char *end)
{
	size_t n = (size_t)(end - event);

	return n >= 9 && (strncmp(event, "cpu-clock", 9) == 0 ||
			  (n >= 10 && strncmp(event, "task-clock", 10) == 0));
}

static void add(FILE *to, const char *event, const char *end, bool host)
{
	const char *modifiers = find_modifiers(event, end);
	bool slash = modifiers && modifiers > event && modifiers[-1] == '/';

	fwrite(event, 1, (size_t)(end - event), to);
	if (!modifiers || memchr(modifiers, 'G', (size_t)(end - modifiers)) ||
	    memchr(modifiers, 'H', (size_t)(end - modifiers)))
		return;
	if (modifiers == end && !slash && end[-1] != ':')
		fputc(':', to);
	fputs(host || is_clock(event, end) ? "HG" : "G", to);
}

char *hlg_record_modifiers_add(const char *events, bool host)
{
	struct hlg_memstream m;
	FILE *to = hlg_memstream_open(&m);
	bool whole;

	if (!to)
		return NULL;
	for (const char *event = events, *end; *event; event = end + (*end == ',')) {
		end = find_end(event);
		if (end > event)
			add(to, event, end, host);
		if (*end)
			fputc(',', to);
	}
	whole = !ferror(to);
	m.lost |= !whole;
	return hlg_memstream_close(&m);
}
