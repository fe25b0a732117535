// SPDX-License-Identifier: GPL-2.0-only
/*
 * A directory (perf record --threads): `data` has the header and what perf itself wrote,
 * `data.N` nothing but the records of one thread's buffers.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symtab/file.h"
#include "tools/perfdata/reader.h"

static char *join(const char *dir, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", dir, name) < 0 ? NULL : path;
}

static int by_number(const void *pa, const void *pb)
{
	const struct hlg_directory_file *a = pa, *b = pb;

	return a->number < b->number ? -1 : a->number > b->number;
}

/* data.N, without leading zeros or anything behind. */
static bool is_part(const char *name, uint64_t *number)
{
	const char *digits = name + strlen("data.");
	size_t n;

	if (strncmp(name, "data.", strlen("data.")))
		return false;
	n = strspn(digits, "0123456789");
	*number = strtoull(digits, NULL, 10);
	return n && n < 10 && !digits[n] && (n == 1 || digits[0] != '0');
}

static int add_part(struct hlg_perfdata *pd, const char *name, uint64_t number,
		    struct hlg_err *err)
{
	struct hlg_directory_file *more =
		reallocarray(pd->parts, pd->n_parts + 1, sizeof(*pd->parts));
	struct stat st;
	char *path;

	if (!more)
		return hlg_err_memory(err, pd->path);
	pd->parts = more;
	path = join(pd->path, name);
	if (!path)
		return hlg_err_memory(err, pd->path);
	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) {
		free(path);
		return 0;
	}
	pd->parts[pd->n_parts++] =
		(struct hlg_directory_file){path, number, (uint64_t)st.st_size};
	pd->total += (uint64_t)st.st_size;
	return 0;
}

int hlg_directory_open(struct hlg_perfdata *pd, struct hlg_err *err)
{
	DIR *dir = opendir(pd->path);
	struct dirent *entry;
	uint64_t number;
	int rc = 0;

	if (!dir)
		return hlg_source_errno(pd->path, err);
	while (rc == 0 && (entry = readdir(dir)))
		if (is_part(entry->d_name, &number))
			rc = add_part(pd, entry->d_name, number, err);
	closedir(dir);
	if (pd->n_parts)
		qsort(pd->parts, pd->n_parts, sizeof(*pd->parts), by_number);
	return rc;
}

int hlg_directory_next(struct hlg_perfdata *pd, uint64_t *size, struct hlg_err *err)
{
	struct hlg_file_id id;
	int fd;

	if (pd->next_part == pd->n_parts)
		return 0;
	fd = hlg_file_open(pd->parts[pd->next_part].name, &id, err);
	if (fd < 0)
		return fd;
	pd->next_part++;
	if (pd->part_fd >= 0)
		close(pd->part_fd);
	pd->part_fd = fd;
	*size = (uint64_t)id.size;
	return 1;
}

void hlg_directory_finish(struct hlg_perfdata *pd)
{
	if (pd->part_fd >= 0)
		close(pd->part_fd);
	if (!pd->parent)
		for (size_t i = 0; i < pd->n_parts; i++)
			free(pd->parts[i].name);
	if (!pd->parent)
		free(pd->parts);
}
