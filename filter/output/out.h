/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Output that is whole or absent: a file is written without its name, which it gets when
 * it is synced (temp-file.h); what is no file, as a device or standard output, is written
 * itself. Which is which, and what becomes of symbolic links, is in target.h. A file that
 * replaces one of its own user, which has no other name, has its mode; any other what
 * open() would give it.
 */
#ifndef HLG_FILTER_OUTPUT_OUT_H
#define HLG_FILTER_OUTPUT_OUT_H

#include <stdio.h>

#include "filter/output/target.h"
#include "filter/output/temp-file.h"
#include "symtab/err.h"

struct hlg_out {
	FILE *f;
	char *path;                /* final name; NULL for a stream that is not ours */
	struct hlg_temp_file temp; /* base is NULL if path is written itself */
	int error; /* of hlg_out_write, or of who wrote to f and knows it, an errno */
};

/*
 * Can path be written later? Tells a missing folder or permission early, and what must
 * not be replaced: a recording or an ELF, unless that is what is written. Which files the
 * run reads is its own to check (hlg_target_check_input). Changes nothing.
 */
int hlg_out_check(const char *path, enum hlg_magic writes, struct hlg_err *err);

/* The same, with what is to be done where it cannot: "name another" of the other one. */
int hlg_out_check_or(const char *path, enum hlg_magic writes, const char *advice,
		     struct hlg_err *err);

/*
 * Opens path; takes stream when path is NULL, and standard output when it is "-". Then
 * commit or abort, once.
 */
int hlg_out_open(struct hlg_out *out, const char *path, FILE *stream,
		 struct hlg_err *err);

/* The same of a file that is believed later only if nobody else may write it
 * (hlg_file_is_own): so it is made, whatever the umask. */
int hlg_out_open_own(struct hlg_out *out, const char *path, struct hlg_err *err);

/* Writes to f. An error stays there, and commit says what it was; of other writes it can
 * often say only that there was one. */
void hlg_out_write(struct hlg_out *out, const void *data, size_t size);

/* Flushes, checks every write, syncs, names. On failure nothing is left behind. */
int hlg_out_commit(struct hlg_out *out, struct hlg_err *err);

void hlg_out_abort(struct hlg_out *out);

/* "WHAT: cannot be VERB: ERROR (what to do)", for an errno; "out of memory" is itself. */
int hlg_out_fail(const char *what, const char *verb, int error, struct hlg_err *err);

#endif
