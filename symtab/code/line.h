/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Straight lines: instructions that run as often as each other.
 *
 * A line is a run of instructions that control enters at the first only and leaves behind
 * the last only. Calls are inside of lines, as they come back. A line begins at the start
 * of a function, label or gap, behind a branch or what control does not pass, and at each
 * target of a branch that stands in that place. (Targets of indirect branches are not
 * known.)
 *
 * All addresses are the image's own.
 */
#ifndef HLG_SYMTAB_CODE_LINE_H
#define HLG_SYMTAB_CODE_LINE_H

#include "symtab/code/code.h"

/* An instruction and the line it is of. */
struct hlg_line_insn {
	uint64_t addr;
	uint32_t line; /* from 0 on */
	bool loops;    /* a branch of the place leads back across it, or to it: only then
			* can it run more often than the first line */
	enum hlg_leave leave;
	enum hlg_leave before; /* of the instruction that stands and runs before it */
};

/* Those of a place, by address. All zero before the first use. */
struct hlg_lines {
	struct hlg_line_insn *insn;
	size_t n;
};

/* The instructions of a place of the code's image. False without memory; the caller
 * finishes *lines in any case. */
bool hlg_line_find(struct hlg_lines *lines, struct hlg_code *code,
		   const struct hlg_place *place);

void hlg_line_finish(struct hlg_lines *lines);

#endif
