// SPDX-License-Identifier: GPL-2.0-only
#include <config.h>

#include "tools/sysprof/sysprof.h"

#if HLG_HAVE_JANSSON
#include <stdlib.h>
#include <string.h>

#include "filter/output/memstream.h"
#include "filter/write/json.h"

/* A stack, or the leaves of some. */
struct row {
	const uint32_t *lua, *host;
	uint32_t n_lua, n_host;
	enum hlg_sysprof_state state;
	uint64_t samples;
};

static void set_number(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, hlg_json_number(value));
}

static json_t *name_of(const struct hlg_sysprof *s, const struct hlg_sysprof_frame *frame)
{
	struct hlg_memstream m;
	json_t *name = NULL;
	char *text;

	if (hlg_memstream_open(&m))
		hlg_sysprof_name(m.f, s, frame);
	text = hlg_memstream_close(&m);
	if (text)
		name = hlg_json_text(text);
	hlg_json_watch(name);
	free(text);
	return name;
}

static json_t *frame_of(const struct hlg_sysprof *s,
			const struct hlg_sysprof_frame *frame)
{
	static const char *const kinds[] = {"", "lua", "c", "fast", "host", "trace"};
	const char *known = hlg_strings_get(&s->names, frame->name);
	json_t *o = json_object();

	json_object_set_new(o, "kind", json_string(kinds[frame->kind]));
	json_object_set_new(o, "name", name_of(s, frame));
	if (frame->kind == HLG_FRAME_FAST)
		set_number(o, "number", frame->addr);
	else
		json_object_set_new(o, "address", hlg_json_hex(frame->addr));
	if (frame->kind == HLG_FRAME_TRACE) {
		set_number(o, "number", frame->trace);
		json_object_set_new(o, "begins",
				    frame->begins_known ? hlg_json_number(frame->begins)
							: json_null());
	}
	if (frame->kind == HLG_FRAME_TRACE || frame->kind == HLG_FRAME_LUA) {
		json_object_set_new(o, "chunk", hlg_json_text(known));
		set_number(o, "line", frame->line);
	} else if (known) {
		json_object_set_new(o, "symbol_address", hlg_json_hex(frame->start));
	}
	return o;
}

static json_t *frames_of(const struct hlg_sysprof *s)
{
	json_t *list = json_array();
	uint64_t total = 0;

	for (uint32_t i = 0; i < s->n_frames; i++) {
		json_t *o = frame_of(s, &s->frames[i]);

		total += json_string_length(json_object_get(o, "name")) +
			 json_string_length(json_object_get(o, "chunk"));
		json_array_append_new(list, o);
		/* As with text: many frames may be of one long name. */
		if (total > HLG_SYSPROF_MAX_TEXT / 2) {
			hlg_json_watch(NULL);
			break;
		}
	}
	return list;
}

static json_t *ids_of(const uint32_t *ids, uint32_t n)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(list, json_integer(ids[i]));
	return list;
}

static int compare_ids(const uint32_t *a, uint32_t n_a, const uint32_t *b, uint32_t n_b)
{
	for (uint32_t i = 0; i < n_a && i < n_b; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return n_a < n_b ? -1 : n_a > n_b;
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int order = (int)x->state - (int)y->state;

	if (order == 0)
		order = compare_ids(x->lua, x->n_lua, y->lua, y->n_lua);
	return order ? order : compare_ids(x->host, x->n_host, y->host, y->n_host);
}

static int compare_samples(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return compare_rows(a, b);
}

/* By samples; of equal rows one gets the samples of all, and the others stand last. */
static void sort_rows(struct row *rows, size_t n)
{
	qsort(rows, n, sizeof(*rows), compare_rows);
	for (size_t i = 1; i < n; i++)
		if (compare_rows(&rows[i - 1], &rows[i]) == 0) {
			rows[i].samples += rows[i - 1].samples;
			rows[i - 1].samples = 0;
		}
	qsort(rows, n, sizeof(*rows), compare_samples);
}

/* Whole ones, or cut to their leaves. */
static json_t *stacks_of(const struct hlg_sysprof *s, bool leaves)
{
	struct row *rows = calloc((size_t)s->n_stacks + 1, sizeof(*rows));
	json_t *list = json_array();

	hlg_json_watch(rows);
	for (uint32_t i = 0; rows && i < s->n_stacks; i++) {
		const struct hlg_sysprof_stack *from = &s->stacks[i];
		const uint32_t *lua = s->ids + from->at;

		rows[i] = (struct row){lua,
				       lua + from->n_lua,
				       leaves && from->n_lua ? 1 : from->n_lua,
				       leaves && from->n_host ? 1 : from->n_host,
				       from->state,
				       from->samples};
	}
	if (rows)
		sort_rows(rows, s->n_stacks);
	/* There is one more, which has no samples. */
	for (const struct row *row = rows; row && row->samples; row++) {
		json_t *o = json_object();

		json_object_set_new(o, "state",
				    json_string(hlg_sysprof_state(row->state)));
		set_number(o, "samples", row->samples);
		json_object_set_new(o, "lua", ids_of(row->lua, row->n_lua));
		json_object_set_new(o, "host", ids_of(row->host, row->n_host));
		json_array_append_new(list, o);
	}
	free(rows);
	return list;
}

static json_t *records_of(const uint64_t records[static HLG_SYSPROF_SYMBOLS])
{
	json_t *o = json_object();

	set_number(o, "lua", records[HLG_SYSPROF_LUA]);
	set_number(o, "c", records[HLG_SYSPROF_C]);
	set_number(o, "traces", records[HLG_SYSPROF_TRACES]);
	return o;
}

int hlg_sysprof_json(void *output, FILE *f, struct hlg_err *err)
{
	const struct hlg_sysprof_output *o = output;
	const struct hlg_sysprof *s = o->s;
	json_t *states = json_object();
	struct hlg_json json;

	hlg_json_begin(&json, f, 1);
	hlg_json_put(&json, "path", hlg_json_text(o->path));
	hlg_json_put(&json, "samples", hlg_json_number(s->samples));
	for (int i = 0; i < HLG_SYSPROF_STATES; i++)
		set_number(states, hlg_sysprof_state(i), s->states[i]);
	hlg_json_put(&json, "states", states);
	hlg_json_put(&json, "symbols", records_of(s->table));
	hlg_json_put(&json, "changes", records_of(s->changes));
	hlg_json_put(&json, "complete", json_boolean(s->ended));
	hlg_json_put(&json, "bytes_lost", hlg_json_number(s->left));
	hlg_json_put(&json, "notes", hlg_json_lines(o->notes.line, o->notes.n));
	if (o->mode != HLG_SYSPROF_COUNTERS) {
		hlg_json_put(&json, "frames", frames_of(s));
		hlg_json_put(&json, "stacks", stacks_of(s, o->mode == HLG_SYSPROF_LEAF));
	}
	return hlg_json_end(&json, err);
}

#endif
