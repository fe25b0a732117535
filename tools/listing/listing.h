/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions instruction by instruction, with the samples at each: listings of chosen
 * places in every view of a report. Addresses are the image's own; outside of every
 * image, the guest's. Text is not escaped.
 */
#ifndef HLG_TOOLS_LISTING_LISTING_H
#define HLG_TOOLS_LISTING_LISTING_H

#include <stdio.h>

#include "filter/report/report.h"
#include "tools/inputs/places.h"
#include "tools/listing/disasm.h"
#include "tools/source/source.h"

struct hlg_listings {
	const struct hlg_report *report;
	const struct hlg_found_places *places; /* in this order; none: the hottest rows */
	struct hlg_sources *sources;
	enum hlg_syntax syntax;
};

enum hlg_line_kind {
	HLG_LINE_INSN,
	HLG_LINE_INSIDE, /* samples in the middle of the instruction before */
	HLG_LINE_PLAIN,  /* samples where no instruction is known to be */
	HLG_LINE_PADDING,
	HLG_LINE_OTHER, /* another symbol's bytes, which have a row of their own */
	HLG_LINE_BYTES  /* no instruction, or not decoded */
};

struct hlg_line {
	enum hlg_line_kind kind;
	uint64_t addr, length;  /* length is 0 for samples alone */
	struct hlg_count count; /* not of padding, others' and bytes: these have none */
	double share;           /* of the row's weight, 0 to 1 */
	char *text;             /* the instruction; NULL: not disassembled, or none */
	bool has_target;        /* a branch or call, or an operand relative to it */
	uint64_t target;        /* then where to */
	char *target_name;      /* "foo+0x10"; NULL where nothing is known */
	bool is_target;         /* a branch of the same place leads here */
	bool edge;              /* skid=: a late sample may be from elsewhere */
	bool hottest;           /* the most of all lines */
	bool exit;              /* its samples are of VM exits (filter/view/border.h) */
	const char *file;       /* of the source line; NULL: not known */
	int source_line;        /* 0: the compiler names none */
	const char *inlined;    /* the innermost function that was inlined there, as the
				   debug information has it; NULL: none, or no line */
};

#define HLG_LISTING_HOT 5

/*
 * A row of a view, instruction by instruction, with the samples at each.
 *
 * Every byte of the place is in one line: an instruction, padding, bytes of another
 * symbol inside of it, or bytes that were not decoded. A sample counts at the instruction
 * that begins at its address. One whose address begins none is not moved to one that
 * does: it has a line of its own. So the lines' counts sum to the row's, whatever was
 * decoded.
 *
 * Instructions of functions and labels are decoded as symtab/code/code.h says. Those of a
 * gap are decoded from its first byte that is no padding, a guess; it says so.
 */
struct hlg_listing {
	const struct hlg_row *row; /* the view's, or made up where it has no samples */
	struct hlg_line *lines;    /* by address */
	size_t n;
	struct hlg_count on, inside, plain; /* their sum is the row's count */
	size_t hot[HLG_LISTING_HOT];        /* lines with most weight, the most first */
	size_t n_hot;
	const char *remark; /* why there are no instructions, or how they were found */
	bool no_edges;      /* skid= was asked for, but edges are not known here */
};

/* The listing of a row of a view of the report, whose names are not suppressed. Fails
 * without memory, and where the image can no longer be read, which no note says; the
 * caller finishes it in any case. */
int hlg_listing_build(struct hlg_listing *listing, const struct hlg_listings *of,
		      const struct hlg_view *view, const struct hlg_row *row,
		      struct hlg_err *err);
void hlg_listing_finish(struct hlg_listing *listing);

/* What stands in the place of a line's instruction, if it has no text; in is the last
 * line before that has bytes, or NULL. */
void hlg_listing_remark(FILE *f, const struct hlg_line *line, const struct hlg_line *in);

/*
 * Calls each for what is to be shown: the listings of all places in the whole report, or
 * in each group it is split into, whose series is then named (else NULL). Of a report
 * that withholds names there is nothing. Fails without memory.
 */
int hlg_listing_each(const struct hlg_listings *of,
		     void (*each)(void *ctx, const struct hlg_listing *listing,
				  const struct hlg_view *view, const char *series),
		     void *ctx, struct hlg_err *err);

#endif
