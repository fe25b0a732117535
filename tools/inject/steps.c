// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inject/steps.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/report/nothing.h"
#include "symtab/escape.h"
#include "symtab/shell.h"
#include "tools/inputs/inputs.h"

int hlg_steps_check(const struct hlg_inputs *in, bool *by_sandbox, struct hlg_err *err)
{
	struct hlg_batch batch = {.paths = in->files, .n_paths = 1, .threads = 1};
	struct hlg_run run;
	int rc = hlg_run_start_apart(&run, in->n_words, in->words, err);

	batch.quiet = in->quiet;
	if (rc == 0)
		rc = hlg_batch_read(&batch, &run, err);
	if (rc == 0 && batch.files[0].rc < 0) {
		*err = batch.files[0].err;
		rc = err->code;
	}
	if (rc == 0)
		rc = hlg_nothing_check(&run.profile, "", err);
	if (by_sandbox)
		*by_sandbox = run.profile.sandboxes.n > 0;
	hlg_batch_finish(&batch);
	hlg_run_finish(&run);
	return rc;
}

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

/* Who is asked for is the step's; all else that was asked stays. */
static bool is_passed_on(const char *word)
{
	return !hlg_inputs_is_image(word) && strncmp(word, "--sandbox=", 10) != 0 &&
	       strncmp(word, "--tid=", 6) != 0;
}

/* The command of step i, of n, which reads what the one before has written. */
static void tell_step(const struct hlg_inputs *in, const char *out, bool direct,
		      const char *who, const char *image, size_t i, size_t n,
		      const char *why)
{
	const char **words = calloc((size_t)in->n_words + 9, sizeof(*words));
	char *from = NULL, *to = NULL;
	size_t k = 0;

	if (words && asprintf(&from, "%s.%zu", out, i) >= 0 &&
	    asprintf(&to, "%s.%zu", out, i + 1) >= 0) {
		words[k++] = "hlguest";
		words[k++] = "inject";
		words[k++] = who;
		for (int o = 0; o < in->n_words; o++)
			if (is_passed_on(in->words[o]))
				words[k++] = in->words[o];
		if (direct)
			words[k++] = "--direct";
		words[k++] = image;
		words[k++] = i == 0 ? in->files[0] : from;
		words[k++] = "-o";
		words[k] = i + 1 == n ? out : to;
		tell("then", words, why);
	}
	free(to);
	free(from);
	free(words);
}

void hlg_steps_tell(const struct hlg_inputs *in, const char *out, bool direct,
		    bool by_sandbox)
{
	const char *who = by_sandbox ? "--sandbox=N" : "--tid=N";
	const char **words = calloc((size_t)in->n_words + 4, sizeof(*words));
	size_t n = 0;

	if (!words)
		return;
	words[0] = "hlguest";
	words[1] = "report";
	for (int i = 0; i < in->n_words; i++)
		if (hlg_inputs_is_image(in->words[i]))
			words[2 + n++] = in->words[i];
	words[2 + n] = in->files[0];
	if (n > 1)
		tell("now", words, " (shows who runs which)");
	/* One ELF of two guests is named in both steps; how many run it is not known. */
	for (size_t i = 0; i < n || (n == 1 && i < 2); i++)
		tell_step(in, out, direct, who, words[n == 1 ? 2 : 2 + i], i,
			  n == 1 ? 2 : n,
			  i == 0 && by_sandbox ? " (N, or --tid=N: who runs it)"
			  : i == 0             ? " (N: who runs it)"
			  : n == 1             ? " (and so on, for each guest)"
					       : "");
	free(words);
}
