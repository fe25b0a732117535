/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SIGINT, SIGTERM and SIGHUP while files are written: they end the work at its next step,
 * so that what was begun is removed, and then the program, as they would have.
 */
#ifndef HLG_TOOLS_INJECT_STOP_H
#define HLG_TOOLS_INJECT_STOP_H

#include <stdint.h>

#include "symtab/err.h"

/* Only notes them from now on; a second one ends the program at once. */
void hlg_stop_begin(void);

/* Fails if one was noted. For a recording's progress(), which is asked now and then. */
int hlg_stop_progress(void *ctx, uint64_t bytes, uint64_t samples, struct hlg_err *err);

/* Once all is removed: ends the program by the signal that was noted, if one was. */
void hlg_stop_end(void);

#endif
