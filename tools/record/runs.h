/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record --runs: several recordings of one command, each of a run of its own, as hlguest
 * diff wants them.
 */
#ifndef HLG_TOOLS_RECORD_RUNS_H
#define HLG_TOOLS_RECORD_RUNS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	HLG_RECORD_RUNS_MOST = 100
};

/*
 * The name of a run's recording, from 1 on, where -o says out: its number stands in front
 * of .data if that is how out ends (before.1.data), else behind it (perf.data.guest.1).
 * False if that is too long to be a name.
 */
bool hlg_record_runs_name(char name[static PATH_MAX], const char *out, uint64_t run);

/* Appends the names of so many runs to a line on standard error, as a shell takes them.
 */
void hlg_record_runs_print(const char *out, uint64_t runs);

/* A file's name as a shell takes it, to the terminal. */
void hlg_record_runs_word(const char *word);

#endif
