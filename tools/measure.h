/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hlguest [OPTION...] [guest.elf] -- ./vmm guest.elf: record and report in one. It runs
 * the two verbs as a user would one after the other; the recording is kept.
 */
#ifndef HLG_TOOLS_MEASURE_H
#define HLG_TOOLS_MEASURE_H

#include <stdbool.h>

#include "tools/cli/verb.h"

struct hlg_measure {
	const struct hlg_verb *record, *report;
	/* Runs a verb with argv[0] set; returns its exit status. */
	int (*run)(const struct hlg_verb *verb, int argc, char **argv);
};

/* Is this such a command line, as its first word is no verb? Then what stands in front of
 * its first -- is options of report or guest ELFs, also such as are not there. */
bool hlg_measure_is(int argc, char *const *argv);

/*
 * What makes no sense is told before anything is recorded. Returns the command's exit
 * status if that is not 0, else report's.
 */
int hlg_measure_run(const struct hlg_measure *measure, int argc, char **argv);

#endif
