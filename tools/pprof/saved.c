// SPDX-License-Identifier: GPL-2.0-only
#include "tools/pprof/saved.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/escape.h"
#include "tools/perfdata/sum.h"

enum {
	ALIGN = 16,
	CHUNK = 32 * 1024 /* bytes; what needs more gets a chunk of its own */
};

struct hlg_saved_chunk {
	struct hlg_saved_chunk *next;
	size_t used, size;
	_Alignas(ALIGN) unsigned char bytes[];
};

static struct hlg_saved_chunk *more(struct hlg_saved_arena *arena, size_t need)
{
	size_t size = need > CHUNK ? need : CHUNK;
	struct hlg_saved_chunk *chunk = calloc(1, sizeof(*chunk) + size);

	if (!chunk)
		return NULL;
	chunk->size = size;
	chunk->next = arena->chunk;
	arena->chunk = chunk;
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

char *hlg_saved_arena_text(struct hlg_saved_arena *arena, const char *text, size_t len)
{
	char *copy = hlg_saved_arena_alloc(arena, len + 1, 1);

	if (copy)
		memcpy(copy, text, len);
	return copy;
}

void hlg_saved_arena_join(struct hlg_saved_arena *arena, struct hlg_saved_arena *from)
{
	struct hlg_saved_chunk **last = &from->chunk;

	while (*last)
		last = &(*last)->next;
	*last = arena->chunk;
	arena->chunk = from->chunk;
	from->chunk = NULL;
}

void hlg_saved_arena_finish(struct hlg_saved_arena *arena)
{
	while (arena->chunk) {
		struct hlg_saved_chunk *next = arena->chunk->next;

		free(arena->chunk);
		arena->chunk = next;
	}
}

const char *hlg_saved_text(struct hlg_saved *saved, const char *text)
{
	size_t size = hlg_escape(NULL, 0, text) + 1;
	char *copy = hlg_saved_arena_alloc(&saved->arena, size, 1);

	if (copy)
		hlg_escape(copy, size, text);
	return copy;
}

void *hlg_saved_more(struct hlg_saved_table *table, size_t size)
{
	unsigned char *item;

	if (table->n == table->room) {
		uint32_t room = table->room ? 2 * table->room : 16;
		void *items = room <= UINT32_MAX / 2
				      ? reallocarray(table->items, room, size)
				      : NULL;

		if (!items)
			return NULL;
		table->items = items;
		table->room = room;
	}
	item = (unsigned char *)table->items + size * table->n++;
	memset(item, 0, size);
	return item;
}

/* Room for all of from behind table's own. */
static void *append(struct hlg_saved_table *table, const struct hlg_saved_table *from,
		    size_t size)
{
	uint64_t n = (uint64_t)table->n + from->n;
	unsigned char *items;

	if (n > UINT32_MAX / 4)
		return NULL;
	if (n > table->room || !table->items) {
		uint64_t room =
			n > 2 * (uint64_t)table->room ? n + 1 : 2 * (uint64_t)table->room;

		items = reallocarray(table->items, room, size);
		if (!items)
			return NULL;
		table->items = items;
		table->room = (uint32_t)room;
	}
	items = (unsigned char *)table->items + size * table->n;
	if (from->n)
		memcpy(items, from->items, size * from->n);
	table->n = (uint32_t)n;
	return items;
}

static void add_totals(struct hlg_saved_totals *to, const struct hlg_saved_totals *from)
{
	uint64_t *sums = (uint64_t *)to;
	const uint64_t *more = (const uint64_t *)from;
	bool overflow = to->overflow || from->overflow ||
			from->seen.period > UINT64_MAX - to->seen.period;

	/* Those of the recordings end at the most there is; the others come out again. */
	for (size_t i = 0; i < sizeof(*to) / sizeof(*sums); i++)
		sums[i] = i < offsetof(struct hlg_saved_totals, samples) / sizeof(*sums)
				  ? sums[i] + more[i]
				  : hlg_sum(sums[i], more[i]);
	to->overflow = overflow;
}

bool hlg_saved_add(struct hlg_saved *saved, struct hlg_saved *from)
{
	uint32_t event = saved->events.n, image = saved->images.n;
	uint32_t function = saved->functions.n;
	struct hlg_saved_cell *cells;
	struct hlg_saved_series *series;
	struct hlg_saved_host *hosts;
	struct hlg_saved_unknown *unknown;
	const uint32_t before[] = {[HLG_SAVED_EVENT] = event,
				   [HLG_SAVED_IMAGE] = image,
				   [HLG_SAVED_SERIES] = saved->series.n,
				   [HLG_SAVED_HOST] = saved->hosts.n};

	if (!append(&saved->events, &from->events, sizeof(struct hlg_saved_event)) ||
	    !append(&saved->images, &from->images, sizeof(struct hlg_saved_image)) ||
	    !append(&saved->functions, &from->functions,
		    sizeof(struct hlg_saved_function)))
		return false;
	cells = append(&saved->cells, &from->cells, sizeof(*cells));
	series = append(&saved->series, &from->series, sizeof(*series));
	hosts = append(&saved->hosts, &from->hosts, sizeof(*hosts));
	unknown = append(&saved->unknown, &from->unknown, sizeof(*unknown));
	if (!cells || !series || !hosts || !unknown)
		return false;
	for (uint32_t i = 0; i < from->cells.n; i++) {
		cells[i].key.event += event;
		cells[i].function += function;
		cells[i].image += cells[i].image ? image : 0;
	}
	for (uint32_t i = 0; i < from->series.n; i++)
		series[i].key.event += event;
	for (uint32_t i = 0; i < from->hosts.n; i++)
		hosts[i].key.event += event;
	for (uint32_t i = 0; i < from->unknown.n; i++)
		unknown[i].item += before[unknown[i].of];
	add_totals(&saved->totals, &from->totals);
	hlg_saved_arena_join(&saved->arena, &from->arena);
	return true;
}

int hlg_saved_compare_keys(const struct hlg_saved_key *a, const struct hlg_saved_key *b)
{
	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return a->cpu < b->cpu ? -1 : a->cpu > b->cpu;
}

void hlg_saved_finish(struct hlg_saved *saved)
{
	free(saved->events.items);
	free(saved->images.items);
	free(saved->functions.items);
	free(saved->cells.items);
	free(saved->series.items);
	free(saved->hosts.items);
	free(saved->unknown.items);
	hlg_saved_arena_finish(&saved->arena);
	memset(saved, 0, sizeof(*saved));
}
