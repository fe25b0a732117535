/* SPDX-License-Identifier: GPL-2.0-only */
/* gzip (RFC 1952), whole files in memory, nothing in the header that changes. */
#ifndef HLG_TOOLS_PPROF_GZIP_H
#define HLG_TOOLS_PPROF_GZIP_H

#include <stddef.h>
#include <stdio.h>

#include "symtab/err.h"
#include "tools/cli/progress.h"

/* What is written is not larger inflated, and what is larger is not read. */
#define HLG_GZIP_MAX ((size_t)128 << 20)

/*
 * Inflates the file at path ("-" is standard input) into *data (to be freed) of *size
 * bytes. A file that is cut off, damaged, has something behind its end or inflates to
 * more than HLG_GZIP_MAX bytes or to suspiciously many for its size is refused. progress
 * may be NULL.
 */
int hlg_gzip_read(const char *path, struct hlg_progress *progress, unsigned char **data,
		  size_t *size, struct hlg_err *err);

/* Deflates data onto f; write errors stay on f. */
int hlg_gzip_write(FILE *f, const unsigned char *data, size_t size, struct hlg_err *err);

#endif
