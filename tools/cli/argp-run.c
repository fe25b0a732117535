// SPDX-License-Identifier: GPL-2.0-only
/*
 * While argp works, stderr is a stream in memory (a variable in glibc, "Standard
 * Streams", which getopt writes to as well). What came there is one message, and in its
 * last line perhaps argp's own hint; whatever else breaks a line is of some word.
 */
#include "tools/cli/argp-run.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/escape.h"
#include "tools/cli/output.h"

/*
 * Words that users of the version before this one knew, and what does their work now. An
 * entry goes again with the next version.
 */
static const struct removed {
	const char *verb;
	const char *word; /* --OPTION, or only one value of it: --OPTION=VALUE */
	const char *instead;
} removed[] = {
	{"kallsyms", "--compat",
	 "leave it out, or run cargo hyperlight perf, whose table it wrote"},
	{"report", "--format=sysprof", "use --format=folded, which has the same stacks"},
	{"sysprof", "--elf", "hlguest report takes the guest's ELF and its recording"},
	{"sysprof", "--merge",
	 "use hlguest report --format=folded --weight=samples for the guest's stacks"},
	{"sysprof", "--format=stock",
	 "use --format=folded, or luajit-parse-sysprof, whose text it was"},
};

static FILE *real, *caught;
static char *said;
static size_t size;

_Noreturn void hlg_words_no_memory(void)
{
	struct hlg_err err;

	hlg_err_memory(&err, "arguments");
	exit(hlg_output_error(&err));
}

/* Where argp's hint begins, with the end of the line in front of it; "" if there is none.
 */
static char *find_hint(char *message)
{
	char *hint = NULL;

	for (char *s = message; (s = strstr(s, "\nTry `hlguest ")); s++)
		hint = s;
	return hint ? hint : message + strlen(message);
}

static void tell(char *message)
{
	char *hint = find_hint(message), *line;
	size_t n = strlen(message);

	if (n && message[n - 1] == '\n')
		message[n - 1] = '\0';
	if (*hint == '\n')
		*hint++ = '\0';
	if (n) {
		hlg_escape_print(stderr, message);
		fputc('\n', stderr);
	}
	while ((line = strsep(&hint, "\n")) && *line) { /* argp wraps it */
		hlg_escape_print(stderr, line);
		fputc('\n', stderr);
	}
}

/* Also when the program ends in the middle of parsing, by argp_error. */
static void let_go(void)
{
	if (!caught)
		return;
	stderr = real;
	/* Told before it is closed, which may take memory. */
	fflush(caught);
	if (said)
		tell(said);
	fclose(caught);
	caught = NULL;
	free(said);
	said = NULL;
}

/* Does what is left of argv, not empty, begin with the removed word? */
static bool is_removed(const struct removed *r, char *const *argv)
{
	size_t n = strcspn(r->word, "=");
	const char *after = argv[0] + n, *value;

	if (strncmp(argv[0], r->word, n) != 0 || (*after && *after != '='))
		return false;
	value = *after ? after + 1 : argv[1];
	return !r->word[n] || (value && strcmp(value, r->word + n + 1) == 0);
}

/* Ends the program with status 2 if one of the words was removed. */
static void refuse_removed(char *const *argv)
{
	const char *verb = argv[0] + strlen("hlguest ");
	struct hlg_err err;

	for (argv++; *argv && strcmp(*argv, "--") != 0; argv++)
		for (size_t i = 0; i < sizeof(removed) / sizeof(removed[0]); i++) {
			if (strcmp(removed[i].verb, verb) != 0 ||
			    !is_removed(&removed[i], argv))
				continue;
			hlg_err_set(&err, HLG_EINPUT, "%s: was removed (%s)",
				    removed[i].word, removed[i].instead);
			hlg_output_error(&err);
			exit(2);
		}
}

void hlg_words_parse(const struct argp *argp, int argc, char **argv, unsigned flags,
		     void *input)
{
	int rc;

	refuse_removed(argv);
	caught = open_memstream(&said, &size);
	if (caught) {
		real = stderr;
		stderr = caught;
		atexit(let_go);
	}
	rc = argp_parse(argp, argc, argv, flags, NULL, input);
	let_go();
	/* All else has ended the program itself. */
	if (rc != 0)
		hlg_words_no_memory();
}
