// SPDX-License-Identifier: GPL-2.0-only
#include "filter/write/json-stream.h"

#include <stdlib.h>
#include <string.h>

#include "filter/write/json-parts.h"

static void end_line(const struct hlg_json_stream *s, unsigned depth)
{
	fprintf(s->f, "\n%*s", (int)depth, "");
}

static void begin_element(struct hlg_json_stream *s)
{
	if (s->any)
		fputc(',', s->f);
	if (s->depth)
		end_line(s, s->depth);
	s->any = true;
}

/* A value, without the last cut bytes of its text; in strings there are no newlines. */
static void put(const struct hlg_json_stream *s, json_t *value, size_t cut)
{
	char *text = json_dumps(value, JSON_INDENT(1) | JSON_REAL_PRECISION(6) |
					       JSON_ENCODE_ANY);
	size_t size = text ? strlen(text) - cut : 0;

	hlg_json_watch(text);
	for (size_t at = 0, end; at < size; at = end + 1) {
		const char *newline = memchr(text + at, '\n', size - at);

		end = newline ? (size_t)(newline - text) : size;
		fwrite(text + at, 1, end - at, s->f);
		if (newline)
			end_line(s, s->depth);
	}
	free(text);
	json_decref(value);
}

void hlg_json_stream_open(struct hlg_json_stream *stream, json_t *object,
			  const char *list)
{
	begin_element(stream);
	put(stream, object, strlen("\n}"));
	fputc(',', stream->f);
	end_line(stream, stream->depth + 1);
	fprintf(stream->f, "\"%s\": [", list);
	stream->depth += 2;
	stream->any = false;
}

void hlg_json_stream_add(struct hlg_json_stream *stream, json_t *element)
{
	begin_element(stream);
	put(stream, element, 0);
}

void hlg_json_stream_close(struct hlg_json_stream *stream)
{
	stream->depth -= 2;
	if (stream->any)
		end_line(stream, stream->depth + 1);
	fputc(']', stream->f);
	end_line(stream, stream->depth);
	fputc('}', stream->f);
	stream->any = true;
}
