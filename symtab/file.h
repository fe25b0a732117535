/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Input files, opened and read so that every failure can be told. Nothing is mapped: a
 * file that shrinks while it is read is an error, not a signal.
 */
#ifndef HLG_SYMTAB_FILE_H
#define HLG_SYMTAB_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#include "symtab/err.h"

/* Which file was read, to notice when it is another one later. */
struct hlg_file_id {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec mtime;
};

/*
 * Opens a regular file for reading and identifies it. Returns the descriptor, for the
 * caller to close, or an error; never blocks on a FIFO, refuses directories and devices.
 */
int hlg_file_open(const char *path, struct hlg_file_id *id, struct hlg_err *err);

/* Are two one file, under whatever names? */
static inline bool hlg_file_is_one(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/*
 * Is a file's word to be taken for what else is opened, run or replaced? That of the
 * user's own and of root's, which others may not write; to be believed by root, nor a
 * group.
 */
bool hlg_file_is_own(const struct stat *st);

/*
 * As hlg_file_open, of a file that is believed; of one that is not it fails. It is the
 * descriptor that is asked, as a name can be another file's a moment later. advice: what
 * to do instead.
 */
int hlg_file_open_own(const char *path, struct hlg_file_id *id, const char *advice,
		      struct hlg_err *err);

/*
 * Opens any file for reading, and waits for who writes to a FIFO. A FIFO stays open until
 * the program ends, and opened again it goes on where it was read to: if it were closed
 * in between, its writer would end, and nobody would come. Returns a descriptor for the
 * caller to close, or -1 with errno.
 */
int hlg_file_open_any(const char *path);

/* "PATH: cannot be opened: ERROR (what to do)", for an errno of open(2). */
int hlg_file_fail(const char *path, int error, struct hlg_err *err);

/* "PATH: cannot be read: ERROR (try a copy)", for an errno of hlg_file_read. */
int hlg_file_fail_read(const char *path, int error, struct hlg_err *err);

/* Reads exactly len bytes at off; 0, or -1 with errno (0 at a premature end of file). */
int hlg_file_read(int fd, void *buf, size_t len, uint64_t off);

#endif
