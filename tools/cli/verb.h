/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The verbs of the command, one function each.
 *
 * argv[0] is "hlguest VERB", for argp's messages; the rest are the verb's own words.
 * Results go to standard output; errors go to standard error, a line each, as `hlguest:
 * subject: problem (what to do)`. Returns the exit status: 0; 1 for a failure, also of
 * writing; 2 for words that make no sense, where argp does not exit with it itself.
 */
#ifndef HLG_TOOLS_CLI_VERB_H
#define HLG_TOOLS_CLI_VERB_H

int hlg_verb_report(int argc, char **argv);
int hlg_verb_annotate(int argc, char **argv);
int hlg_verb_flame(int argc, char **argv);
int hlg_verb_record(int argc, char **argv);
int hlg_verb_windows(int argc, char **argv);
int hlg_verb_merge(int argc, char **argv);
int hlg_verb_base(int argc, char **argv);
int hlg_verb_diff(int argc, char **argv);
int hlg_verb_exits(int argc, char **argv);
int hlg_verb_sysprof(int argc, char **argv);
int hlg_verb_inject(int argc, char **argv);
int hlg_verb_calibrate(int argc, char **argv);
int hlg_verb_kallsyms(int argc, char **argv);
int hlg_verb_lookup(int argc, char **argv);
int hlg_verb_doctor(int argc, char **argv);

#endif
