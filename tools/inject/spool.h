/* SPDX-License-Identifier: GPL-2.0-only */
/* A recording that can be read only once, kept in a file, as it is read several times. */
#ifndef HLG_TOOLS_INJECT_SPOOL_H
#define HLG_TOOLS_INJECT_SPOOL_H

#include "symtab/err.h"

/*
 * path: a recording, "-" is standard input. If it is a pipe, it is read to its end into a
 * file without a name in $TMPDIR (or /tmp), which is gone when *fd is closed, and *again
 * is a path to that, to be freed. Else *again is NULL, and *fd -1.
 */
int hlg_spool(const char *path, char **again, int *fd, struct hlg_err *err);

#endif
