// SPDX-License-Identifier: GPL-2.0-only
#include "tools/pprof/decode.h"

#include <string.h>

int hlg_decode_fail(struct hlg_decoder *d, const char *problem)
{
	return hlg_err_set(d->err, HLG_EINPUT, "%s: is damaged: %s (save it again)",
			   d->path, problem);
}

int hlg_decode_fail_memory(struct hlg_decoder *d)
{
	return hlg_err_memory(d->err, d->path);
}

int hlg_decode_fail_unpack(struct hlg_decoder *d, const struct hlg_unpack *why)
{
	if (why->spent)
		return hlg_err_set(d->err, HLG_EINPUT,
				   "%s: is damaged: it would take more than %zu MiB of "
				   "memory (save it again)",
				   d->path, why->most >> 20);
	return why->failed ? hlg_decode_fail_memory(d)
			   : hlg_decode_fail(d, "it is not in pprof's format");
}

const char *hlg_decode_text(const struct hlg_decoder *d, int64_t i)
{
	return i >= 0 && (uint64_t)i < d->p->n_string_table ? d->p->string_table[i]
							    : NULL;
}

int hlg_decode_name(struct hlg_decoder *d, int64_t i, const char **to,
		    const char *problem)
{
	const char *name = hlg_decode_text(d, i);
	size_t len = name ? strlen(name) : 0;

	if (!name)
		return hlg_decode_fail(d, problem);
	if (len >= d->names)
		return hlg_decode_fail(d, "its names are too long in all");
	d->names -= len;
	if (!d->texts[i])
		d->texts[i] = hlg_saved_text(d->saved, name);
	*to = d->texts[i];
	return *to ? 0 : hlg_decode_fail_memory(d);
}

bool hlg_decode_keep_unknown(struct hlg_decoder *d, ProtobufCMessage *to,
			     const ProtobufCMessage *from)
{
	for (unsigned i = 0; i < from->n_unknown_fields; i++) {
		ProtobufCMessageUnknownField field = from->unknown_fields[i];
		const uint8_t *bytes = field.data;

		field.data = hlg_saved_arena_alloc(&d->saved->arena, field.len, 1);
		if (!field.data || !hlg_saved_add_unknown(d->saved, to, &field))
			return false;
		if (field.len)
			memcpy(field.data, bytes, field.len);
	}
	return true;
}

bool hlg_decode_own_unknown(struct hlg_decoder *d, ProtobufCMessage *row)
{
	ProtobufCMessage read = *row;

	row->n_unknown_fields = 0;
	row->unknown_fields = NULL;
	return hlg_decode_keep_unknown(d, row, &read);
}

bool hlg_decode_is_part(size_t part, int64_t value)
{
	int64_t least = part == HLG_SAVED_N_KEYS - 1 ? -1 : INT32_MIN;

	return value >= least && value <= INT32_MAX;
}

bool hlg_decode_is_key(const struct hlg_decoder *d, const struct hlg_saved_key *key)
{
	for (size_t i = 0; i < HLG_SAVED_N_KEYS; i++)
		if (d->p->extra->by >> i & 1 ? !hlg_decode_is_part(i, key->part[i])
					     : key->part[i] != 0)
			return false;
	return key->event < d->p->extra->n_event;
}
