/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files that an injection leaves: OUT, and beside it, if perf needs any, a folder
 * OUT.elf with companions, which are called as their ELFs are. Each is whole or absent;
 * OUT is the last to appear, so that what it names is there.
 */
#ifndef HLG_TOOLS_INJECT_FILES_H
#define HLG_TOOLS_INJECT_FILES_H

#include "filter/output/out.h"
#include "symtab/image/space.h"
#include "tools/inject/companion.h"

struct hlg_files_image {
	char *elf;       /* absolute path of the ELF */
	char *companion; /* the same of its companion; NULL: the ELF is mapped */
	struct hlg_build_id elf_id, companion_id;
	struct hlg_out out; /* of the companion, until it is committed */
};

struct hlg_files {
	const struct hlg_space *space;  /* not owned */
	struct hlg_files_image *images; /* as in the space */
	size_t n_images;
	char *folder; /* absolute; NULL: there is none */
	bool made;    /* folder: it was not there before */
	struct hlg_out out;
};

/*
 * A recording that can be read only once is kept in a file, as it is read several times.
 * path: a recording, "-" is standard input. If it is a pipe, it is read to its end into a
 * file without a name in $TMPDIR (or /tmp), which is gone when *fd is closed; or only its
 * beginning, if that is not a recording's, which its reader tells. Then *again is a path
 * to it, to be freed; and so of standard input that is a file. Else *again is NULL; *fd
 * is -1 unless there is such a file.
 */
int hlg_files_spool(const char *path, char **again, int *fd, struct hlg_err *err);

/*
 * Can OUT be written? Told before anything is read: not if it is no regular file. That it
 * is not read, either, is checked by the caller. Changes nothing.
 */
int hlg_files_check(const char *out, struct hlg_err *err);

/*
 * Opens OUT, and writes the companions of images i for which wanted[i] is set. The caller
 * finishes *files in any case, which removes what was not committed.
 */
int hlg_files_open(struct hlg_files *files, const char *out,
		   const struct hlg_space *space, const struct hlg_units *units,
		   const bool *wanted, bool demangle, struct hlg_err *err);

/* Companions first; after a failure none of them is removed that appeared before. */
int hlg_files_commit(struct hlg_files *files, struct hlg_err *err);

void hlg_files_finish(struct hlg_files *files);

#endif
