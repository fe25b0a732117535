/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading the words of a verb, where there may be no memory even for that, and a word may
 * be a file's name, which a shell has put in place of `*`.
 */
#ifndef HLG_TOOLS_CLI_ARGP_RUN_H
#define HLG_TOOLS_CLI_ARGP_RUN_H

#include <argp.h>

/*
 * argp_parse for every verb. What argp, getopt and argp_error tell of a word is made fit
 * for a terminal; that there was no memory ends the program with status 1. A word that
 * was removed ends it with status 2 and says what to use instead. argv[0] is "hlguest
 * VERB".
 */
void hlg_words_parse(const struct argp *argp, int argc, char **argv, unsigned flags,
		     void *input);

/* Tells that there is no memory for the words, and ends the program with status 1. */
_Noreturn void hlg_words_no_memory(void);

#endif
