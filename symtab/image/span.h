/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spans: every address of an image belongs to exactly one owner, settled once at load.
 *
 * The rule, for an address in a code area; symbols are those that begin in the area, cut
 * at its end:
 *  1. a function that covers the address owns it; of several the innermost, which is
 *     the one that begins last, and of those the shortest;
 *  2. else a sized label that covers it, of several the innermost;
 *  3. else the bare label at or before it, if no symbol begins between the two and no
 *     function or sized label covers the label's own address;
 *  4. else nobody: a gap.
 * In a perf map, the later line goes before "begins last".
 * Other areas are data; addresses in no area are outside.
 */
#ifndef HLG_SYMTAB_IMAGE_SPAN_H
#define HLG_SYMTAB_IMAGE_SPAN_H

#include "symtab/image/area.h"
#include "symtab/image/symbol.h"

enum hlg_kind {
	HLG_FUNCTION,
	HLG_LABEL,
	HLG_GAP,
	HLG_DATA,
	HLG_OUTSIDE,
	HLG_N_KINDS
};

/* From start up to the next span's start. */
struct hlg_span {
	uint64_t start;
	uint32_t
		index; /* function, label: into syms; gap, data: into areas; outside: 0 */
	uint8_t kind;  /* enum hlg_kind */
};

struct hlg_spans {
	struct hlg_span *span; /* sorted; the last one is outside and has no end */
	size_t n;
};

/* Flattens tab (sorted) over areas. Returns false without memory; then *spans is empty.
 */
bool hlg_span_build(struct hlg_spans *spans, const struct hlg_area *areas, size_t n_areas,
		    const struct hlg_symtab *tab);

/* Index of the span that holds addr, or SIZE_MAX before the first: outside. */
size_t hlg_span_find(const struct hlg_spans *spans, uint64_t addr);

void hlg_span_finish(struct hlg_spans *spans);

#endif
