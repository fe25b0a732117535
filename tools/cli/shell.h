/* SPDX-License-Identifier: GPL-2.0-only */
/* Words of a command line that is told, to be copied into a shell. */
#ifndef HLG_TOOLS_CLI_SHELL_H
#define HLG_TOOLS_CLI_SHELL_H

/* A word as a shell takes it, to be freed; NULL without memory. */
char *hlg_shell_quote(const char *word);

/* The words, of which the last is NULL, each behind a blank; as above. */
char *hlg_shell_words(const char *const *words);

#endif
