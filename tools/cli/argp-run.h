/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From the words of a command line to the arguments of a verb, by its table of options.
 * There may be no memory even for that, and a word may be a file's name, which a shell
 * has put in place of `*`: what is told of a word is made fit for a terminal.
 */
#ifndef HLG_TOOLS_CLI_ARGP_RUN_H
#define HLG_TOOLS_CLI_ARGP_RUN_H

#include "tools/cli/verb.h"

struct hlg_argp_run {
	const struct hlg_verb *verb;
	const struct hlg_verb_option *options; /* all that it has; the last is empty */
	/* NULL, or called behind the last word: HLG_EINPUT if they do not go together. */
	int (*check)(void *arguments, struct hlg_err *err);
	/* NULL, or called behind each option that was taken, to keep it as it was given;
	 * value: NULL, if there is none. Fails without memory. */
	int (*taken)(void *arguments, const struct hlg_verb_option *option,
		     const char *value, struct hlg_err *err);
};

/*
 * Puts what argv says into *arguments, which have the fields of the options. False when
 * the command ends with that, and all is told: *status is 0 after --help and --usage, 2
 * for words that make no sense, 1 without memory.
 */
bool hlg_argp_run_words(const struct hlg_argp_run *run, int argc, char **argv,
			void *arguments, int *status);

/* The same for a verb that has no other options than its own. */
bool hlg_argp_run_verb(const struct hlg_verb *verb, int argc, char **argv,
		       void *arguments, int *status);

/* Which word is the first --, behind which a command stands; argc: none is. */
int hlg_argp_run_dashes(int argc, char *const *argv);

/* Stores one value of an option. Fails with HLG_EINPUT if it is none. */
int hlg_argp_run_set(void *arguments, const struct hlg_verb_option *option, char *value,
		     struct hlg_err *err);

/*
 * Prints the options of a verb, one a line, for programs: "option", verb, --name, -letter
 * or nothing, value or nothing, "flag", "any", "many" (may be given again), "one" or
 * "some" (of the value's words), "optional" or nothing, FILES (verb.h) or nothing, help;
 * a tab between two of them.
 */
void hlg_argp_run_list(const struct hlg_argp_run *run);

#endif
