// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inputs/list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symtab/file.h"
#include "symtab/grow.h"

enum {
	AT_FIRST = 1 << 16, /* bytes */
	MOST = 1 << 28      /* bytes: 2.6 million names of 100; a device has no end */
};

static int fail_nul(const char *path, struct hlg_err *err)
{
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: has a NUL in it (is it a list? names that end with NUL "
			   "need -0)",
			   path);
}

/* All of f, and a NUL behind it; of what has a NUL in it, if names do not end with one,
 * no more than that. */
static int read_all(char **bytes, size_t *n, FILE *f, bool nul, const char *path,
		    struct hlg_err *err)
{
	size_t room = AT_FIRST, got;

	*n = 0;
	*bytes = malloc(room);
	if (!*bytes)
		return hlg_err_memory(err, path);
	while (!feof(f)) {
		if (*n + 1 >= room) {
			char *more = realloc(*bytes, 2 * room);

			if (!more)
				return hlg_err_memory(err, path);
			*bytes = more;
			room *= 2;
		}
		errno = EIO;
		got = fread(*bytes + *n, 1, room - *n - 1, f);
		if (ferror(f))
			return hlg_file_fail_read(path, errno, err);
		if (!nul && memchr(*bytes + *n, '\0', got))
			return fail_nul(path, err);
		*n += got;
		if (*n > MOST)
			return hlg_err_set(
				err, HLG_EINPUT,
				"%s: has more than %d MiB (is it a list? divide it)",
				path, MOST >> 20);
	}
	(*bytes)[*n] = '\0';
	return 0;
}

static int split(struct hlg_list *list, size_t size, char end, const char *path,
		 struct hlg_err *err)
{
	char *at = list->bytes, *behind = list->bytes + size;

	while (at < behind) {
		char *stop = memchr(at, end, (size_t)(behind - at));

		if (!stop)
			stop = behind;
		*stop = '\0';
		if (stop > at) {
			if (!HLG_GROW(list->names, list->n))
				return hlg_err_memory(err, path);
			list->names[list->n++] = at;
		}
		at = stop + 1;
	}
	if (list->n)
		return 0;
	return hlg_err_set(err, HLG_EINPUT, "%s: names nothing (a line for each file)",
			   path);
}

/* Reads f to its end, and closes it; NULL: it could not be opened. */
static int read_names(struct hlg_list *list, FILE *f, bool nul, const char *path,
		      struct hlg_err *err)
{
	size_t size = 0;
	int rc = f ? read_all(&list->bytes, &size, f, nul, path, err)
		   : hlg_file_fail(path, errno, err);

	if (f && f != stdin)
		fclose(f);
	if (rc < 0)
		return rc;
	hlg_sha256(list->digest, list->bytes, size);
	return split(list, size, nul ? '\0' : '\n', path, err);
}

int hlg_list_read(struct hlg_list *list, const char *path, bool nul, struct hlg_err *err)
{
	*list = (struct hlg_list){0};
	if (strcmp(path, "-") == 0)
		return read_names(list, stdin, nul, "standard input", err);
	return read_names(list, fopen(path, "re"), nul, path, err);
}

int hlg_list_read_own(struct hlg_list *list, const char *path, const char *advice,
		      struct hlg_err *err)
{
	struct hlg_file_id id;
	int fd = hlg_file_open_own(path, &id, advice, err), rc;
	FILE *f;

	*list = (struct hlg_list){0};
	if (fd < 0)
		return fd;
	f = fdopen(fd, "r");
	rc = read_names(list, f, true, path, err);
	if (!f)
		close(fd);
	return rc;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void hlg_list_sort(char **names, size_t n)
{
	if (n)
		qsort(names, n, sizeof(*names), compare);
}

void hlg_list_finish(struct hlg_list *list)
{
	free(list->bytes);
	free(list->names);
	*list = (struct hlg_list){0};
}
