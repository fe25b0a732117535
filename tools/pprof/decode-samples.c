// SPDX-License-Identifier: GPL-2.0-only
#include "tools/pprof/decode-samples.h"

#include <stdlib.h>
#include <string.h>

#include "filter/stacks/chains.h"
#include "filter/stacks/tree.h"

static bool read_labels(const struct hlg_decoder *d, const Pprof__Sample *sample,
			struct hlg_saved_key *key)
{
	unsigned told = 0;

	*key = (struct hlg_saved_key){0};
	for (size_t i = 0; i < sample->n_label; i++) {
		const Pprof__Label *label = sample->label[i];
		const char *name = hlg_decode_text(d, label->key);
		size_t k = 0;

		while (name && k < HLG_SAVED_N_KEYS &&
		       strcmp(name, hlg_saved_key_names[k]) != 0)
			k++;
		if (!name || k == HLG_SAVED_N_KEYS || told >> k & 1 ||
		    !hlg_decode_is_part(k, label->num))
			return false;
		told |= 1u << k;
		key->part[k] = (int32_t)label->num;
	}
	return told == d->p->extra->by;
}

/* The location of an id, its image and function as saved has them; false for a wrong one.
 */
static bool read_frame(const struct hlg_decoder *d, uint64_t id,
		       struct hlg_saved_frame *to)
{
	const Pprof__Location *location;

	if (id == 0 || id > d->p->n_location)
		return false;
	location = d->p->location[id - 1];
	*to = (struct hlg_saved_frame){
		.ip = location->address,
		.function = d->functions +
			    (uint32_t)location->line[location->n_line - 1]->function_id -
			    1};
	if (location->mapping_id)
		to->image = d->images + (uint32_t)location->mapping_id;
	return true;
}

/* The host's half; false for a wrong one. */
static bool read_host(const struct hlg_decoder *d, const Pprof__Stack *from,
		      struct hlg_saved_stack *to)
{
	for (size_t i = 0; i < from->n_host; i++) {
		uint64_t id = from->host[i] >> 3;

		if (id == 0 || id > d->p->n_function ||
		    (from->host[i] & 7) > HLG_FRAME_NOTE)
			return false;
		to->host[i] = (struct hlg_saved_host){d->functions + (uint32_t)id - 1,
						      from->host[i] & 7};
	}
	return true;
}

/* A stack, of which n locations are the frames; *number is its place + 1. */
static int read_stack(struct hlg_decoder *d, const Pprof__Stack *from,
		      const uint64_t *ids, size_t n, uint32_t *number)
{
	struct hlg_saved_arena *arena = &d->saved->arena;
	struct hlg_saved_stack *to = HLG_SAVED_MORE(d->saved->stacks);
	bool ok = from->end < HLG_CHAIN_ENDS && from->way < HLG_CHAIN_WAYS &&
		  from->n_caller <= HLG_CHAIN_MAX;

	if (!to)
		return hlg_decode_fail_memory(d);
	*to = (struct hlg_saved_stack){
		.end = from->end,
		.way = from->way,
		.n_callers = from->n_caller,
		.n_frames = n,
		.n_host = from->n_host,
		.callers = hlg_saved_arena_alloc(arena, from->n_caller, sizeof(uint64_t)),
		.frames = hlg_saved_arena_alloc(arena, n, sizeof(*to->frames)),
		.host = hlg_saved_arena_alloc(arena, from->n_host, sizeof(*to->host))};
	*number = (uint32_t)d->saved->stacks.n;
	if (!to->callers || !to->frames || !to->host)
		return hlg_decode_fail_memory(d);
	if (from->n_caller)
		memcpy(to->callers, from->caller, from->n_caller * sizeof(uint64_t));
	for (size_t i = 0; ok && i < to->n_frames; i++)
		ok = read_frame(d, ids[i], &to->frames[i]);
	ok = ok && read_host(d, from, to);
	return ok ? 0 : hlg_decode_fail(d, "a sample has a wrong stack");
}

