/* SPDX-License-Identifier: GPL-2.0-only */
/* What is at an address, and how that is written. */
#ifndef HLG_TOOLS_LOOKUP_ANSWER_H
#define HLG_TOOLS_LOOKUP_ANSWER_H

#include "filter/write/format.h"
#include "symtab/image/image.h"
#include "tools/source/source.h"

enum {
	HLG_ANSWER_INLINES = 64 /* at most */
};

struct hlg_answer {
	uint64_t asked; /* as it was given: a guest address, or if own the image's */
	bool own;
	struct hlg_place place;
	const char *name; /* of the place, readable if wanted; not escaped */
	bool named;       /* it was asked for by its name */
	bool inside;      /* the middle of an instruction: wrong base or ELF? */
	bool known;       /* is there a line? */
	struct hlg_source_line line;
	size_t n_inlines;
	struct hlg_source_inline inlines[HLG_ANSWER_INLINES]; /* innermost first */
	bool demangle; /* their names are to be readable */
};

/*
 * Writers of a struct hlg_answer. Text: `0xADDR name+0xOFF (kind, image) file:line`, no
 * offset and no image outside, no line where none is known, and in the brackets whether it
 * is inside an instruction; then a line for each inlined function, `  inlined NAME, called
 * at file:line`; of a place that was asked for by a name a line of its others. JSON: one
 * object on one line; keys may be added, none changes its meaning. They fail without
 * memory.
 */
extern const struct hlg_format hlg_answer_text;
extern const struct hlg_format hlg_answer_json;

#endif
