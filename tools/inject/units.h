/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Units: the bytes of an image that perf is to show as one symbol, and whether it would
 * do so by itself.
 *
 * perf reads a symbol table by rules of its own (util/symbol-elf.c, util/symbol.c of
 * perf 6.1): a symbol without a size reaches up to the next one, or as far as a page
 * behind it; of several at one address the longest name may win; where symbols overlap,
 * any of them may be found; labels that are hidden are not taken; bytes that no symbol
 * covers have no name; names are shown as they are. Only of a function that has its bytes
 * for itself, and a name that does nothing to a terminal, there is but one reading: it is
 * called plain. All others are shown by means of a companion (companion.h), whose table
 * has one sized symbol for each unit.
 */
#ifndef HLG_TOOLS_INJECT_UNITS_H
#define HLG_TOOLS_INJECT_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symtab/image/image.h"

struct hlg_unit {
	uint64_t start, end;    /* own addresses */
	struct hlg_place place; /* what it is called by */
	size_t spans;           /* how many of the image's spans it is made of */
	bool nameless;          /* a gap that is dropped: no symbol is made for it */
	bool plain;
};

struct hlg_units {
	const struct hlg_image *image;
	int gaps;       /* enum hlg_gaps */
	uint64_t *ends; /* the highest end of the symbols before the i-th */
};

/* False without memory; finish in any case. The image outlives it. */
bool hlg_units_init(struct hlg_units *units, const struct hlg_image *image, int gaps);
void hlg_units_finish(struct hlg_units *units);

/* The unit that begins with a span; false for a span that is outside. */
bool hlg_units_get(const struct hlg_units *units, size_t span, struct hlg_unit *unit);

/* The unit an own address belongs to; false if that is outside. */
bool hlg_units_find(const struct hlg_units *units, uint64_t addr, struct hlg_unit *unit);

#endif
