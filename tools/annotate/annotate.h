/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions annotated: listings of chosen places in every view of a report, written as
 * text or JSON. Addresses are the image's own; outside of every image, the guest's. Text
 * is not escaped, but where it is written.
 */
#ifndef HLG_TOOLS_ANNOTATE_ANNOTATE_H
#define HLG_TOOLS_ANNOTATE_ANNOTATE_H

#include <stdio.h>

#include "filter/report/report.h"
#include "tools/inputs/places.h"
#include "tools/source/source.h"

enum hlg_syntax {
	HLG_SYNTAX_ATT,
	HLG_SYNTAX_INTEL
};

struct hlg_annotate {
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
	const char *file;       /* of the source line; NULL: not known */
	int source_line;        /* 0: the compiler names none */
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
 * only without memory; the caller finishes it in any case. */
int hlg_listing_build(struct hlg_listing *listing, const struct hlg_annotate *annotate,
		      const struct hlg_view *view, const struct hlg_row *row,
		      struct hlg_err *err);
void hlg_listing_finish(struct hlg_listing *listing);

/*
 * Calls each for what is to be shown: the listings of all places in the whole report, or
 * in each group it is split into, whose series is then named (else NULL). Of a report
 * that withholds names there is nothing. Fails without memory.
 */
int hlg_listing_each(const struct hlg_annotate *annotate,
		     void (*each)(void *ctx, const struct hlg_listing *listing,
				  const struct hlg_view *view, const char *series),
		     void *ctx, struct hlg_err *err);

/*
 * Writes the instruction at addr, whose bytes are at p, left of them (at least one), to
 * buf: x86-64 by Zydis, AArch64 as a word (`.inst 0xd503201f`). *memory becomes the
 * address of an operand relative to the instruction, if *has_memory does become true.
 * Returns false when they are no whole instruction.
 */
bool hlg_disasm(unsigned machine, enum hlg_syntax syntax, const unsigned char *p,
		size_t left, uint64_t addr, char *buf, size_t size, uint64_t *memory,
		bool *has_memory);

/* Of a struct hlg_annotate, as struct hlg_format has them. JSON is format 1, and there is
 * none without jansson. */
int hlg_annotate_text(void *annotate, FILE *f, struct hlg_err *err);
int hlg_annotate_json(void *annotate, FILE *f, struct hlg_err *err);

#endif
