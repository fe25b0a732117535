/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What --help prints of a verb: how it is called, what it does, its options under their
 * headings with what counts without them, and examples. Not argp's: glibc 2.36 breaks
 * lines of long options in the wrong place, and has no examples.
 */
#ifndef HLG_TOOLS_CLI_HELP_H
#define HLG_TOOLS_CLI_HELP_H

#include <stdio.h>

#include "tools/cli/verb.h"

/* options: all that it has, the last is empty. formats: the words of --format, or NULL.
 */
void hlg_help_print(FILE *f, const struct hlg_verb *verb,
		    const struct hlg_verb_option *options, const char *formats);

#endif
