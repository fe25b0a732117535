/* SPDX-License-Identifier: GPL-2.0-only */
/* Words of a command line that is told, to be copied into a shell. */
#ifndef HLG_SYMTAB_SHELL_H
#define HLG_SYMTAB_SHELL_H

#include <stddef.h>

/* A word as a shell takes it, to be freed; NULL without memory. */
char *hlg_shell_quote(const char *word);

/* The same for a message, escaped, cut to the size bytes of to, which it returns; word
 * itself without memory. */
const char *hlg_shell_put(char *to, size_t size, const char *word);

/* The same of a word that is put together. */
__attribute__((format(printf, 1, 2))) char *hlg_shell_word(const char *fmt, ...);

/* The words, of which the last is NULL, each behind a blank; as above. */
char *hlg_shell_words(const char *const *words);

#endif
