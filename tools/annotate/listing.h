/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A listing: a row of a view, instruction by instruction, with the samples at each.
 *
 * Every byte of the place is in one line: an instruction, padding, bytes of another
 * symbol inside of it, or bytes that were not decoded. A sample counts at the instruction
 * that begins at its address. One whose address begins none is not moved to one that
 * does: it has a line of its own. So the lines' counts sum to the row's, whatever was
 * decoded.
 *
 * Instructions of functions and labels are decoded as symtab/code/code.h says. Those of a
 * gap are decoded from its first byte that is no padding, a guess; it says so. All
 * addresses are the image's own; outside of every image, the guest's.
 */
#ifndef HLG_TOOLS_ANNOTATE_LISTING_H
#define HLG_TOOLS_ANNOTATE_LISTING_H

#include "filter/report/report.h"
#include "tools/annotate/disasm.h"
#include "tools/annotate/lines.h"
#include "tools/source/source.h"

#define HLG_LISTING_HOT 5

struct hlg_listing {
	const struct hlg_row
		*row;           /* the view's, or made up for a place without samples */
	struct hlg_line *lines; /* by address */
	size_t n;
	struct hlg_count on, inside, plain; /* their sum is the row's count */
	size_t hot[HLG_LISTING_HOT];        /* lines with most weight, the most first */
	size_t n_hot;
	const char *remark; /* why there are no instructions, or how they were found */
	bool no_edges;      /* skid= was asked for, but edges are not known here */
};

struct hlg_listing_input {
	const struct hlg_report *report; /* its names are not suppressed */
	const struct hlg_view *view;
	const struct hlg_row *row;
	struct hlg_sources *sources;
	enum hlg_syntax syntax;
};

/* All of the input outlives the listing. Fails only without memory; the caller finishes
 * it in any case. */
int hlg_listing_build(struct hlg_listing *listing, const struct hlg_listing_input *in,
		      struct hlg_err *err);
void hlg_listing_finish(struct hlg_listing *listing);

/* "instruction", "inside", "plain", "padding", "other", "bytes", as in JSON. */
const char *hlg_listing_word(enum hlg_line_kind kind);

#endif
