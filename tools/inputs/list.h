/* SPDX-License-Identifier: GPL-2.0-only */
/* Files that a file names, a line each, or behind each a NUL; empty names are left out.
 */
#ifndef HLG_TOOLS_INPUTS_LIST_H
#define HLG_TOOLS_INPUTS_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "symtab/err.h"
#include "symtab/sha256.h"
#include "tools/cli/verb.h"

/* -0, for every verb that reads a list. */
#define HLG_LIST_NULL(type, member)                                                      \
	{                                                                                \
		.name = "null", .letter = '0',                                           \
		.help = "names of the list end with NUL, as find -print0 has them",      \
		.kind = HLG_VERB_FLAG, .field = offsetof(type, member)                   \
	}

struct hlg_list {
	char *bytes; /* of the file; each name ends with a NUL */
	char **names;
	size_t n;
	unsigned char digest[HLG_SHA256_SIZE]; /* of the file's bytes */
};

/* Reads the list at path, or standard input for "-". Fails, too, if it names nothing, or
 * has more than 256 MiB. The caller finishes it in any case. */
int hlg_list_read(struct hlg_list *list, const char *path, bool nul, struct hlg_err *err);

/* The same, with names that end with NUL, of a file that is believed (symtab/file.h:
 * hlg_file_open_own). */
int hlg_list_read_own(struct hlg_list *list, const char *path, const char *advice,
		      struct hlg_err *err);

/* Sorts names by their bytes. */
void hlg_list_sort(char **names, size_t n);

void hlg_list_finish(struct hlg_list *list);

#endif
