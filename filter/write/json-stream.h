/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A large document of JSON, written as it is made: objects whose last member is a list,
 * of values or again of such objects. The same bytes as jansson writes for the whole with
 * JSON_INDENT(1), for the memory of one element.
 */
#ifndef HLG_FILTER_WRITE_JSON_STREAM_H
#define HLG_FILTER_WRITE_JSON_STREAM_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

/* {.f = where to}. What is lost for want of memory is not written, and hlg_json_lost().
 */
struct hlg_json_stream {
	FILE *f;
	unsigned depth; /* of the list's elements */
	bool any;       /* there is one */
};

/* Writes an object, which is released, up to the list behind its members (one at least).
 */
void hlg_json_stream_open(struct hlg_json_stream *stream, json_t *object,
			  const char *list);

/* Writes an element, which is released. */
void hlg_json_stream_add(struct hlg_json_stream *stream, json_t *element);

/* Ends the list and its object. */
void hlg_json_stream_close(struct hlg_json_stream *stream);

#endif
