// SPDX-License-Identifier: GPL-2.0-only
#include "filter/profile/slices.h"

#include <stdlib.h>
#include <string.h>

#include "symtab/grow.h"

struct search {
	const struct hlg_slices *slices;
	const struct hlg_slices_entry *key;
};

static bool is(const struct hlg_slices_entry *a, const struct hlg_slices_entry *b)
{
	return a->where == b->where && a->ip == b->ip && a->series == b->series &&
	       a->tid == b->tid;
}

static bool same(const void *ctx, uint32_t number)
{
	const struct search *search = ctx;

	return is(&search->slices->entries[number], search->key);
}

/* In the order of time: by recording, then slice. */
static uint64_t where_of(const struct hlg_slices_entry *entry)
{
	return (uint64_t)entry->recording << 40 | entry->slice;
}

static uint64_t hash_of(const struct hlg_slices_entry *entry)
{
	uint64_t hash = hlg_hash_word(HLG_HASH_SEED, entry->ip);

	hash = hlg_hash_word(hash, (uint64_t)entry->series << 32 | (uint32_t)entry->tid);
	return hlg_hash_word(hash, where_of(entry));
}

/* Where an entry of the newest slice is, or would be; there is room for one more. */
static uint32_t *place_of(const struct hlg_slices *s,
			  const struct hlg_slices_entry *entry)
{
	uint32_t mask = s->newest.room - 1, i = (uint32_t)hlg_hash_mix(hash_of(entry));

	for (;; i++) {
		uint32_t *number = &s->newest.numbers[i & mask];

		if (*number <= s->newest.first || is(&s->entries[*number - 1], entry))
			return number;
	}
}

static bool grow_newest(struct hlg_slices *s)
{
	uint32_t *old = s->newest.numbers, n = s->newest.room;
	uint32_t room = n ? 2 * n : 64, *numbers = calloc(room, sizeof(*numbers));

	if (!numbers)
		return false;
	s->newest.numbers = numbers;
	s->newest.room = room;
	for (uint32_t i = 0; i < n; i++)
		if (old[i] > s->newest.first)
			*place_of(s, &s->entries[old[i] - 1]) = old[i];
	free(old);
	return true;
}

/* Which entry that is; s->n if there is none of it, UINT32_MAX without memory. */
static uint32_t find_in_newest(struct hlg_slices *s, const struct hlg_slices_entry *entry)
{
	uint32_t *number;

	if (2 * (s->newest.n + 1) > s->newest.room && !grow_newest(s))
		return UINT32_MAX;
	number = place_of(s, entry);
	if (*number > s->newest.first)
		return *number - 1;
	*number = s->n + 1;
	s->newest.n++;
	return s->n;
}

/* The same, in any slice. */
static uint32_t find_in_all(struct hlg_slices *s, const struct hlg_slices_entry *entry)
{
	const struct search search = {s, entry};
	uint32_t known;

	for (; s->n_indexed < s->n; s->n_indexed++)
		if (!hlg_index_add(&s->index, hash_of(&s->entries[s->n_indexed]),
				   s->n_indexed))
			return UINT32_MAX;
	known = hlg_index_find(&s->index, hash_of(entry), same, &search);
	return known == HLG_INDEX_NONE ? s->n : known;
}

/* False without memory. */
static bool count(struct hlg_slices *s, const struct hlg_slices_entry *entry)
{
	uint64_t where = where_of(entry);
	uint32_t known;

	if (where > s->newest.where) {
		s->newest.where = where;
		s->newest.first = s->n;
		s->newest.n = 0;
	}
	known = where == s->newest.where ? find_in_newest(s, entry)
					 : find_in_all(s, entry);
	if (known == UINT32_MAX || (known == s->n && !HLG_GROW(s->entries, s->n)))
		return false;
	*hlg_slices_recent(s, entry->ip, entry->series, entry->tid) = known;
	if (known == s->n)
		s->entries[s->n++] = *entry;
	else
		hlg_count_add(&s->entries[known].count, entry->count);
	return true;
}

