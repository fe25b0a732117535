// SPDX-License-Identifier: GPL-2.0-only
#include "tools/pprof/encode.h"

#include <stdlib.h>
#include <string.h>

void *hlg_encode_messages(struct hlg_encoder *e, size_t n,
			  const ProtobufCMessageDescriptor *type)
{
	unsigned char *all = hlg_saved_arena_alloc(&e->arena, n, type->sizeof_message);
	void **to = hlg_saved_arena_alloc(&e->arena, n, sizeof(*to));

	if (!all || !to)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		to[i] = all + type->sizeof_message * i;
		protobuf_c_message_init(type, to[i]);
	}
	return to;
}

void hlg_encode_refer(struct hlg_encoder *e, int64_t *field, const char *text)
{
	if (HLG_GROW(e->references, e->n_references))
		e->references[e->n_references++] =
			(struct hlg_encode_reference){text, field};
	else
		e->failed = true;
}

static int compare_references(const void *a, const void *b)
{
	const struct hlg_encode_reference *x = a, *y = b;

	return strcmp(x->text, y->text);
}

bool hlg_encode_strings(struct hlg_encoder *e)
{
	char **strings =
		hlg_saved_arena_alloc(&e->arena, e->n_references, sizeof(*strings));
	size_t n = 0;

	if (!strings)
		return false;
	qsort(e->references, e->n_references, sizeof(*e->references), compare_references);
	for (size_t i = 0; i < e->n_references; i++) {
		const struct hlg_encode_reference *r = &e->references[i];

		if (n == 0 || strcmp(strings[n - 1], r->text) != 0)
			strings[n++] = (char *)(uintptr_t)r->text;
		*r->field = (int64_t)n - 1;
	}
	e->profile.n_string_table = n;
	e->profile.string_table = strings;
	return true;
}
