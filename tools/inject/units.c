// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inject/units.h"

#include <stdlib.h>
#include <string.h>

#include "filter/options/options.h"
#include "symtab/escape.h"

bool hlg_units_init(struct hlg_units *units, const struct hlg_image *image, int gaps)
{
	const struct hlg_symtab *tab = &image->tab;
	uint64_t most = 0;

	*units = (struct hlg_units){.image = image, .gaps = gaps};
	units->ends = calloc(tab->n_syms + 1, sizeof(*units->ends));
	for (size_t i = 0; units->ends && i < tab->n_syms; i++) {
		units->ends[i] = most;
		most = tab->syms[i].end > most ? tab->syms[i].end : most;
	}
	return units->ends != NULL;
}

void hlg_units_finish(struct hlg_units *units)
{
	free(units->ends);
}

/* May perf show the name, which it does as it is? */
static bool is_harmless(const struct hlg_units *units, const struct hlg_symbol *symbol)
{
	const char *name = hlg_image_name(units->image, symbol);

	return hlg_escape(NULL, 0, name) == strlen(name);
}

/* Does a function have all of its bytes, and its address, for itself, and a good name? */
static bool is_plain(const struct hlg_units *units, const struct hlg_unit *unit)
{
	const struct hlg_symbol *symbol = unit->place.symbol;
	const struct hlg_symtab *tab = &units->image->tab;
	size_t i;

	if (unit->place.kind != HLG_FUNCTION || units->image->elf.dynsym)
		return false;
	if (unit->start != symbol->addr || unit->end != symbol->end ||
	    !is_harmless(units, symbol))
		return false;
	i = (size_t)(symbol - tab->syms);
	return units->ends[i] <= symbol->addr &&
	       (i == 0 || tab->syms[i - 1].addr < symbol->addr) &&
	       (i + 1 == tab->n_syms || tab->syms[i + 1].addr >= symbol->end);
}

/* A gap that belongs to what is before it. */
static bool is_stretched(const struct hlg_units *units, size_t span)
{
	const struct hlg_span *s = &units->image->spans.span[span];
	struct hlg_place gap;

	if (units->gaps != HLG_GAPS_STRETCH || s->kind != HLG_GAP)
		return false;
	hlg_image_lookup(units->image, s->start, &gap);
	return hlg_image_neighbour(units->image, &gap, -1) != NULL;
}

bool hlg_units_get(const struct hlg_units *units, size_t span, struct hlg_unit *unit)
{
	const struct hlg_spans *spans = &units->image->spans;
	size_t next = span + 1;

	/* The last one is outside and has no end. */
	if (next >= spans->n || spans->span[span].kind == HLG_OUTSIDE)
		return false;
	*unit = (struct hlg_unit){.start = spans->span[span].start};
	hlg_image_lookup(units->image, unit->start, &unit->place);
	while (next + 1 < spans->n && is_stretched(units, next))
		next++;
	unit->end = spans->span[next].start;
	unit->spans = next - span;
	unit->nameless = unit->place.kind == HLG_GAP && units->gaps == HLG_GAPS_DROP;
	unit->plain = is_plain(units, unit);
	return true;
}

bool hlg_units_find(const struct hlg_units *units, uint64_t addr, struct hlg_unit *unit)
{
	size_t i = hlg_span_find(&units->image->spans, addr);

	if (i == SIZE_MAX)
		return false;
	while (i > 0 && is_stretched(units, i))
		i--;
	return hlg_units_get(units, i, unit);
}
