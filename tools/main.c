// SPDX-License-Identifier: GPL-2.0-only
/* hlguest, the command: finds the verb and hands over. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "filter/options/nearest.h"
#include "symtab/escape.h"
#include "symtab/shell.h"
#include "tools/built-with.h" /* tools/meson.build writes both: HLG_BUILT_WITH, HLG_VERBS(X) */
#include "tools/cli/argp-run.h"
#include "tools/cli/output.h"
#include "tools/inputs/images.h"
#include "tools/inputs/inputs.h"
#include "tools/measure.h"
#include "tools/record/gate.h"
#include "tools/verbs.h"

#define DECLARE(name) extern const struct hlg_verb hlg_verb_##name;
#define LIST(name)    &hlg_verb_##name,

HLG_VERBS(DECLARE)
static const struct hlg_verb *const verbs[] = {HLG_VERBS(LIST)};

enum {
	N_VERBS = sizeof(verbs) / sizeof(verbs[0])
};

static const struct hlg_verb *find_verb(const char *name)
{
	for (size_t i = 0; i < N_VERBS; i++)
		if (strcmp(verbs[i]->name, name) == 0)
			return verbs[i];
	return NULL;
}

/* When they are needed; nothing wider than 80 columns. */
static void print_verbs(FILE *f)
{
	size_t width = 0;

	for (size_t i = 0; i < N_VERBS; i++)
		if (strlen(verbs[i]->name) > width)
			width = strlen(verbs[i]->name);
	fputs("usage: hlguest -- VMM ARGUMENT...    record and report in one\n"
	      "       hlguest VERB [ARGUMENT...]\n\n",
	      f);
	for (size_t i = 0; i < N_VERBS; i++)
		fprintf(f, "  %-*s  %-29s  %s\n", (int)width, verbs[i]->name,
			verbs[i]->args, verbs[i]->help);
	fputs("\nhlguest help VERB, hlguest VERB --help: all options of a verb, and "
	      "examples\n",
	      f);
}

/* What somebody may have meant who named a file where a verb belongs, without the file;
 * NULL: it is none, nor looks like one. */
static const char *meant_by_file(const char *name)
{
	struct stat st;

	if (stat(name, &st) != 0)
		return strchr(name, '/') ? "hlguest -- " : NULL;
	if (!S_ISREG(st.st_mode))
		return NULL;
	switch (hlg_images_file_kind(name)) {
	case HLG_FILE_KIND_RECORDING:
		return "hlguest report guest.elf ";
	case HLG_FILE_KIND_IMAGE:
		return access(name, X_OK) == 0 ? "hlguest -- " : "hlguest report ";
	default:
		return access(name, X_OK) == 0 ? "hlguest -- " : NULL;
	}
}

static int unknown(const char *name)
{
	char word[2 * PATH_MAX];
	struct hlg_nearest nearest = {.word = name, .n = strlen(name)};
	const char *meant = meant_by_file(name);

	fputs("hlguest: ", stderr);
	hlg_escape_print(stderr, name[0] ? name : "''");
	if (meant) {
		fprintf(stderr,
			": no such verb (did you mean %s%s? hlguest help lists all)\n",
			meant, hlg_shell_put(word, sizeof(word), name));
		return 2;
	}
	if (name[0] == '-') {
		fputs(": no such option here (a verb comes first: hlguest report ...)\n",
		      stderr);
		return 2;
	}
	for (size_t i = 0; i < N_VERBS; i++)
		hlg_nearest_look(&nearest, verbs[i]->name, strlen(verbs[i]->name));
	if (nearest.best) {
		fprintf(stderr,
			": no such verb (did you mean %s? hlguest help lists all)\n",
			nearest.best);
		return 2;
	}
	fputs(": no such verb (one of", stderr);
	for (size_t i = 0; i < N_VERBS; i++)
		fprintf(stderr, "%s %s", i ? "," : "", verbs[i]->name);
	fputs(", help)\n", stderr);
	return 2;
}

/* argp names the program by argv[0]: "hlguest report". */
static int run(const struct hlg_verb *verb, int argc, char **argv)
{
	static char name[32]; /* for what runs at exit, too */

	snprintf(name, sizeof(name), "hlguest %s", verb->name);
	argv[0] = name;
	program_invocation_name = name;
	return verb->run(verb, argc, argv);
}

/* Verbs and options for programs, a line each: tools/completion is made from it. */
static int list(void)
{
	for (size_t i = 0; i < N_VERBS; i++) {
		const struct hlg_verb *verb = verbs[i];
		const struct hlg_argp_run words = {verb, hlg_inputs_options(verb), NULL,
						   NULL};
		struct hlg_err err;

		if (!words.options) {
			hlg_err_memory(&err, verb->name);
			return hlg_output_error(&err);
		}
		printf("verb\t%s\t%s\t%s\t%s\n", verb->name, verb->args,
		       verb->files ? verb->files : "", verb->help);
		hlg_argp_run_list(&words);
		free((void *)words.options);
	}
	return hlg_output_end(0);
}

static int help(int argc, char **argv)
{
	char *words[] = {NULL, (char *)"--help", NULL};
	const struct hlg_verb *verb = argc > 2 ? find_verb(argv[2]) : NULL;

	if (argc > 2 && strcmp(argv[2], "--options") == 0)
		return list();
	if (argc > 2 && !verb && strcmp(argv[2], "help") != 0)
		return unknown(argv[2]);
	if (verb)
		return run(verb, 2, words);
	print_verbs(stdout);
	return hlg_output_end(0);
}

static void nothing(int sig)
{
	(void)sig;
}

/*
 * A write over `ulimit -f` fails like one to a full disk (EFBIG), and is told, instead of
 * ending the program. By a handler and not by SIG_IGN: what is run does not inherit it.
 */
static void survive_limits(void)
{
	const struct sigaction action = {.sa_handler = nothing, .sa_flags = SA_RESTART};

	sigaction(SIGXFSZ, &action, NULL);
}

/*
 * A stream that is closed (`>&-`) stays of no use, EBADF, but nothing else gets its
 * number: messages would be written into a file, and what perf is to write into a pipe of
 * ours. It is a folder, so that /dev/stdout cannot be written, too.
 */
static void hold_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/", O_PATH | O_DIRECTORY) != fd)
			return;
}

int main(int argc, char **argv)
{
	const struct hlg_measure measure = {&hlg_verb_record, &hlg_verb_report, run};
	const struct hlg_verb *verb;

	hold_streams();
	setlocale(LC_ALL, "C"); /* the same bytes everywhere, argp's messages too */
	atexit(hlg_output_exit);
	survive_limits();
	if (argc < 2) {
		print_verbs(stderr);
		return 2;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0) {
		puts("hlguest " HLG_VERSION " (" HLG_BUILT_WITH ")");
		return hlg_output_end(0);
	}
	if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
	    strcmp(argv[1], "-h") == 0)
		return help(argc, argv);
	if (hlg_gate_is(argc, argv))
		return hlg_gate_run(argv);
	verb = find_verb(argv[1]);
	if (verb)
		return run(verb, argc - 1, argv + 1);
	return hlg_measure_is(argc, argv) ? hlg_measure_run(&measure, argc, argv)
					  : unknown(argv[1]);
}
