// SPDX-License-Identifier: GPL-2.0-only
/* hlguest, the command: finds the verb and hands over. */
#include <argp.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "symtab/escape.h"
#include "tools/cli/output.h"
#include "tools/cli/verb.h"

struct verb {
	const char *name, *args, *does;
	int (*run)(int argc, char **argv);
};

static const struct verb verbs[] = {
	{"report", "guest.elf[@BASE] [-i] FILE...", "profile recordings",
	 hlg_verb_report},
	{"annotate", "guest.elf [FUNCTION] FILE...", "instructions with samples",
	 hlg_verb_annotate},
	{"flame", "guest.elf[@BASE] [-i] FILE...", "flame graph of recordings",
	 hlg_verb_flame},
	{"record", "[-a | -p PID | -- COMMAND]", "record guests with perf",
	 hlg_verb_record},
	{"windows", "guest.elf[@BASE] [-i] FILE",
	 "counter windows, as rows, sums, a plot", hlg_verb_windows},
	{"merge", "-o FILE PROFILE...", "sum saved profiles", hlg_verb_merge},
	{"base", "guest.elf [-i] FILE...", "find where the guest's ELF lay",
	 hlg_verb_base},
	{"diff", "guest.elf BEFORE AFTER", "what changed between recordings",
	 hlg_verb_diff},
	{"exits", "guest.elf [-i] FILE...", "what leaving the guest costs",
	 hlg_verb_exits},
	{"sysprof", "FILE", "what LuaJIT's sysprof recorded", hlg_verb_sysprof},
	{"inject", "guest.elf[@BASE] FILE -o OUT", "a recording that perf can show",
	 hlg_verb_inject},
	{"calibrate", "", "how far to trust samples of this machine", hlg_verb_calibrate},
	{"kallsyms", "guest.elf[@BASE]", "symbols for perf kvm --guestkallsyms",
	 hlg_verb_kallsyms},
	{"lookup", "guest.elf[@BASE] [ADDR...]", "what is at these addresses",
	 hlg_verb_lookup},
	{"doctor", "[guest.elf]", "can this machine profile guests", hlg_verb_doctor},
};

enum {
	N_VERBS = sizeof(verbs) / sizeof(verbs[0])
};

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; i < N_VERBS; i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

static void print_verbs(FILE *f)
{
	fputs("usage: hlguest VERB [ARGUMENT...]\n\n", f);
	for (size_t i = 0; i < N_VERBS; i++)
		fprintf(f, "  hlguest %-9s %-30s  %s\n", verbs[i].name, verbs[i].args,
			verbs[i].does);
	fputs("\nhlguest help VERB, hlguest VERB --help: all options of a verb\n", f);
}

static int unknown(const char *name)
{
	fputs("hlguest: ", stderr);
	hlg_escape_print(stderr, name[0] ? name : "''");
	if (name[0] == '-') {
		fputs(": no such option here (a verb comes first: hlguest report ...)\n",
		      stderr);
		return 2;
	}
	fputs(": no such verb (one of", stderr);
	for (size_t i = 0; i < N_VERBS; i++)
		fprintf(stderr, "%s %s", i ? "," : "", verbs[i].name);
	fputs(", help)\n", stderr);
	return 2;
}

/* argp names the program by argv[0]: "hlguest report". */
static int run(const struct verb *verb, int argc, char **argv)
{
	char name[32];

	snprintf(name, sizeof(name), "hlguest %s", verb->name);
	argv[0] = name;
	program_invocation_name = name;
	return verb->run(argc, argv);
}

static int help(int argc, char **argv)
{
	char *words[] = {NULL, (char *)"--help", NULL};
	const struct verb *verb = argc > 2 ? find_verb(argv[2]) : NULL;

	if (argc > 2 && !verb && strcmp(argv[2], "help") != 0)
		return unknown(argv[2]);
	if (verb)
		return run(verb, 2, words);
	print_verbs(stdout);
	return hlg_output_end(0);
}

int main(int argc, char **argv)
{
	const struct verb *verb;

	setlocale(LC_ALL, "C"); /* the same bytes everywhere, argp's messages too */
	argp_err_exit_status = 2;
	atexit(hlg_output_exit);
	if (argc < 2) {
		print_verbs(stderr);
		return 2;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0) {
		puts("hlguest " HLG_VERSION);
		return hlg_output_end(0);
	}
	if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
	    strcmp(argv[1], "-h") == 0)
		return help(argc, argv);
	verb = find_verb(argv[1]);
	return verb ? run(verb, argc - 1, argv + 1) : unknown(argv[1]);
}
