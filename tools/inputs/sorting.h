/* SPDX-License-Identifier: GPL-2.0-only */
/* Which of the files that were given are images, which recordings, and of which side. */
#ifndef HLG_TOOLS_INPUTS_SORTING_H
#define HLG_TOOLS_INPUTS_SORTING_H

#include "tools/inputs/given.h"

/* Behind the last word: arguments are the verb's, which begin with a struct hlg_inputs. A
 * file that is not there is no error yet, but in .missing. */
int hlg_inputs_sort(void *arguments, struct hlg_err *err);

/* The verb's own option for what is no file; NULL: it takes nothing but files. */
const struct hlg_verb_option *hlg_inputs_own_word(const struct hlg_verb *verb);

#endif
