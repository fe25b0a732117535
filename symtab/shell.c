// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/escape.h"

/* Room for a word: each byte may become four, between quotes. */
static size_t room(const char *word)
{
	return 4 * strlen(word) + 3;
}

/* Puts a word, quoted where it has to be; returns its end. */
static char *put(char *to, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_@%+=:,./-";

	if (word[0] && strspn(word, plain) == strlen(word))
		return stpcpy(to, word);
	*to++ = '\'';
	for (; *word; word++) {
		if (*word == '\'')
			to = stpcpy(to, "'\\''");
		else
			*to++ = *word;
	}
	return stpcpy(to, "'");
}

char *hlg_shell_quote(const char *word)
{
	char *quoted = malloc(room(word));

	if (quoted)
		put(quoted, word);
	return quoted;
}

const char *hlg_shell_put(char *to, size_t size, const char *word)
{
	char *quoted = hlg_shell_quote(word);

	hlg_escape(to, size, quoted ? quoted : word);
	free(quoted);
	return to;
}

char *hlg_shell_words(const char *const *words)
{
	size_t size = 1;
	char *line, *to;

	for (size_t i = 0; words[i]; i++)
		size += 1 + room(words[i]);
	line = to = malloc(size);
	if (!line)
		return NULL;
	*to = '\0';
	for (size_t i = 0; words[i]; i++) {
		*to++ = ' ';
		to = put(to, words[i]);
	}
	return line;
}
