/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recording as it is made: kept in a file that was named, which must be a new one; or
 * so that it can be saved later in one without a name in TMPDIR (else /tmp), that only
 * its user can read, of HLG_TOP_SPOOL_MAX bytes at most. What has no room there is not
 * kept.
 */
#ifndef HLG_TOOLS_TOP_SPOOL_H
#define HLG_TOOLS_TOP_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symtab/err.h"

/* About a day of one guest at 99 samples a second, three hours at 997. */
#define HLG_TOP_SPOOL_MAX (UINT64_C(1) << 30)

struct hlg_top_spool {
	int fd;           /* -1: nothing is kept, and why says why not */
	const char *path; /* NULL: it has no name */
	uint64_t size;
	struct hlg_err why;
};

/* path: NULL, or a new file, which it is an error not to get. */
int hlg_top_spool_begin(struct hlg_top_spool *spool, const char *path,
			struct hlg_err *err);

/* Fails for a named file only, and leaves err alone otherwise; then nothing more is kept.
 */
int hlg_top_spool_write(struct hlg_top_spool *spool, const void *bytes, size_t n,
			struct hlg_err *err);

/* Copies its first n bytes into a new file. On failure there is none. */
int hlg_top_spool_save(const struct hlg_top_spool *spool, uint64_t n, const char *path,
		       struct hlg_err *err);

/* A file of this name that nobody has yet, for writing; or an error. */
int hlg_top_spool_create(const char *path, struct hlg_err *err);

/* A named file stays, unless it is empty, or its first write failed. */
void hlg_top_spool_finish(struct hlg_top_spool *spool);

#endif
