/* SPDX-License-Identifier: GPL-2.0-only */
/* Signals, as whoever has started the program wants them. */
#ifndef HLG_TOOLS_CLI_SIGNALS_H
#define HLG_TOOLS_CLI_SIGNALS_H

#include <stdbool.h>

/* Is the signal ignored, and to stay so? nohup's SIGHUP is, and a shell's SIGINT for what
 * runs in the background. */
bool hlg_signals_ignored(int sig);

#endif
