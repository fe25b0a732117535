/* SPDX-License-Identifier: GPL-2.0-only */
/* How inputs.c keeps words, and sorts out what they are. Without memory the program ends.
 */
#ifndef HLG_TOOLS_INPUTS_INPUT_WORDS_H
#define HLG_TOOLS_INPUTS_INPUT_WORDS_H

#include "tools/inputs/file-kind.h"
#include "tools/inputs/inputs.h"

/* An argument, not owned, and what it seems to be. */
struct hlg_other {
	const char *word;
	enum hlg_file_kind kind;
};

/* Takes word over, which is from malloc(). */
void hlg_inputs_add_word(struct hlg_inputs *in, char *word);

void hlg_inputs_add_file(struct hlg_inputs *in, const char *path);
void hlg_inputs_add_other(struct hlg_inputs *in, const char *word,
			  enum hlg_file_kind kind);

/* Makes words and files of the others. */
void hlg_inputs_sort(struct hlg_inputs *in);

/*
 * After sorting: gives in->after what it has no words for, and sorts it. What makes no
 * sense ends the program, as argp does.
 */
void hlg_inputs_part(struct hlg_inputs *in, struct argp_state *state);

#endif