/* Forgets where entries are. */
static void forget_places(struct hlg_slices *s)
{
	s->now.length = 0;
	free(s->newest.numbers);
	memset(&s->newest, 0, sizeof(s->newest));
	hlg_index_finish(&s->index);
	s->n_indexed = 0;
}

/* Makes slices twice as long: entries that were of neighbours become one. */
static void merge_neighbours(struct hlg_slices *s)
{
	struct hlg_slices_entry *old = s->entries;
	uint32_t n = s->n;

	s->doubled++;
	s->total = 0;
	for (uint32_t i = 0; i < s->n_spans; i++) {
		s->spans[i].first /= 2;
		s->spans[i].last /= 2;
		s->total += s->spans[i].last - s->spans[i].first + 1;
	}
	s->entries = NULL;
	s->n = 0;
	forget_places(s);
	for (uint32_t i = 0; i < n && !s->lost; i++) {
		old[i].slice /= 2;
		s->lost = !count(s, &old[i]);
	}
	free(old);
}

static bool too_many(const struct hlg_slices *s)
{
	return s->total > s->n_spans &&
	       (s->total > HLG_SLICES_MOST ||
		(s->n > HLG_SLICES_ENTRIES && s->total > HLG_SLICES_LEAST));
}

/* The recording's; one that is new has no slices yet. NULL without memory. */
static struct hlg_slices_span *span_of(struct hlg_slices *s, uint32_t recording)
{
	if (s->n_spans && s->spans[s->span].recording == recording)
		return &s->spans[s->span];
	for (s->span = 0; s->span < s->n_spans; s->span++)
		if (s->spans[s->span].recording == recording)
			return &s->spans[s->span];
	if (!HLG_GROW(s->spans, s->n_spans)) {
		s->span = 0;
		return NULL;
	}
	s->spans[s->n_spans] = (struct hlg_slices_span){recording, UINT64_MAX, 0, 0};
	return &s->spans[s->n_spans++];
}

/* Makes room for a slice, by slices' length so far. */
static void reach(struct hlg_slices *s, uint32_t recording, uint64_t slice)
{
	struct hlg_slices_span *span = span_of(s, recording);

	if (!span) {
		s->lost = true;
		return;
	}
	if (slice >= span->first && slice <= span->last)
		return;
	if (span->first == UINT64_MAX) {
		span->first = slice;
		span->last = slice;
		s->total++;
	}
	if (slice < span->first) {
		s->total += span->first - slice;
		span->first = slice;
	} else if (slice > span->last) {
		s->total += slice - span->last;
		span->last = slice;
	}
	while (!s->lost && too_many(s))
		merge_neighbours(s);
}

static uint64_t where_at(uint32_t recording, uint64_t slice)
{
	struct hlg_slices_entry entry = {.where = 0};

	entry.recording = recording & 0xffffff;
	entry.slice = slice & UINT64_C(0xffffffffff);
	return entry.where;
}

static void add(struct hlg_slices *s, uint32_t recording, uint64_t time, uint64_t ip,
		uint32_t series, int32_t tid, struct hlg_count n)
{
	struct hlg_slices_entry *last;
	unsigned doubled = s->doubled;
	uint64_t slice, where;
	uint32_t number;

	if (time == HLG_NO_TIME) {
		s->untimed += n.samples;
		return;
	}
	if (!s->recent)
		s->recent = calloc(1 << HLG_SLICES_RECENT, sizeof(*s->recent));
	s->lost |= !s->recent;
	if (s->lost)
		return;
	slice = time / HLG_SLICES_NS >> doubled;
	reach(s, recording, slice);
	where = where_at(recording, slice >> (s->doubled - doubled));
	number = *hlg_slices_recent(s, ip, series, tid);
	last = number < s->n ? &s->entries[number] : NULL;
	if (last && last->where == where && last->ip == ip && last->series == series &&
	    last->tid == tid)
		hlg_count_add(&last->count, n);
	else if (!s->lost)
		s->lost = !count(s, &(struct hlg_slices_entry){.where = where,
							       .ip = ip,
							       .series = series,
							       .tid = tid,
							       .count = n});
}

