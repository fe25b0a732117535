// SPDX-License-Identifier: GPL-2.0-only
#include "tools/lookup/answer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "filter/view/place-name.h"
#include "symtab/escape.h"
#include "symtab/name/demangle.h"
#include "tools/inputs/places.h"
#if HLG_HAVE_JANSSON
#include "filter/write/json.h"
#endif

/* file:line, as addr2line has it: a line that nobody names is a '?'. */
static void print_line(FILE *f, const struct hlg_source_line *line)
{
	hlg_escape_print(f, line->file);
	if (line->line > 0)
		fprintf(f, ":%d", line->line);
	else
		fputs(":?", f);
}

static bool print_inline(FILE *f, const struct hlg_source_inline *inl, bool demangle)
{
	char *name = hlg_demangle_if(demangle, inl->function);

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

static int write_text(void *answer, FILE *f, struct hlg_err *err)
{
	const struct hlg_answer *a = answer;
	bool ok = true;

	fprintf(f, "0x%" PRIx64 " ", a->asked);
	hlg_escape_print(f, a->name);
	if (a->place.image)
		fprintf(f, "+0x%" PRIx64, a->place.addr - a->place.start);
	fprintf(f, " (%s", hlg_place_name_kind(a->place.kind));
	if (a->place.image) {
		fputs(", ", f);
		hlg_escape_print(f, hlg_image_word(a->place.image));
	}
	if (a->inside)
		fprintf(f, ", inside an instruction: is it this ELF%s?",
			a->own ? "" : ", at this base");
	fputc(')', f);
	if (a->known) {
		fputc(' ', f);
		print_line(f, &a->line);
	}
	fputc('\n', f);
	for (size_t i = 0; ok && i < a->n_inlines; i++)
		ok = print_inline(f, &a->inlines[i], a->demangle);
	if (a->named)
		hlg_places_put_aliases(f, &a->place);
	return ok ? 0 : hlg_err_memory(err, "lookup");
}

#if HLG_HAVE_JANSSON
static void put(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(object, key, value);
}

static void put_line(json_t *object, const struct hlg_source_line *line)
{
	put(object, "file", hlg_json_text(line->file));
	if (line->line > 0)
		put(object, "line", json_integer(line->line));
}

static json_t *inlines_of(const struct hlg_answer *a)
{
	json_t *list = json_array();

	for (size_t i = 0; i < a->n_inlines; i++) {
		char *name = hlg_demangle_if(a->demangle, a->inlines[i].function);
		json_t *o = json_object();

		hlg_json_watch(name);
		put(o, "depth", hlg_json_number(i));
		put(o, "name", hlg_json_text(name));
		put_line(o, &a->inlines[i].call);
		json_array_append_new(list, o);
		free(name);
	}
	return list;
}

static int write_json(void *answer, FILE *f, struct hlg_err *err)
{
	const struct hlg_answer *a = answer;
	const struct hlg_place *place = &a->place;
	json_t *o;
	int rc;

	hlg_json_watch_begin();
	o = json_object();
	put(o, "asked", hlg_json_hex(a->asked));
	put(o, "kind", hlg_json_text(hlg_place_name_kind(place->kind)));
	put(o, "name", hlg_json_text(a->name));
	if (place->image) {
		put(o, "image", hlg_json_text(hlg_image_word(place->image)));
		put(o, "address", hlg_json_hex(place->addr));
		put(o, "offset", hlg_json_number(place->addr - place->start));
		put(o, "size", hlg_json_number(place->end - place->start));
		if (a->inside)
			put(o, "inside_instruction", json_true());
	}
	if (a->known)
		put_line(o, &a->line);
	if (a->n_inlines)
		put(o, "inlined", inlines_of(a));
	rc = hlg_json_dump(f, o, "lookup", err);
	json_decref(o);
	return rc;
}
#endif

const struct hlg_format hlg_answer_text = {.name = "text", .write = write_text};
const struct hlg_format hlg_answer_json = {.name = "json",
					   HLG_FORMAT_JANSSON(write_json)};
