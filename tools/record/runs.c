// SPDX-License-Identifier: GPL-2.0-only
#include "tools/record/runs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/escape.h"
#include "symtab/shell.h"

static const char ending[] = ".data";

bool hlg_record_runs_name(char name[static PATH_MAX], const char *out, uint64_t run)
{
	size_t n = strlen(out), end = sizeof(ending) - 1;
	bool ends = n > end && strcmp(out + n - end, ending) == 0;
	int written;

	if (n >= PATH_MAX)
		return false;
	written = snprintf(name, PATH_MAX, "%.*s.%" PRIu64 "%s",
			   (int)(ends ? n - end : n), out, run, ends ? ending : "");
	return written > 0 && written < PATH_MAX;
}

void hlg_record_runs_word(const char *word)
{
	char *quoted = hlg_shell_quote(word);

	/* Else it would be read as an option. */
	if (word[0] == '-')
		fputs("./", stderr);
	hlg_escape_print(stderr, quoted ? quoted : word);
	free(quoted);
}

void hlg_record_runs_print(const char *out, uint64_t runs)
{
	char name[PATH_MAX];

	for (uint64_t i = 1; i <= runs; i++) {
		if (!hlg_record_runs_name(name, out, i))
			return;
		fputc(' ', stderr);
		hlg_record_runs_word(name);
	}
}
