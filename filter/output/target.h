/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a path that is to be written stands for.
 *
 * A file, or nothing yet, is replaced by a new one when that is whole; so is a symbolic
 * link to a file, the link itself: what it leads to stays as it was. A device, a FIFO and
 * what is open already (/dev/stdout, /dev/fd/3, /proc/self/fd/3) are written themselves,
 * symbolic links to them followed, if we or root have made the link. In a folder that all
 * may write and only owners tidy (/tmp), that holds for those only that we or the
 * folder's owner have put there, the rule of fs.protected_fifos in proc_sys_fs(5):
 * others' may be traps, and are not written but replaced, which the kernel refuses there.
 */
#ifndef HLG_FILTER_OUTPUT_TARGET_H
#define HLG_FILTER_OUTPUT_TARGET_H

#include <limits.h>
#include <stdbool.h>

#include "symtab/err.h"

enum hlg_target {
	HLG_TARGET_FILE,   /* replace it */
	HLG_TARGET_FOLDER, /* neither */
	HLG_TARGET_DEVICE, /* write it: no regular file */
	HLG_TARGET_OPEN    /* write it: open already, be it a regular file */
};

enum hlg_target hlg_target_look(const char *path);

/* What a regular file is, by its first bytes. */
enum hlg_magic {
	HLG_MAGIC_NONE, /* another; also what is no file, or may not be read */
	HLG_MAGIC_RECORDING,
	HLG_MAGIC_ELF,
	HLG_MAGIC_GZIP /* RFC 1952: as saved profiles are */
};

enum hlg_magic hlg_target_magic(const char *path);
/* The same of a file's first bytes. */
enum hlg_magic hlg_target_magic_of(const char magic[static 8]);

/* The folder of path, "folder/." so that nothing but a folder will do. False and errno if
 * that is too long to be one. */
bool hlg_target_folder(char folder[static PATH_MAX], const char *path);

/* Is path standard output, or what stands for it: NULL, "-"? */
bool hlg_target_is_stream(const char *path);

/* Would one file replace the other? Not of streams, devices and what is open already. */
bool hlg_target_is_same(const char *a, const char *b);

/*
 * Fails if in, which is read, is the file at out, under whatever name, or a folder that
 * out is in; "-" is standard input of in, standard output of out (`>> FILE`). What is no
 * regular file may be both. That, and what hlg_target_check_magic() finds, is HLG_EWORDS.
 */
int hlg_target_check_input(const char *out, const char *in, struct hlg_err *err);

/* Fails if there is a recording or an ELF at out, unless that is what is written. */
int hlg_target_check_magic(const char *out, enum hlg_magic writes, struct hlg_err *err);

/* Opens a DEVICE or an OPEN for writing, the latter behind what is in it. -1 and errno.
 */
int hlg_target_open(const char *path, enum hlg_target target);

#endif
