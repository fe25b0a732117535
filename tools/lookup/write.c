// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filter/write/write.h"
#include "symtab/escape.h"
#include "symtab/name/demangle.h"
#include "tools/lookup/lookup.h"

/* file:line, as addr2line has it: a line that nobody names is a '?'. */
static void print_line(FILE *f, const struct hlg_source_line *line)
{
	hlg_escape_print(f, line->file);
	if (line->line > 0)
		fprintf(f, ":%d", line->line);
	else
		fputs(":?", f);
}

/* The name of an inlined function, to be freed; NULL without memory. */
static char *inline_name(const struct hlg_source_inline *inl, bool demangle)
{
	return demangle ? hlg_demangle(inl->function) : strdup(inl->function);
}

static bool print_inline(FILE *f, const struct hlg_source_inline *inl, bool demangle)
{
	char *name = inline_name(inl, demangle);

	if (!name)
		return false;
	fputs("  inlined ", f);
	hlg_escape_print(f, name);
	fputs(", called at ", f);
	print_line(f, &inl->call);
	fputc('\n', f);
	free(name);
	return true;
}

bool hlg_lookup_text(FILE *f, const struct hlg_answer *a, bool demangle)
{
	bool ok = true;

	fprintf(f, "0x%" PRIx64 " ", a->asked);
	hlg_escape_print(f, a->name);
	if (a->place.image)
		fprintf(f, "+0x%" PRIx64, a->place.addr - a->place.start);
	fprintf(f, " (%s", hlg_write_kind(a->place.kind));
	if (a->place.image) {
		fputs(", ", f);
		hlg_escape_print(f, a->place.image->path);
	}
	fputc(')', f);
	if (a->known) {
		fputc(' ', f);
		print_line(f, &a->line);
	}
	fputc('\n', f);
	for (size_t i = 0; ok && i < a->n_inlines; i++)
		ok = print_inline(f, &a->inlines[i], demangle);
	return ok;
}

static void put_string(FILE *f, const char *key, const char *text)
{
	fprintf(f, ",\"%s\":", key);
	hlg_write_string(f, text);
}

static void put_line(FILE *f, const struct hlg_source_line *line)
{
	put_string(f, "file", line->file);
	if (line->line > 0)
		fprintf(f, ",\"line\":%d", line->line);
}

static bool put_inline(FILE *f, const struct hlg_source_inline *inl, bool demangle,
		       size_t depth)
{
	char *name = inline_name(inl, demangle);

	if (!name)
		return false;
	fprintf(f, "%s{\"depth\":%zu", depth ? "," : "", depth);
	put_string(f, "name", name);
	put_line(f, &inl->call);
	fputc('}', f);
	free(name);
	return true;
}

bool hlg_lookup_json(FILE *f, const struct hlg_answer *a, bool demangle)
{
	bool ok = true;

	fprintf(f, "{\"asked\":\"0x%" PRIx64 "\",\"kind\":\"%s\"", a->asked,
		hlg_write_kind(a->place.kind));
	put_string(f, "name", a->name);
	if (a->place.image) {
		put_string(f, "image", a->place.image->path);
		fprintf(f, ",\"address\":\"0x%" PRIx64 "\",\"offset\":%" PRIu64,
			a->place.addr, a->place.addr - a->place.start);
		fprintf(f, ",\"size\":%" PRIu64, a->place.end - a->place.start);
	}
	if (a->known)
		put_line(f, &a->line);
	if (a->n_inlines) {
		fputs(",\"inlined\":[", f);
		for (size_t i = 0; ok && i < a->n_inlines; i++)
			ok = put_inline(f, &a->inlines[i], demangle, i);
		fputc(']', f);
	}
	fputs("}\n", f);
	return ok;
}
