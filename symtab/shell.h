/* SPDX-License-Identifier: GPL-2.0-only */
/* Words of a command line that is told, to be copied into a shell. */
#ifndef HLG_SYMTAB_SHELL_H
#define HLG_SYMTAB_SHELL_H

#include <stddef.h>

/* A word as a shell takes it, to be freed; NULL without memory. */
char *hlg_shell_quote(const char *word);

/* Puts the same into the size bytes of `to`, escaped for a terminal and cut, and returns
 * them; without memory the word is not quoted. */
const char *hlg_shell_put(char *to, size_t size, const char *word);

/* The words, of which the last is NULL, each behind a blank, as
 * hlg_shell_quote has them. */
char *hlg_shell_words(const char *const *words);

#endif
