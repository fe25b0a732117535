// SPDX-License-Identifier: GPL-2.0-only
/*
 * One sweep in address order. The symbols that cover the current address wait in a heap
 * with the strongest on top; a symbol that has ended is thrown away when it surfaces.
 */
#include "symtab/image/span.h"

#include <stdlib.h>

#include "symtab/bsearch.h"

struct sweep {
	const struct hlg_symtab *tab;
	const struct hlg_area *area;
	uint32_t area_index;
	size_t next;    /* first symbol not seen yet */
	uint32_t *heap; /* sized symbols, indices into tab->syms */
	size_t n_heap;
	const struct hlg_symbol
		*bare; /* the bare label that reaches to bare_end, or NULL */
	uint64_t bare_end;
	struct hlg_spans *out;
};

/* Does a own an address rather than b, when both cover it? */
static bool stronger(const struct hlg_symtab *tab, const struct hlg_symbol *a,
		     const struct hlg_symbol *b)
{
	if (a->class != b->class)
		return a->class < b->class;
	if (tab->later_wins)
		return a->index > b->index;
	if (a->addr != b->addr)
		return a->addr > b->addr;
	return a->end < b->end;
}

static bool above(const struct sweep *s, size_t i, size_t j)
{
	return stronger(s->tab, &s->tab->syms[s->heap[i]], &s->tab->syms[s->heap[j]]);
}

static void swap(struct sweep *s, size_t i, size_t j)
{
	uint32_t t = s->heap[i];

	s->heap[i] = s->heap[j];
	s->heap[j] = t;
}

static void push(struct sweep *s, uint32_t sym)
{
	size_t i = s->n_heap++;

	s->heap[i] = sym;
	for (; i && above(s, i, (i - 1) / 2); i = (i - 1) / 2)
		swap(s, i, (i - 1) / 2);
}

static void pop(struct sweep *s)
{
	size_t i = 0;

	s->heap[0] = s->heap[--s->n_heap];
	for (;;) {
		size_t best = i, left = 2 * i + 1;

		if (left < s->n_heap && above(s, left, best))
			best = left;
		if (left + 1 < s->n_heap && above(s, left + 1, best))
			best = left + 1;
		if (best == i)
			return;
		swap(s, i, best);
		i = best;
	}
}

/* The sized symbol that owns addr, or NULL. */
static const struct hlg_symbol *sized_owner(struct sweep *s, uint64_t addr)
{
	while (s->n_heap && s->tab->syms[s->heap[0]].end <= addr)
		pop(s);
	return s->n_heap ? &s->tab->syms[s->heap[0]] : NULL;
}

static void emit(struct hlg_spans *out, uint64_t start, enum hlg_kind kind,
		 uint32_t index)
{
	struct hlg_span *last = out->n ? &out->span[out->n - 1] : NULL;

	if (last && last->kind == kind && last->index == index && kind != HLG_OUTSIDE)
		return; /* an inner symbol began and lost: the owner goes on */
	out->span[out->n++] = (struct hlg_span){start, index, (uint8_t)kind};
}

/* Writes who owns [from, to), in which no symbol begins. */
static void settle(struct sweep *s, uint64_t from, uint64_t to)
{
	while (from < to) {
		const struct hlg_symbol *sym = sized_owner(s, from);
		uint64_t end = sym ? sym->end : to;

		if (!sym && from < s->bare_end)
			sym = s->bare;
		if (!sym)
			emit(s->out, from, HLG_GAP, s->area_index);
		else
			emit(s->out, from,
			     sym->class == HLG_SYM_FUNCTION ? HLG_FUNCTION : HLG_LABEL,
			     (uint32_t)(sym - s->tab->syms));
		from = end < to ? end : to;
	}
}

/* Takes in the symbols of one address; only the first of equal extents can own. */
static void begin(struct sweep *s, uint64_t addr)
{
	const struct hlg_symbol *syms = s->tab->syms, *last = NULL, *bare = NULL;
	bool covered = sized_owner(s, addr) != NULL;
	size_t i = s->next;

	for (; i < s->tab->n_syms && syms[i].addr == addr; i++) {
		if (syms[i].class == HLG_SYM_BARE_LABEL) {
			if (!bare && !last && !covered)
				bare = &syms[i];
		} else if (!last || last->class != syms[i].class ||
			   last->end != syms[i].end) {
			last = &syms[i];
			push(s, (uint32_t)i);
		}
	}
	s->next = i;
	s->bare = bare;
	s->bare_end = i < s->tab->n_syms ? syms[i].addr : UINT64_MAX;
}

/*
 * Most symbols are alone: nothing covers their start, nothing begins before they end.
 * Settles such a one that begins at addr and returns its end, or addr for any other.
 */
static uint64_t settle_alone(struct sweep *s, uint64_t addr)
{
	const struct hlg_symbol *sym = &s->tab->syms[s->next];
	bool last = s->next + 1 == s->tab->n_syms;

	if (s->n_heap || sym->class == HLG_SYM_BARE_LABEL || sym->end > s->area->end ||
	    (!last && sym[1].addr < sym->end))
		return addr;
	emit(s->out, addr, sym->class == HLG_SYM_FUNCTION ? HLG_FUNCTION : HLG_LABEL,
	     (uint32_t)s->next++);
	s->bare = NULL;
	return sym->end;
}

static void sweep_area(struct sweep *s)
{
	const struct hlg_symbol *syms = s->tab->syms;
	uint64_t at = s->area->start;

	s->n_heap = 0;
	s->bare = NULL;
	while (s->next < s->tab->n_syms && syms[s->next].addr < at)
		s->next++;
	while (at < s->area->end) {
		uint64_t to = s->area->end;

		if (s->next < s->tab->n_syms && syms[s->next].addr == at) {
			uint64_t end = settle_alone(s, at);

			if (end > at) {
				at = end;
				continue;
			}
			begin(s, at);
		}
		if (s->next < s->tab->n_syms && syms[s->next].addr < to)
			to = syms[s->next].addr;
		settle(s, at, to);
		at = to;
	}
}

static void sweep_all(struct sweep *s, const struct hlg_area *areas, size_t n_areas)
{
	for (size_t i = 0; i < n_areas; i++) {
		s->area = &areas[i];
		s->area_index = (uint32_t)i;
		if (areas[i].code)
			sweep_area(s);
		else
			emit(s->out, areas[i].start, HLG_DATA, (uint32_t)i);
		if (i + 1 == n_areas || areas[i + 1].start != areas[i].end)
			emit(s->out, areas[i].end, HLG_OUTSIDE, 0);
	}
}

bool hlg_span_build(struct hlg_spans *spans, const struct hlg_area *areas, size_t n_areas,
		    const struct hlg_symtab *tab)
{
	/* Each symbol begins one span at most and ends one; each area begins one, ends
	 * one. */
	size_t max = 2 * (tab->n_syms + n_areas) + 1;
	struct sweep s = {.tab = tab, .out = spans};

	spans->n = 0;
	spans->span = malloc(max * sizeof(*spans->span));
	s.heap = malloc((tab->n_syms + 1) * sizeof(*s.heap));
	if (!spans->span || !s.heap) {
		free(s.heap);
		hlg_span_finish(spans);
		return false;
	}
	sweep_all(&s, areas, n_areas);
	free(s.heap);
	return true;
}

size_t hlg_span_find(const struct hlg_spans *spans, uint64_t addr)
{
	return HLG_BSEARCH_UPTO(spans->span, spans->n, start, addr) - 1;
}

void hlg_span_finish(struct hlg_spans *spans)
{
	free(spans->span);
	*spans = (struct hlg_spans){0};
}