void hlg_slices_add_any(struct hlg_slices *s, uint64_t time, uint64_t ip, uint32_t series,
			int32_t tid, struct hlg_count count)
{
	uint64_t length;

	add(s, 0, time, ip, series, tid, count);
	if (s->lost || time == HLG_NO_TIME || time - s->now.begin < s->now.length)
		return;
	length = hlg_slices_length(s);
	s->now.begin = time / length * length;
	s->now.length = length;
	s->now.where = where_at(0, time / length);
}

void hlg_slices_number(struct hlg_slices *slices, uint32_t recording, uint64_t began)
{
	forget_places(slices);
	for (uint32_t i = 0; i < slices->n; i++)
		slices->entries[i].recording = recording & 0xffffff;
	if (slices->n_spans)
		slices->spans[0] = (struct hlg_slices_span){recording & 0xffffff,
							    slices->spans[0].first,
							    slices->spans[0].last, began};
}

void hlg_slices_lengthen(struct hlg_slices *slices, unsigned doubled)
{
	while (!slices->lost && slices->n && slices->doubled < doubled)
		merge_neighbours(slices);
	if (slices->n == 0 && slices->doubled < doubled)
		slices->doubled = doubled;
}

void hlg_slices_merge(struct hlg_slices *to, const struct hlg_slices *from,
		      const uint32_t *series, const uint64_t *moves)
{
	to->untimed += from->untimed;
	to->halved = to->halved > from->halved ? to->halved : from->halved;
	to->lost |= from->lost;
	hlg_slices_lengthen(to, from->doubled);
	for (uint32_t i = 0; i < from->n && !to->lost; i++) {
		struct hlg_slices_entry entry = from->entries[i];

		if (entry.series < HLG_SLICES_STATE) {
			entry.ip += moves ? moves[entry.series] : 0;
			entry.series = series[entry.series];
		}
		/* Its series was not there for want of memory. */
		if (entry.series == UINT32_MAX)
			to->lost = true;
		else
			add(to, entry.recording, entry.slice * hlg_slices_length(from),
			    entry.ip, entry.series, entry.tid, entry.count);
	}
	for (uint32_t i = 0; i < from->n_spans && !to->lost; i++) {
		struct hlg_slices_span *span;

		if (!from->spans[i].began)
			continue;
		span = span_of(to, from->spans[i].recording);
		if (span)
			span->began = from->spans[i].began;
		else
			to->lost = true;
	}
}

static int compare(const void *a, const void *b)
{
	const struct hlg_slices_entry *x = a, *y = b;

	if (x->recording != y->recording)
		return x->recording < y->recording ? -1 : 1;
	if (x->slice != y->slice)
		return x->slice < y->slice ? -1 : 1;
	if (x->ip != y->ip)
		return x->ip < y->ip ? -1 : 1;
	if (x->series != y->series)
		return x->series < y->series ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int compare_spans(const void *a, const void *b)
{
	const struct hlg_slices_span *x = a, *y = b;

	return x->recording < y->recording ? -1 : x->recording > y->recording;
}

void hlg_slices_sort(struct hlg_slices *slices)
{
	/* What came last was not looked at; so the order of all does not show. */
	while (!slices->lost && too_many(slices))
		merge_neighbours(slices);
	if (slices->n)
		qsort(slices->entries, slices->n, sizeof(*slices->entries), compare);
	if (slices->n_spans)
		qsort(slices->spans, slices->n_spans, sizeof(*slices->spans),
		      compare_spans);
	forget_places(slices);
}

void hlg_slices_finish(struct hlg_slices *slices)
{
	free(slices->recent);
	free(slices->spans);
	free(slices->entries);
	forget_places(slices);
	*slices = (struct hlg_slices){0};
}
