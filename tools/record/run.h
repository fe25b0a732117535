/* SPDX-License-Identifier: GPL-2.0-only */
/* perf beside us, until it ends or we do. */
#ifndef HLG_TOOLS_RECORD_RUN_H
#define HLG_TOOLS_RECORD_RUN_H

/*
 * Runs perf (perf-find.h) with these words, the last of which is NULL, and waits for it.
 * SIGINT and SIGTERM that come by kill(1) are handed on meanwhile. If we end first,
 * however we do (SIGKILL), the kernel sends it SIGTERM: so it finishes its recording and
 * ends the command that it records. Only a perf with capabilities of its own (setcap(8))
 * goes on, as prctl(2) says of PR_SET_PDEATHSIG.
 *
 * Returns its exit status, or 128 and the number of the signal it died by; 127 if it
 * cannot be run, 1 if it cannot be started, told on standard error.
 */
int hlg_record_run(const char **words);

#endif