/* One for each event that has counts in the sample; else they are as found. */
static int read_cells(struct hlg_decoder *d, const Pprof__Sample *sample,
		      struct hlg_saved_cell found)
{
	for (uint32_t i = 0; i < d->p->extra->n_event; i++) {
		struct hlg_count count = {(uint64_t)sample->value[2 * i],
					  (uint64_t)sample->value[2 * i + 1]};
		struct hlg_saved_cell *cell;

		if (count.samples == 0 && count.period == 0)
			continue;
		if (count.samples == 0 || count.samples > HLG_SAVED_MAX_SAMPLES)
			return hlg_decode_fail(d, "a sample has an impossible count");
		cell = HLG_SAVED_MORE(d->saved->cells);
		if (!cell)
			return hlg_decode_fail_memory(d);
		found.key.event = d->events + i;
		found.count = count;
		*cell = found;
	}
	return 0;
}

static int read_sample(struct hlg_decoder *d, const ProtobufCBinaryData *bytes)
{
	struct hlg_saved_cell found = {0};
	const Pprof__Sample *sample = (const Pprof__Sample *)hlg_unpack_message(
		&d->sample, &pprof__sample__descriptor, bytes->data, bytes->len);
	int rc = 0;

	if (!sample)
		return hlg_decode_fail_unpack(d, &d->sample);
	if ((sample->n_location_id != 1 && !sample->stack) ||
	    sample->n_location_id == 0 ||
	    !read_frame(d, sample->location_id[0], &found.at))
		return hlg_decode_fail(d, "a sample has a wrong location");
	if (sample->n_value != 2 * d->p->extra->n_event)
		return hlg_decode_fail(d, "a sample lacks values");
	if (!read_labels(d, sample, &found.key))
		return hlg_decode_fail(d, "a sample has wrong labels");
	if (sample->stack)
		rc = read_stack(d, sample->stack, sample->location_id + 1,
				sample->n_location_id - 1, &found.stack);
	return rc < 0 ? rc : read_cells(d, sample, found);
}

int hlg_decode_samples_of_guest(struct hlg_decoder *d)
{
	int rc = 0;

	if (d->p->n_sample_type != 2 * d->p->extra->n_event)
		return hlg_decode_fail(d, "an event lacks one of its two value types");
	d->first = calloc(d->p->n_sample + 1, sizeof(*d->first));
	if (!d->first)
		return hlg_decode_fail_memory(d);
	for (size_t i = 0; rc == 0 && i < d->p->n_sample; i++) {
		d->first[i] = (uint32_t)d->saved->cells.n;
		rc = read_sample(d, &d->p->sample[i]);
	}
	d->first[d->p->n_sample] = (uint32_t)d->saved->cells.n;
	return rc;
}

int hlg_decode_samples_moments(struct hlg_decoder *d)
{
	if (hlg_saved_moments_decode(d->saved, d->p->extra, d->first, d->p->n_sample,
				     d->events))
		return d->saved->moments.lost ? hlg_decode_fail_memory(d) : 0;
	return hlg_decode_fail(d, "the time of a sample is wrong");
}

static int read_host_stack(struct hlg_decoder *d, const ProtobufCBinaryData *bytes)
{
	const Pprof__Extra__HostStack *from =
		(const Pprof__Extra__HostStack *)hlg_unpack_message(
			&d->sample, &pprof__extra__host_stack__descriptor, bytes->data,
			bytes->len);
	struct hlg_saved_cell *to;

	if (!from)
		return hlg_decode_fail_unpack(d, &d->sample);
	to = HLG_SAVED_MORE(d->saved->host_stacks);
	if (!to)
		return hlg_decode_fail_memory(d);
	*to = (struct hlg_saved_cell){
		.key = {from->event, {from->pid, from->tid, from->cpu, from->sandbox}},
		.count = {from->samples, from->period}};
	if (!hlg_decode_is_key(d, &to->key) || !from->stack || from->samples == 0)
		return hlg_decode_fail(d, "a stack of the host has wrong labels");
	to->key.event += d->events;
	return read_stack(d, from->stack, NULL, 0, &to->stack);
}

int hlg_decode_samples_of_host(struct hlg_decoder *d)
{
	const Pprof__Extra *extra = d->p->extra;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < extra->n_host_stack; i++)
		rc = read_host_stack(d, &extra->host_stack[i]);
	return rc;
}
