// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inject/steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/escape.h"
#include "symtab/shell.h"

/* "hlguest: then: hlguest inject --sandbox=N a.elf a.data -o b.data" */
static void tell(const char *when, const char *const *words, const char *why)
{
	char *line = hlg_shell_words(words);

	fprintf(stderr, "hlguest: %s:", when);
	if (line)
		hlg_escape_print(stderr, line);
	fprintf(stderr, "%s\n", why);
	free(line);
}

static bool is_image(const char *word)
{
	return strncmp(word, "--", 2) != 0;
}

/* The command of step i, of n, which reads what the one before has written. */
static void tell_step(const struct hlg_inputs *in, const char *out, const char *image,
		      size_t i, size_t n)
{
	char *from = NULL, *to = NULL;

	if (asprintf(&from, "%s.%zu", out, i) < 0)
		return;
	if (asprintf(&to, "%s.%zu", out, i + 1) >= 0) {
		const char *const words[] = {"hlguest",
					     "inject",
					     "--sandbox=N",
					     image,
					     i == 0 ? in->files[0] : from,
					     "-o",
					     i + 1 == n ? out : to,
					     NULL};

		tell("then", words, i == 0 ? " (N, or --tid=N: who runs it)" : "");
		free(to);
	}
	free(from);
}

void hlg_steps_tell(const struct hlg_inputs *in, const char *out)
{
	const char **words = calloc((size_t)in->n_words + 4, sizeof(*words));
	size_t n = 0;

	if (!words)
		return;
	words[0] = "hlguest";
	words[1] = "report";
	for (int i = 0; i < in->n_words; i++)
		if (is_image(in->words[i]))
			words[2 + n++] = in->words[i];
	words[2 + n] = in->files[0];
	if (n > 1)
		tell("now", words, " (shows who runs which)");
	/* One ELF of two guests is named in both steps. */
	for (size_t i = 0; i < n || (n == 1 && i < 2); i++)
		tell_step(in, out, words[n == 1 ? 2 : 2 + i], i, n == 1 ? 2 : n);
	free(words);
}
