// SPDX-License-Identifier: GPL-2.0-only
#include "tools/pprof/saved.h"

#include <stdlib.h>
#include <string.h>

#include "filter/options/options.h"
#include "symtab/escape.h"
#include "tools/perfdata/sum.h"

/* Extra's fields from here on are of recordings, and end at the most there is. */
#define FIRST_OF_RECORDINGS 32

enum {
	ALIGN = 16,
	CHUNK = 32 * 1024 /* bytes; what needs more gets a chunk of its own */
};

const char *const hlg_saved_key_names[HLG_SAVED_N_KEYS] = {"pid", "tid", "cpu",
							   "sandbox"};

_Static_assert(HLG_SAVED_BY(HLG_BY_PID) == 1 && HLG_SAVED_BY(HLG_BY_TID) == 2 &&
		       HLG_SAVED_BY(HLG_BY_CPU) == 4 && HLG_SAVED_BY(HLG_BY_SANDBOX) == 8,
	       "labels are in the order of their bits");

bool hlg_saved_event_is_clock(const Pprof__Extra__Event *event)
{
	size_t n = strcspn(event->name, ":/");

	if (event->kind != HLG_EVENT_UNKNOWN)
		return event->kind == HLG_EVENT_TIMER;
	return (n == 9 && strncmp(event->name, "cpu-clock", n) == 0) ||
	       (n == 10 && strncmp(event->name, "task-clock", n) == 0);
}

struct hlg_saved_chunk {
	struct hlg_saved_chunk *next;
	size_t used, size;
	_Alignas(ALIGN) unsigned char bytes[];
};

static struct hlg_saved_chunk *more(struct hlg_saved_arena *arena, size_t need)
{
	size_t size = need > CHUNK ? need : CHUNK;
	struct hlg_saved_chunk *chunk = arena->raw ? malloc(sizeof(*chunk) + size)
						   : calloc(1, sizeof(*chunk) + size);

	if (!chunk)
		return NULL;
	chunk->used = 0;
	chunk->size = size;
	chunk->next = arena->chunk;
	arena->chunk = chunk;
	arena->size += size;
	return chunk;
}

void *hlg_saved_arena_alloc(struct hlg_saved_arena *arena, size_t n, size_t size)
{
	struct hlg_saved_chunk *chunk = arena->chunk;
	size_t need;
	void *p;

	if (__builtin_mul_overflow(n, size, &need) || need > SIZE_MAX / 2)
		return NULL;
	need = (need + ALIGN) / ALIGN * ALIGN; /* nothing has a place of its own, too */
	if (!chunk || chunk->size - chunk->used < need)
		chunk = more(arena, need);
	if (!chunk)
		return NULL;
	p = chunk->bytes + chunk->used;
	chunk->used += need;
	return p;
}

/* Gives back all chunks in front of one. */
static void give_back(struct hlg_saved_arena *arena, const struct hlg_saved_chunk *last)
{
	while (arena->chunk != last) {
		struct hlg_saved_chunk *next = arena->chunk->next;

		arena->size -= arena->chunk->size;
		free(arena->chunk);
		arena->chunk = next;
	}
}

void hlg_saved_arena_clear(struct hlg_saved_arena *arena)
{
	struct hlg_saved_chunk *first = arena->chunk;

	while (first && first->next)
		first = first->next;
	give_back(arena, first);
	if (first)
		first->used = 0;
}

void hlg_saved_arena_finish(struct hlg_saved_arena *arena)
{
	give_back(arena, NULL);
}

char *hlg_saved_text(struct hlg_saved *saved, const char *text)
{
	size_t size = hlg_escape(NULL, 0, text) + 1;
	char *copy = hlg_saved_arena_alloc(&saved->arena, size, 1);

	if (copy)
		hlg_escape(copy, size, text);
	return copy;
}

bool hlg_saved_add_unknown(struct hlg_saved *saved, ProtobufCMessage *message,
			   const ProtobufCMessageUnknownField *field)
{
	ProtobufCMessageUnknownField *fields = message->unknown_fields;
	size_t n = message->n_unknown_fields;

	/* Room is for the next power of two above n, as in symtab/grow.h. */
	if ((n & (n - 1)) == 0) {
		fields = hlg_saved_arena_alloc(&saved->arena, n ? 2 * n : 1,
					       sizeof(*fields));
		if (!fields)
			return false;
		if (n)
			memcpy(fields, message->unknown_fields, n * sizeof(*fields));
		message->unknown_fields = fields;
	}
	fields[n] = *field;
	message->n_unknown_fields++;
	return true;
}

