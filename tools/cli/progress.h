/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A line on the terminal that says how far a long read is: share, bytes, samples a
 * second, time left. Only on a terminal (standard error), only after a second, wiped at
 * the end; never in pipes. Any number of threads may add; nobody waits.
 */
#ifndef HLG_TOOLS_CLI_PROGRESS_H
#define HLG_TOOLS_CLI_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hlg_progress {
	bool on;
	uint64_t total; /* bytes to read; 0: not known */
	uint64_t start; /* ns, monotonic */
	_Atomic uint64_t bytes, samples;
	_Atomic uint64_t next; /* ns: not to be shown again before */
	atomic_bool shown;
};

/* For reading n files; quiet turns it off whatever standard error is. */
void hlg_progress_init(struct hlg_progress *progress, char *const *paths, size_t n,
		       bool quiet);

/* What was read since the last call of this thread. progress may be NULL. */
void hlg_progress_add(struct hlg_progress *progress, uint64_t bytes, uint64_t samples);

/* Wipes the line. */
void hlg_progress_end(struct hlg_progress *progress);

#endif
