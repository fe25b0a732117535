/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files that become shorter while they are mapped. We read what we are given, but libdw
 * maps an ELF and what debug files belong to it; where the file ends before the mapping
 * does, the kernel sends SIGBUS (mmap(2)).
 *
 * Only for the command: a handler of signals is nothing to put into perf.
 */
#ifndef HLG_TOOLS_CLI_SHORTER_H
#define HLG_TOOLS_CLI_SHORTER_H

/* From now on SIGBUS ends the program with 1, and one line that names the file. */
void hlg_shorter_watch(void);

#endif
