// SPDX-License-Identifier: GPL-2.0-only
/* Which recordings a saved profile is of, and which could not be read. */
#include <string.h>

#include "tools/perfdata/sum.h"
#include "tools/pprof/saved.h"

/* A text that is not changed by who encodes it. */
static char *text_of(const char *text)
{
	return (char *)(uintptr_t)text;
}

static bool encode_origin(Pprof__Extra__Origin **to, const struct hlg_origin *from,
			  struct hlg_saved_arena *arena)
{
	*to = hlg_saved_arena_alloc(arena, 1, sizeof(**to));
	if (!*to)
		return false;
	**to = (Pprof__Extra__Origin)PPROF__EXTRA__ORIGIN__INIT;
	(*to)->kind = from->kind;
	(*to)->key = text_of(from->key);
	if (strcmp(from->name, from->key) != 0)
		(*to)->name = text_of(from->name);
	(*to)->n = from->n;
	return true;
}

Pprof__Extra__Recordings *hlg_saved_origins_encode(const struct hlg_saved *saved,
						   struct hlg_saved_arena *arena)
{
	const struct hlg_origins *origins = &saved->origins;
	Pprof__Extra__Recordings *to = hlg_saved_arena_alloc(arena, 1, sizeof(*to));

	if (!to)
		return NULL;
	*to = (Pprof__Extra__Recordings)PPROF__EXTRA__RECORDINGS__INIT;
	to->seen = saved->extra.seen_samples;
	to->n = saved->recordings;
	to->unread = origins->unread;
	to->unread_profiles = origins->unread_profiles;
	if (saved->listed) {
		to->list.len = sizeof(saved->list);
		to->list.data = (uint8_t *)(uintptr_t)saved->list;
	}
	to->origin =
		hlg_saved_arena_alloc(arena, origins->n, sizeof(Pprof__Extra__Origin *));
	for (size_t i = 0; to->origin && i < origins->n; i++)
		if (!encode_origin(&to->origin[to->n_origin++], &origins->at[i], arena))
			return NULL;
	return to->origin ? to : NULL;
}

static bool is_less(const Pprof__Extra__Origin *a, const Pprof__Extra__Origin *b)
{
	return a->kind != b->kind ? a->kind < b->kind : strcmp(a->key, b->key) < 0;
}

/* How many recordings, or of what could not be read, an origin can have at most. */
static uint64_t most_of(const Pprof__Extra__Recordings *of, uint32_t kind)
{
	return kind == HLG_ORIGIN_UNREAD           ? of->unread
	       : kind == HLG_ORIGIN_UNREAD_PROFILE ? of->unread_profiles
						   : of->n;
}

/* Rows are in order, so that a sum takes one pass; and of hosts and of what could not be
 * read there are no more than all. */
static bool check(const Pprof__Extra__Recordings *of)
{
	uint64_t sums[HLG_N_ORIGIN_KINDS] = {0};

	for (size_t i = 0; i < of->n_origin; i++) {
		const Pprof__Extra__Origin *origin = of->origin[i];

		if (origin->kind >= HLG_N_ORIGIN_KINDS || origin->n == 0 ||
		    (i && !is_less(of->origin[i - 1], origin)))
			return false;
		/* A recording may have several images. */
		sums[origin->kind] = origin->kind == HLG_ORIGIN_IMAGE
					     ? origin->n
					     : hlg_sum(sums[origin->kind], origin->n);
		if (sums[origin->kind] > most_of(of, origin->kind))
			return false;
	}
	return true;
}

static void add(struct hlg_saved *saved, const Pprof__Extra__Recordings *of)
{
	struct hlg_origins read = {.unread = of->unread,
				   .unread_profiles = of->unread_profiles};

	for (size_t i = 0; i < of->n_origin; i++) {
		const Pprof__Extra__Origin *origin = of->origin[i];
		const char *key = hlg_saved_text(saved, origin->key);
		const char *name =
			origin->name[0] ? hlg_saved_text(saved, origin->name) : key;

		if (key && name)
			hlg_origins_add(&read, (enum hlg_origin_kind)origin->kind, key,
					name, origin->n);
		read.lost |= !key || !name;
	}
	hlg_origins_merge(&saved->origins, &read);
	hlg_origins_finish(&read);
}

const char *hlg_saved_origins_decode(struct hlg_saved *saved, const Pprof__Extra *from)
{
	const Pprof__Extra__Recordings *of = from->recordings;

	if (of && (of->n > HLG_SAVED_MAX_SAMPLES || of->unread > HLG_SAVED_MAX_SAMPLES ||
		   of->unread_profiles > HLG_SAVED_MAX_SAMPLES ||
		   (of->n == 0 && of->unread == 0 && of->unread_profiles == 0)))
		return "it has an impossible number of recordings";
	saved->listed = false;
	if (!of || of->seen != from->seen_samples) {
		saved->recordings = hlg_sum(saved->recordings, 1);
		return NULL;
	}
	if (of->n == 0 && from->seen_samples)
		return "it has samples of no recording";
	if (!check(of) || (of->list.len && of->list.len != HLG_SHA256_SIZE))
		return "what it says of its recordings does not agree";
	saved->recordings = hlg_sum(saved->recordings, of->n);
	saved->listed = of->list.len;
	if (saved->listed)
		memcpy(saved->list, of->list.data, HLG_SHA256_SIZE);
	add(saved, of);
	return NULL;
}
