/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lines of source files, as debug information names them: from files that are here and
 * not newer than the ELF. Each file is read once.
 *
 * A file is what the ELF says, so not any is shown: regular files with an absolute path,
 * of 16 MiB at most, without a NUL; to root only what root owns and anybody may read.
 */
#ifndef HLG_TOOLS_ANNOTATE_SNIPPET_H
#define HLG_TOOLS_ANNOTATE_SNIPPET_H

#include <stddef.h>

#include "symtab/file.h"

struct hlg_snippet_file {
	char *path, *bytes; /* bytes is NULL: not to be shown */
	char **line;        /* n of them, in bytes */
	size_t n;
	const char *problem; /* why; NULL where it just is not here */
};

/* Empty when all zero. */
struct hlg_snippets {
	struct hlg_snippet_file *files;
	size_t n;
};

/*
 * Line number (from 1) of the file at path, of an ELF that is elf; not escaped. NULL
 * where there is none, the file is not to be shown, or there is no memory.
 */
const char *hlg_snippet_line(struct hlg_snippets *snippets, const char *path, int number,
			     const struct hlg_file_id *elf);

void hlg_snippet_finish(struct hlg_snippets *snippets);

#endif
