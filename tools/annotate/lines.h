/* SPDX-License-Identifier: GPL-2.0-only */
/* The lines of a place before any sample is looked at. */
#ifndef HLG_TOOLS_ANNOTATE_LINES_H
#define HLG_TOOLS_ANNOTATE_LINES_H

#include "filter/profile/profile.h"
#include "symtab/code/code.h"
#include "symtab/image/space.h"

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
	char *target_name;      /* "foo+0x10", not escaped; NULL where nothing is known */
	bool is_target;         /* a branch of the same place leads here */
	bool edge;              /* skid=: a late sample may be from elsewhere */
	bool hottest;           /* the most of all lines */
	const char *file;       /* of the source line; NULL: not known. Not escaped. */
	int source_line;        /* 0: the compiler names none */
};

struct hlg_lines {
	struct hlg_line *line; /* by address; they cover the place without holes */
	size_t n, room;
	const char *remark; /* as in a listing */
};

/*
 * Decodes place; code is its image's, NULL where it cannot be decoded, and without it, or
 * where there is no code, there are no lines. Returns false without memory; the caller
 * finishes *lines in any case.
 */
bool hlg_lines_build(struct hlg_lines *lines, struct hlg_code *code,
		     const struct hlg_place *place);

/* Appends a line. False without memory. */
bool hlg_lines_add(struct hlg_lines *lines, const struct hlg_line *line);

void hlg_lines_finish(struct hlg_lines *lines);

#endif
