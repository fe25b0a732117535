// SPDX-License-Identifier: GPL-2.0-only
#include "filter/profile/slices.h"

#include <stdlib.h>

#include "symtab/grow.h"

struct search {
	const struct hlg_slices *slices;
	const struct hlg_slices_entry *key;
};

static bool is(const struct hlg_slices_entry *a, const struct hlg_slices_entry *b)
{
	return a->slice == b->slice && a->recording == b->recording && a->ip == b->ip &&
	       a->series == b->series && a->tid == b->tid;
}

static bool same(const void *ctx, uint32_t number)
{
	const struct search *search = ctx;

	return is(&search->slices->entries[number], search->key);
}

/* Where an entry that was counted lately would be: samples come in the order of time, so
 * that most are of one of these. */
static uint32_t *recent(struct hlg_slices *s, const struct hlg_slices_entry *entry)
{
	uint64_t key = entry->ip ^ (uint64_t)(uint32_t)entry->tid << 32 ^ entry->series;

	return &s->recent[key * hlg_hash_factor >> (64 - HLG_SLICES_RECENT)];
}

static bool add_new(struct hlg_slices *s, const struct hlg_slices_entry *entry,
		    uint64_t hash)
{
	if (!HLG_GROW(s->entries, s->n) || !hlg_index_add(&s->index, hash, s->n))
		return false;
	s->entries[s->n++] = *entry;
	return true;
}

/* False without memory. */
static bool count(struct hlg_slices *s, const struct hlg_slices_entry *entry)
{
	const struct search search = {s, entry};
	uint32_t *last = recent(s, entry), known;
	uint64_t hash;

	if (*last < s->n && is(&s->entries[*last], entry)) {
		hlg_count_add(&s->entries[*last].count, entry->count);
		return true;
	}
	hash = hlg_hash_word(hlg_hash_word(HLG_HASH_SEED, entry->ip),
			     (uint64_t)entry->series << 32 | (uint32_t)entry->tid);
	hash = hlg_hash_word(hash, (uint64_t)entry->recording << 40 | entry->slice);
	known = hlg_index_find(&s->index, hash, same, &search);
	*last = known != HLG_INDEX_NONE ? known : s->n;
	if (known == HLG_INDEX_NONE)
		return add_new(s, entry, hash);
	hlg_count_add(&s->entries[known].count, entry->count);
	return true;
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
	hlg_index_finish(&s->index);
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

static void add(struct hlg_slices *slices, uint32_t recording, uint64_t time,
		const struct hlg_slices_entry *entry)
{
	struct hlg_slices_entry at = *entry;
	uint64_t slice;
	unsigned doubled;

	if (time == HLG_NO_TIME) {
		slices->untimed += entry->count.samples;
		return;
	}
	if (slices->lost)
		return;
	slice = time / HLG_SLICES_NS >> slices->doubled;
	doubled = slices->doubled;
	reach(slices, recording, slice);
	at.recording = recording & 0xffffff;
	at.slice = slice >> (slices->doubled - doubled) & UINT64_C(0xffffffffff);
	slices->lost = slices->lost || !count(slices, &at);
}

void hlg_slices_add(struct hlg_slices *slices, uint64_t time,
		    const struct hlg_slices_entry *entry)
{
	add(slices, 0, time, entry);
}

void hlg_slices_number(struct hlg_slices *slices, uint32_t recording, uint64_t began)
{
	hlg_index_finish(&slices->index);
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
			    &entry);
	}
	for (uint32_t i = 0; i < from->n_spans && !to->lost; i++)
		if (from->spans[i].began)
			span_of(to, from->spans[i].recording)->began =
				from->spans[i].began;
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
	hlg_index_finish(&slices->index);
}

void hlg_slices_finish(struct hlg_slices *slices)
{
	free(slices->spans);
	free(slices->entries);
	hlg_index_finish(&slices->index);
	*slices = (struct hlg_slices){0};
}
