/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which perf, or other program, is meant. As a shell would find it in PATH, but for
 * folders that are not absolute, the empty one among them: who works as root in a folder
 * where others may write would else run what they put there.
 */
#ifndef HLG_TOOLS_CLI_PERF_FIND_H
#define HLG_TOOLS_CLI_PERF_FIND_H

#include <limits.h>
#include <stdbool.h>

/* An absolute path; false, and an empty one, if there is none. */
bool hlg_perf_find(char path[static PATH_MAX]);

/* The same of another program; a name that is an absolute path is itself. */
bool hlg_perf_find_program(char path[static PATH_MAX], const char *name);

#endif
