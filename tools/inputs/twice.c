// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inputs/twice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "symtab/escape.h"

/* The first of n files, looked at in st, that is this one; NULL: none is. */
static const char *find_same(const struct stat *of, const struct stat *st, size_t n,
			     char *const *files)
{
	for (size_t i = 0; S_ISREG(of->st_mode) && i < n; i++)
		if (st[i].st_ino == of->st_ino && st[i].st_dev == of->st_dev &&
		    S_ISREG(st[i].st_mode))
			return files[i];
	return NULL;
}

void hlg_twice_tell(const char *file, const char *same, const char *what,
		    const char *counts)
{
	fputs("hlguest: ", stderr);
	hlg_escape_print(stderr, file);
	if (strcmp(file, same) == 0) {
		fprintf(stderr, ": is named twice (it counts %s)\n", counts);
		return;
	}
	fprintf(stderr, ": is the same %s as ", what);
	hlg_escape_print(stderr, same);
	fprintf(stderr, " (it counts %s)\n", counts);
}

int hlg_twice_part(char **files, size_t n, size_t *n_once, struct hlg_err *err)
{
	struct stat *st = calloc(n + 1, sizeof(*st));
	size_t once = 0;

	if (!st)
		return hlg_err_memory(err, "arguments");
	for (size_t i = 0; i < n; i++) {
		char *file = files[i];
		const char *same;

		if (stat(file, &st[once]) != 0)
			st[once].st_mode = 0;
		same = find_same(&st[once], st, once, files);
		if (same) {
			hlg_twice_tell(file, same, "file", "once");
			continue;
		}
		files[i] = files[once];
		files[once++] = file;
	}
	*n_once = once;
	free(st);
	return 0;
}
