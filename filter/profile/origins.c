// SPDX-License-Identifier: GPL-2.0-only
#include "filter/profile/origins.h"

#include <stdlib.h>
#include <string.h>

#include "symtab/grow.h"

static int compare(const struct hlg_origin *a, enum hlg_origin_kind kind, const char *key)
{
	if (a->kind != kind)
		return a->kind < kind ? -1 : 1;
	return strcmp(a->key, key);
}

/* Too many is told as very many. */
static void count(uint64_t *sum, uint64_t n)
{
	*sum = n > UINT64_MAX - *sum ? UINT64_MAX : *sum + n;
}

static void forget(struct hlg_origin *origin)
{
	free(origin->key);
	free(origin->name);
}

/* The place of the first that is not before this one. */
static size_t find(const struct hlg_origins *o, enum hlg_origin_kind kind,
		   const char *key)
{
	size_t low = 0, high = o->n;

	/* Most come in order: behind all. */
	if (high && compare(&o->at[high - 1], kind, key) < 0)
		return high;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(&o->at[middle], kind, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Adds to one that is there already. */
static void join(struct hlg_origins *o, struct hlg_origin *to, const char *name,
		 uint64_t n)
{
	count(&to->n, n);
	if (strcmp(name, to->name) < 0) {
		char *copy = strdup(name);

		o->lost |= !copy;
		if (copy) {
			free(to->name);
			to->name = copy;
		}
	}
}

/* Keeps only the first of what could not be read. One that goes here is behind as many in
 * any sum, so these are the same in whatever order sums are made. */
static void cut(struct hlg_origins *o, enum hlg_origin_kind kind)
{
	size_t first, n = hlg_origins_of(o, kind, &first);

	if (kind < HLG_ORIGIN_UNREAD || n <= HLG_ORIGINS_UNREAD)
		return;
	for (size_t i = first + HLG_ORIGINS_UNREAD; i < first + n; i++)
		forget(&o->at[i]);
	memmove(&o->at[first + HLG_ORIGINS_UNREAD], &o->at[first + n],
		(o->n - first - n) * sizeof(*o->at));
	o->n -= n - HLG_ORIGINS_UNREAD;
}

static bool make(struct hlg_origin *origin, enum hlg_origin_kind kind, const char *key,
		 const char *name, uint64_t n)
{
	*origin = (struct hlg_origin){kind, strdup(key), strdup(name), n};
	return origin->key && origin->name;
}

void hlg_origins_add(struct hlg_origins *o, enum hlg_origin_kind kind, const char *key,
		     const char *name, uint64_t n)
{
	size_t i = find(o, kind, key);
	struct hlg_origin made;

	if (i < o->n && compare(&o->at[i], kind, key) == 0) {
		join(o, &o->at[i], name, n);
		return;
	}
	if (!make(&made, kind, key, name, n) || !HLG_GROW(o->at, o->n)) {
		forget(&made);
		o->lost = true;
		return;
	}
	memmove(&o->at[i + 1], &o->at[i], (o->n - i) * sizeof(*o->at));
	o->at[i] = made;
	o->n++;
	cut(o, kind);
}

void hlg_origins_add_unread(struct hlg_origins *o, bool profile, const char *why)
{
	count(profile ? &o->unread_profiles : &o->unread, 1);
	hlg_origins_add(o, profile ? HLG_ORIGIN_UNREAD_PROFILE : HLG_ORIGIN_UNREAD, why,
			why, 1);
}

/* Both lists are in order: new ones go where they belong in one pass. at has room for
 * all.
 */
static void interleave(struct hlg_origins *to, const struct hlg_origins *from,
		       struct hlg_origin *at)
{
	size_t n = 0, i = 0;

	for (size_t k = 0; k < from->n; k++) {
		const struct hlg_origin *one = &from->at[k];

		while (i < to->n && compare(&to->at[i], one->kind, one->key) < 0)
			at[n++] = to->at[i++];
		if (i < to->n && compare(&to->at[i], one->kind, one->key) == 0) {
			join(to, &to->at[i], one->name, one->n);
		} else if (make(&at[n], one->kind, one->key, one->name, one->n)) {
			n++;
		} else {
			forget(&at[n]);
			to->lost = true;
		}
	}
	while (i < to->n)
		at[n++] = to->at[i++];
	free(to->at);
	to->at = at;
	to->n = n;
}

/* Of an array that grows as symtab/grow.h has it. */
static size_t room_for(size_t n)
{
	size_t room = 1;

	while (room <= n)
		room *= 2;
	return room;
}

void hlg_origins_merge(struct hlg_origins *to, const struct hlg_origins *from)
{
	struct hlg_origin *at = calloc(room_for(to->n + from->n), sizeof(*at));

	to->lost |= from->lost || !at;
	count(&to->unread, from->unread);
	count(&to->unread_profiles, from->unread_profiles);
	if (!at)
		return;
	interleave(to, from, at);
	cut(to, HLG_ORIGIN_UNREAD);
	cut(to, HLG_ORIGIN_UNREAD_PROFILE);
}

size_t hlg_origins_of(const struct hlg_origins *o, enum hlg_origin_kind kind,
		      size_t *first)
{
	*first = find(o, kind, "");
	return find(o, kind + 1, "") - *first;
}

void hlg_origins_finish(struct hlg_origins *o)
{
	for (size_t i = 0; i < o->n; i++)
		forget(&o->at[i]);
	free(o->at);
	*o = (struct hlg_origins){0};
}
