/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading the words of a verb, where there may be no memory even for that. */
#ifndef HLG_TOOLS_WORDS_H
#define HLG_TOOLS_WORDS_H

#include <argp.h>

/* argp_parse(3), which reports that it had no memory; this ends the program with 1. */
void hlg_words_parse(const struct argp *argp, int argc, char **argv, unsigned flags,
		     void *input);

/* Tells that there is no memory for the words, and ends the program with status 1. */
_Noreturn void hlg_words_no_memory(void);

#endif
