// SPDX-License-Identifier: GPL-2.0-only
#include "tools/pprof/encode-samples.h"

#include <inttypes.h>

#include "tools/pprof/encode-tables.h"
#include "tools/pprof/server.h"

/* For a server: text, and what is not known is left out. */
static bool add_texts(struct hlg_encoder *e, Pprof__Sample *sample,
		      const struct hlg_saved_key *key)
{
	const struct hlg_pprof_server *to = e->saved->server;
	size_t most = HLG_SAVED_N_KEYS + to->n_labels;

	sample->label = hlg_encode_messages(e, most, &pprof__label__descriptor);
	for (size_t i = 0; sample->label && i < most; i++) {
		Pprof__Label *label = sample->label[sample->n_label];
		size_t fixed = i - HLG_SAVED_N_KEYS;
		char *text;

		if (i < HLG_SAVED_N_KEYS &&
		    (!(e->saved->extra.by >> i & 1) || key->part[i] < 0))
			continue;
		text = hlg_saved_arena_alloc(&e->arena, 16, 1);
		if (!text)
			return false;
		sample->n_label++;
		if (i < HLG_SAVED_N_KEYS) {
			snprintf(text, 16, "%" PRId32, key->part[i]);
			hlg_encode_refer(e, &label->key, hlg_saved_key_names[i]);
			hlg_encode_refer(e, &label->str, text);
		} else {
			hlg_encode_refer(e, &label->key, e->labels[fixed].key);
			hlg_encode_refer(e, &label->str, e->labels[fixed].value);
		}
	}
	return sample->label;
}

static bool add_labels(struct hlg_encoder *e, Pprof__Sample *sample,
		       const struct hlg_saved_key *key)
{
	if (e->saved->server)
		return add_texts(e, sample, key);
	if (!e->saved->extra.by)
		return true;
	sample->label =
		hlg_encode_messages(e, HLG_SAVED_N_KEYS, &pprof__label__descriptor);
	if (!sample->label)
		return false;
	for (size_t i = 0; i < HLG_SAVED_N_KEYS; i++) {
		Pprof__Label *label = sample->label[sample->n_label];

		if (!(e->saved->extra.by >> i & 1))
			continue;
		sample->n_label++;
		label->key = e->keys[i];
		label->num = key->part[i];
		label->num_unit = label->key; /* a 0 without a unit passes for nothing */
	}
	return true;
}

/* What was recorded of a stack. */
static Pprof__Stack *stack_message(struct hlg_encoder *e,
				   const struct hlg_saved_stack *from)
{
	Pprof__Stack **message = hlg_encode_messages(e, 1, &pprof__stack__descriptor),
		     *to;

	if (!message)
		return NULL;
	to = message[0];
	to->n_caller = from->n_callers;
	to->caller = from->callers;
	to->end = from->end;
	to->way = from->way;
	to->n_host = from->n_host;
	to->host = hlg_saved_arena_alloc(&e->arena, from->n_host, sizeof(*to->host));
	for (size_t i = 0; to->host && i < from->n_host; i++)
		to->host[i] =
			(from->host[i].function + UINT64_C(1)) << 3 | from->host[i].kind;
	return to->host ? to : NULL;
}

/* The sample's own location, and what stands above it. */
static bool add_stack(struct hlg_encoder *e, Pprof__Sample *sample,
		      const struct hlg_saved_cell *cell)
{
	static const struct hlg_saved_stack none;
	const struct hlg_saved_stack *stack =
		cell->stack ? &e->saved->stacks.at[cell->stack - 1] : &none;

	sample->n_location_id = 1 + stack->n_frames;
	sample->location_id =
		hlg_saved_arena_alloc(&e->arena, sample->n_location_id, sizeof(uint64_t));
	if (!sample->location_id)
		return false;
	sample->location_id[0] = hlg_encode_tables_location(e, &cell->at);
	for (size_t i = 0; i < stack->n_frames; i++)
		sample->location_id[1 + i] =
			hlg_encode_tables_location(e, &stack->frames[i]);
	if (cell->stack && !e->saved->server)
		sample->stack = stack_message(e, stack);
	return !cell->stack || e->saved->server || sample->stack;
}

