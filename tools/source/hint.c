// SPDX-License-Identifier: GPL-2.0-only
#include "tools/source/hint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/name/demangle.h"

enum {
	PROBES = 16, /* addresses of a function that are looked at */
	DEPTH = 32   /* functions inlined into one another */
};

/* The outermost function that was inlined at addr; NULL: none was. */
static const char *inlined_at(struct hlg_source *source, uint64_t addr)
{
	struct hlg_source_inline inlines[DEPTH];
	size_t n = hlg_source_inlines(source, addr, inlines, DEPTH);

	return n ? inlines[n - 1].function : NULL;
}

/* The one at most of the probes, if it is at half of them or more. */
static const char *most_inlined(struct hlg_source *source, const struct hlg_place *place)
{
	const char *at[PROBES];
	uint64_t size = place->end - place->start;

	for (uint64_t i = 0; i < PROBES; i++)
		at[i] = inlined_at(source, place->start + size * i / PROBES);
	for (size_t i = 0; i < PROBES; i++) {
		size_t n = 0;

		for (size_t j = 0; at[i] && j < PROBES; j++)
			n += at[j] && strcmp(at[i], at[j]) == 0;
		if (n >= PROBES / 2)
			return at[i];
	}
	return NULL;
}

char *hlg_hint_of(void *ctx, const struct hlg_place *place)
{
	const struct hlg_hint *hint = ctx;
	struct hlg_source *source = hlg_source_of(hint->sources, place->image);
	const char *function = source ? most_inlined(source, place) : NULL, *slash;
	struct hlg_source_line line;
	char *text;

	if (function)
		return hlg_demangle_if(hint->demangle, function);
	if (!source || !hlg_source_find(source, place->start, &line) || line.line == 0)
		return NULL;
	slash = strrchr(line.file, '/');
	return asprintf(&text, "%s:%d", slash ? slash + 1 : line.file, line.line) < 0
		       ? NULL
		       : text;
}
