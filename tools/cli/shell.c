// SPDX-License-Identifier: GPL-2.0-only
#include "tools/cli/shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/output/memstream.h"

char *hlg_shell_quote(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_@%+=:,./-";
	char *quoted = malloc(4 * strlen(word) + 3), *to = quoted;

	if (!quoted)
		return NULL;
	if (word[0] && strspn(word, plain) == strlen(word))
		return strcpy(quoted, word);
	*to++ = '\'';
	for (; *word; word++) {
		if (*word == '\'')
			to = stpcpy(to, "'\\''");
		else
			*to++ = *word;
	}
	strcpy(to, "'");
	return quoted;
}

char *hlg_shell_words(const char *const *words)
{
	struct hlg_memstream m;
	FILE *f = hlg_memstream_open(&m);

	for (; f && *words; words++) {
		char *word = hlg_shell_quote(*words);

		m.lost |= !word;
		if (word)
			fprintf(f, " %s", word);
		free(word);
	}
	return hlg_memstream_close(&m);
}
