/* SPDX-License-Identifier: GPL-2.0-only */
/* Signals, as whoever has started the program wants them. */
#ifndef HLG_TOOLS_CLI_SIGNALS_H
#define HLG_TOOLS_CLI_SIGNALS_H

#include <stdbool.h>

#include "symtab/err.h"

/* Is the signal ignored, and to stay so? nohup's SIGHUP is, and a shell's SIGINT for what
 * runs in the background. */
bool hlg_signals_ignored(int sig);

/*
 * SIGINT, SIGTERM and SIGHUP while files are written are only noted from now on: they end
 * the work at its next step, so that what was begun is removed, and then the program, as
 * they would have. A second one ends it at once.
 */
void hlg_signals_note(void);

/* Fails if one was noted. */
int hlg_signals_check(struct hlg_err *err);

/* Once all is removed: ends the program by the signal that was noted, if one was. */
void hlg_signals_end(void);

#endif
