// SPDX-License-Identifier: GPL-2.0-only
#include <config.h>

#include "tools/annotate/annotate.h"

#if HLG_HAVE_JANSSON
#include "filter/view/place-name.h"
#include "filter/write/report-json.h"

static const char *kind_word(enum hlg_line_kind kind)
{
	static const char *const words[] = {"instruction", "inside", "plain",
					    "padding",     "other",  "bytes"};

	return words[kind];
}

static void put_target(json_t *o, const struct hlg_line *line)
{
	json_t *target;

	if (!line->has_target)
		return;
	target = json_object();
	json_object_set_new(target, "addr", hlg_json_hex(line->target));
	json_object_set_new(target, "name", hlg_json_text(line->target_name));
	json_object_set_new(o, "target", target);
}

static json_t *line_of(const struct hlg_listing *l, const struct hlg_line *line,
		       bool edges)
{
	json_t *o = json_object();

	json_object_set_new(o, "addr", hlg_json_hex(line->addr));
	json_object_set_new(o, "kind", json_string(kind_word(line->kind)));
	json_object_set_new(o, "size", hlg_json_number(line->length));
	json_object_set_new(o, "text", hlg_json_text(line->text));
	hlg_json_put_count(o, line->count);
	json_object_set_new(o, "percent", hlg_json_percent(line->share));
	json_object_set_new(o, "hottest", json_boolean(line->hottest));
	json_object_set_new(o, "vm_exit", json_boolean(line->exit));
	json_object_set_new(o, "is_target", json_boolean(line->is_target));
	put_target(o, line);
	if (edges && !l->no_edges)
		json_object_set_new(o, "edge", json_boolean(line->edge));
	if (line->file) {
		json_object_set_new(o, "file", hlg_json_text(line->file));
		if (line->source_line > 0)
			json_object_set_new(o, "line", json_integer(line->source_line));
		if (line->inlined)
			json_object_set_new(o, "inlined", hlg_json_text(line->inlined));
	}
	return o;
}

static void put_place(json_t *o, const struct hlg_place *place)
{
	const struct hlg_image *image = place->image;

	json_object_set_new(o, "symbol",
			    place->symbol
				    ? hlg_json_text(hlg_image_name(image, place->symbol))
				    : json_null());
	json_object_set_new(o, "kind", json_string(hlg_place_name_kind(place->kind)));
	json_object_set_new(o, "image",
			    hlg_json_text(image ? hlg_image_word(image) : NULL));
	json_object_set_new(o, "addr", image ? hlg_json_hex(place->start) : json_null());
	json_object_set_new(o, "size",
			    image ? hlg_json_number(place->end - place->start)
				  : json_null());
	json_object_set_new(o, "aliases", hlg_json_aliases(place));
}

struct writer {
	struct hlg_json json;
	bool edges;
};

static void add_listing(void *ctx, const struct hlg_listing *l,
			const struct hlg_view *view, const char *series)
{
	struct writer *w = ctx;
	struct hlg_json *json = &w->json;
	json_t *o = json_object(), *sums = json_object();

	(void)view;
	json_object_set_new(o, "name", hlg_json_text(l->row->name));
	json_object_set_new(o, "series", hlg_json_text(series));
	put_place(o, &l->row->place);
	hlg_json_put_count(o, l->row->count);
	hlg_json_put_share(o, &l->row->share);
	json_object_set_new(sums, "instruction", hlg_json_count(l->on));
	json_object_set_new(sums, "inside", hlg_json_count(l->inside));
	json_object_set_new(sums, "plain", hlg_json_count(l->plain));
	json_object_set_new(o, "sums", sums);
	json_object_set_new(o, "note", hlg_json_text(l->remark));
	hlg_json_open(json, NULL);
	for (void *i = json_object_iter(o); i; i = json_object_iter_next(o, i))
		hlg_json_put(json, json_object_iter_key(i),
			     json_incref(json_object_iter_value(i)));
	json_decref(o);
	hlg_json_open_list(json, "lines");
	for (size_t i = 0; i < l->n && !hlg_json_lost(); i++)
		hlg_json_put(json, NULL, line_of(l, &l->lines[i], w->edges));
	hlg_json_close(json);
	hlg_json_close(json);
}

int hlg_annotate_json(void *annotate, FILE *f, struct hlg_err *err)
{
	const struct hlg_listings *a = annotate;
	const struct hlg_report *r = a->report;
	struct writer w = {.edges = r->options->skid != 0};
	int rc;

	hlg_report_json_head(&w.json, f, 1, r);
	hlg_json_put(&w.json, "guest", hlg_json_count(r->all.guest));
	hlg_json_put(&w.json, "trust", hlg_report_json_trust(r));
	hlg_json_put(&w.json, "notes", hlg_json_lines(r->notes.line, r->notes.n));
	hlg_json_put(&w.json, "withheld", json_boolean(r->suppressed));
	hlg_json_open_list(&w.json, "functions");
	rc = hlg_listing_each(a, add_listing, &w, err);
	return rc < 0 ? rc : hlg_json_end(&w.json, err);
}

#endif