static bool pack_host_stack(struct hlg_encoder *e, const struct hlg_saved_cell *from,
			    ProtobufCBinaryData *to)
{
	Pprof__Extra__HostStack stack = PPROF__EXTRA__HOST_STACK__INIT;

	stack.event = from->key.event;
	stack.pid = from->key.part[0];
	stack.tid = from->key.part[1];
	stack.cpu = from->key.part[2];
	stack.sandbox = from->key.part[3];
	stack.samples = from->count.samples;
	stack.period = from->count.period;
	stack.stack = stack_message(e, &e->saved->stacks.at[from->stack - 1]);
	if (!stack.stack)
		return false;
	to->len = protobuf_c_message_get_packed_size(&stack.base);
	to->data = hlg_saved_arena_alloc(&e->arena, to->len, 1);
	if (to->data)
		protobuf_c_message_pack(&stack.base, to->data);
	return to->data;
}

ProtobufCBinaryData *hlg_encode_samples_of_host(struct hlg_encoder *e)
{
	size_t n = e->saved->host_stacks.n;
	ProtobufCBinaryData *list = hlg_saved_arena_alloc(&e->arena, n, sizeof(*list));

	for (size_t i = 0; list && i < n; i++)
		if (!pack_host_stack(e, &e->saved->host_stacks.at[i], &list[i]))
			return NULL;
	return list;
}

bool hlg_encode_samples_of_guest(struct hlg_encoder *e)
{
	const struct hlg_saved_cell *cells = e->saved->cells.at;
	Pprof__Sample *sample = NULL;
	size_t n = 0;

	e->sample = hlg_encode_messages(e, e->n_samples, &pprof__sample__descriptor);
	e->samples =
		hlg_saved_arena_alloc(&e->arena, e->saved->cells.n, sizeof(*e->samples));
	e->values = hlg_saved_arena_alloc(&e->arena, 2 * e->saved->events.n + 1,
					  sizeof(*e->values));
	if (!e->sample || !e->samples || !e->values)
		return false;
	for (size_t i = 0; i < e->saved->cells.n; i++) {
		const struct hlg_saved_cell *cell = &cells[i];

		if (i == 0 || !hlg_saved_same_sample(&cells[i - 1], cell)) {
			sample = e->sample[n++];
			sample->n_value = 2 * e->saved->events.n;
			sample->value = e->values;
			if (!add_stack(e, sample, cell) ||
			    !add_labels(e, sample, &cell->key))
				return false;
		}
		e->samples[i] = (uint32_t)n - 1;
	}
	return true;
}

/* Of the cells of a sample, from cell i on; returns the next one's. */
static size_t set_values(struct hlg_encoder *e, size_t i, bool zero)
{
	uint32_t sample = e->samples[i];

	for (; i < e->saved->cells.n && e->samples[i] == sample; i++) {
		const struct hlg_saved_cell *cell = &e->saved->cells.at[i];
		int64_t *to = &e->values[2 * cell->key.event];

		to[0] = zero ? 0 : (int64_t)cell->count.samples;
		to[1] = zero ? 0 : (int64_t)cell->count.period;
	}
	return i;
}

size_t hlg_encode_samples_pack(struct hlg_encoder *e, unsigned char *at)
{
	size_t size = 0;

	for (size_t i = 0; i < e->saved->cells.n;) {
		const Pprof__Sample *sample = e->sample[e->samples[i]];
		ProtobufCBinaryData bytes = {.data = e->packed};
		Pprof__Profile one = PPROF__PROFILE__INIT;

		one.n_sample = 1;
		one.sample = &bytes;
		set_values(e, i, false);
		bytes.len = at ? pprof__sample__pack(sample, e->packed)
			       : pprof__sample__get_packed_size(sample);
		e->largest = bytes.len > e->largest ? bytes.len : e->largest;
		size += at ? pprof__profile__pack(&one, at + size)
			   : pprof__profile__get_packed_size(&one);
		i = set_values(e, i, true);
	}
	return size;
}
