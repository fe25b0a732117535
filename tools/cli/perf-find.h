/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which perf is meant. As a shell would find it in PATH, but for folders that are not
 * absolute, the empty one among them: who works as root in a folder where others may
 * write would else run what they put there.
 */
#ifndef HLG_TOOLS_CLI_PERF_FIND_H
#define HLG_TOOLS_CLI_PERF_FIND_H

#include <limits.h>
#include <stdbool.h>

/* An absolute path; false, and an empty one, if there is none. */
bool hlg_perf_find(char path[static PATH_MAX]);

#endif