bool hlg_saved_add_totals(struct hlg_saved *saved, const Pprof__Extra *from,
			  uint64_t began, uint64_t took)
{
	Pprof__Extra *to = &saved->extra;

	to->overflow |=
		from->overflow || from->seen_period > UINT64_MAX - to->seen_period;
	/* All numbers of 64 bits are sums. */
	for (unsigned i = 0; i < pprof__extra__descriptor.n_fields; i++) {
		const ProtobufCFieldDescriptor *field =
			&pprof__extra__descriptor.fields[i];
		uint64_t *sum = (void *)((char *)to + field->offset);
		const uint64_t *more = (const void *)((const char *)from + field->offset);

		if (field->type == PROTOBUF_C_TYPE_UINT64)
			*sum = field->id < FIRST_OF_RECORDINGS ? *sum + *more
							       : hlg_sum(*sum, *more);
	}
	saved->began = hlg_sum_first(saved->began, began);
	saved->took = hlg_sum(saved->took, took);
	return to->seen_samples <= HLG_SAVED_MAX_SAMPLES;
}

void hlg_saved_add_ran(struct hlg_saved_image *image, enum hlg_identity identity,
		       const char *file, const char *id)
{
	int order;

	image->identities |= 1u << identity;
	if (!hlg_rans_has_file(identity))
		return;
	order = image->ran_file ? strcmp(file, image->ran_file) : -1;
	if (order < 0 || (order == 0 && strcmp(id, image->ran_id) < 0)) {
		image->ran_file = file;
		image->ran_id = id;
	}
}

struct hlg_saved_key hlg_saved_series_key(const Pprof__Extra__Series *s)
{
	return (struct hlg_saved_key){s->event, {s->pid, s->tid, s->cpu, s->sandbox}};
}

struct hlg_saved_key hlg_saved_host_key(const Pprof__Extra__HostRow *row)
{
	return (struct hlg_saved_key){row->event,
				      {row->pid, row->tid, row->cpu, row->sandbox}};
}

int hlg_saved_compare_frames(const struct hlg_saved_frame *a,
			     const struct hlg_saved_frame *b)
{
	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	if (a->ip != b->ip)
		return a->ip < b->ip ? -1 : 1;
	return a->function < b->function ? -1 : a->function > b->function;
}

uint32_t *hlg_saved_add_inlines(struct hlg_saved *saved, uint32_t image, uint64_t ip,
				uint32_t n)
{
	uint32_t *functions = hlg_saved_arena_alloc(&saved->arena, n, sizeof(*functions));
	struct hlg_saved_inlines *to = functions ? HLG_SAVED_MORE(saved->inlines) : NULL;

	if (!to)
		return NULL;
	*to = (struct hlg_saved_inlines){ip, image, n, functions};
	return functions;
}

int hlg_saved_compare_inlines(const void *a, const void *b)
{
	const struct hlg_saved_inlines *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return x->ip < y->ip ? -1 : x->ip > y->ip;
}

const struct hlg_saved_inlines *hlg_saved_inlines_at(const struct hlg_saved *saved,
						     const struct hlg_saved_frame *frame)
{
	const struct hlg_saved_inlines key = {.ip = frame->ip, .image = frame->image};

	return saved->inlines.n ? bsearch(&key, saved->inlines.at, saved->inlines.n,
					  sizeof(key), hlg_saved_compare_inlines)
				: NULL;
}

int hlg_saved_compare_keys(const struct hlg_saved_key *a, const struct hlg_saved_key *b)
{
	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	for (size_t i = 0; i < HLG_SAVED_N_KEYS; i++)
		if (a->part[i] != b->part[i])
			return a->part[i] < b->part[i] ? -1 : 1;
	return 0;
}

bool hlg_saved_same_sample(const struct hlg_saved_cell *a, const struct hlg_saved_cell *b)
{
	return hlg_saved_compare_frames(&a->at, &b->at) == 0 && a->stack == b->stack &&
	       memcmp(a->key.part, b->key.part, sizeof(a->key.part)) == 0;
}

void hlg_saved_finish(struct hlg_saved *saved)
{
	free(saved->events.at);
	free(saved->images.at);
	free(saved->functions.at);
	free(saved->inlines.at);
	free(saved->stacks.at);
	free(saved->cells.at);
	free(saved->host_stacks.at);
	free(saved->series.at);
	free(saved->hosts.at);
	free(saved->checks.at);
	hlg_moments_finish(&saved->moments);
	hlg_origins_finish(&saved->origins);
	hlg_saved_arena_finish(&saved->arena);
	*saved = (struct hlg_saved)HLG_SAVED_INIT;
}
