/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Output that is whole or absent: a regular file is written beside its final name,
 * synced and renamed over it; a device, a FIFO or standard output is written directly.
 */
#ifndef HLG_FILTER_OUT_H
#define HLG_FILTER_OUT_H

#include <stdio.h>

#include "../symtab/err.h"

struct hlg_out {
	FILE *f;
	char *path; /* final name; NULL for a stream that is not ours */
	char *temp; /* name it has until it is committed; NULL if written directly */
};

/* Can path be written later? Tells a missing folder or permission early; changes nothing.
 */
int hlg_out_check(const char *path, struct hlg_err *err);

/* Opens path, or takes stream when path is NULL. Then commit or abort, once. */
int hlg_out_open(struct hlg_out *out, const char *path, FILE *stream,
		 struct hlg_err *err);

/* Flushes, checks every write, syncs, renames. On failure nothing is left behind. */
int hlg_out_commit(struct hlg_out *out, struct hlg_err *err);

void hlg_out_abort(struct hlg_out *out);

/* "WHAT: cannot be VERB: ERROR (what to do)", for an errno. */
int hlg_out_fail(const char *what, const char *verb, int error, struct hlg_err *err);

#endif
