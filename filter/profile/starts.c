// SPDX-License-Identifier: GPL-2.0-only
#include "filter/profile/starts.h"

#include <stddef.h>
#include <stdlib.h>

#include "symtab/grow.h"

/* A start that is looked for, among those that there are. */
struct sought {
	const struct hlg_starts *starts;
	const struct hlg_start *start;
};

/* What makes two starts of one kind the same: an entry's sandbox, or thread where that is
 * not known, or address once the recording ended; of halts, the thread and the address.
 */
static uint64_t key_of(const struct hlg_start *start)
{
	if (start->halt || start->ended)
		return start->ip;
	return start->sandbox ? start->sandbox : (uint32_t)start->tid;
}

static bool is_one(const struct hlg_start *a, const struct hlg_start *b)
{
	return a->halt == b->halt && a->ended == b->ended && key_of(a) == key_of(b) &&
	       (a->halt ? a->tid == b->tid
			: a->ended || (a->sandbox != 0) == (b->sandbox != 0));
}

static bool is_sought(const void *ctx, uint32_t number)
{
	const struct sought *sought = ctx;

	return is_one(&sought->starts->at[number], sought->start);
}

static uint64_t hash_of(const struct hlg_start *start)
{
	return hlg_hash_word(hlg_hash_word(HLG_HASH_SEED, key_of(start)),
			     start->halt ? (uint32_t)start->tid : 0);
}

/* Entries come as each CPU's buffer has them. */
static void take_earlier(struct hlg_start *one, const struct hlg_start *start)
{
	if (one->halt || one->ended || start->time >= one->time)
		return;
	one->ip = start->ip;
	one->time = start->time;
	one->tid = start->tid;
}

static bool can_halt(uint64_t ip)
{
	return ip >= HLG_STARTS_HALT_MIN && ip < HLG_STARTS_HALT_MAX;
}

/* Adds one as it is, that is not there yet. */
static void append(struct hlg_starts *starts, const struct hlg_start *start)
{
	if (starts->n == HLG_STARTS || !HLG_GROW(starts->at, starts->n) ||
	    !hlg_index_add(&starts->index, hash_of(start), starts->n))
		starts->full = true;
	else
		starts->at[starts->n++] = *start;
}

static struct hlg_start *find(const struct hlg_starts *starts,
			      const struct hlg_start *start)
{
	const struct sought sought = {starts, start};
	uint32_t i = hlg_index_find(&starts->index, hash_of(start), is_sought, &sought);

	return i == HLG_INDEX_NONE ? NULL : &starts->at[i];
}

void hlg_starts_add(struct hlg_starts *starts, struct hlg_start start)
{
	struct hlg_start *one;

	start.times = 1;
	start.ended = false;
	if (start.halt && !can_halt(start.ip))
		return;
	one = find(starts, &start);
	if (!one) {
		append(starts, &start);
		return;
	}
	take_earlier(one, &start);
	one->times += one->halt;
}

static void merge_one(struct hlg_starts *to, const struct hlg_start *start)
{
	struct hlg_start *one = find(to, start);

	if (!one) {
		append(to, start);
		return;
	}
	take_earlier(one, start);
	if (one->halt && !one->ended)
		one->times += start->times;
	else if (one->times < start->times)
		one->times = start->times;
}

void hlg_starts_end(struct hlg_starts *starts)
{
	struct hlg_starts all = *starts;

	*starts = (struct hlg_starts){.full = all.full};
	for (uint32_t i = 0; i < all.n; i++) {
		all.at[i].ended = true;
		merge_one(starts, &all.at[i]);
	}
	hlg_starts_finish(&all);
}

void hlg_starts_merge(struct hlg_starts *to, const struct hlg_starts *from)
{
	to->full |= from->full;
	for (uint32_t i = 0; i < from->n; i++)
		merge_one(to, &from->at[i]);
}

void hlg_starts_finish(struct hlg_starts *starts)
{
	free(starts->at);
	hlg_index_finish(&starts->index);
	*starts = (struct hlg_starts){0};
}
