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
static bool is_data_file(const char *name, uint64_t *number)
{
	const char *digits = name + strlen("data.");
	size_t n;

	if (strncmp(name, "data.", strlen("data.")))
		return false;
	n = strspn(digits, "0123456789");
	*number = strtoull(digits, NULL, 10);
	return n && n < 10 && !digits[n] && (n == 1 || digits[0] != '0');
}

static int add_file(struct hlg_perfdata *pd, const char *name, uint64_t number,
		    struct hlg_err *err)
{
	struct hlg_directory_file *more = reallocarray(
		pd->data_files, pd->n_data_files + 1, sizeof(*pd->data_files));
	struct stat st;
	char *path;

	if (!more)
		return hlg_err_memory(err, pd->path);
	pd->data_files = more;
	path = join(pd->path, name);
	if (!path)
		return hlg_err_memory(err, pd->path);
	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) {
		free(path);
		return 0;
	}
	pd->data_files[pd->n_data_files++] =
		(struct hlg_directory_file){path, number, (uint64_t)st.st_size};
	return 0;
}

int hlg_directory_open(struct hlg_perfdata *pd, struct hlg_err *err)
{
	DIR *dir = opendir(pd->path);
	struct dirent *entry;
	uint64_t number;
	int rc = 0;

	if (!dir)
		return hlg_perfdata_source_errno(pd->path, err);
	while (rc == 0 && (entry = readdir(dir)))
		if (is_data_file(entry->d_name, &number))
			rc = add_file(pd, entry->d_name, number, err);
	closedir(dir);
	if (pd->n_data_files)
		qsort(pd->data_files, pd->n_data_files, sizeof(*pd->data_files),
		      by_number);
	return rc;
}

int hlg_directory_next(struct hlg_perfdata *pd, uint64_t *size, struct hlg_err *err)
{
	struct hlg_file_id id;
	int fd;

	if (pd->next_data_file == pd->n_data_files)
		return 0;
	fd = hlg_file_open(pd->data_files[pd->next_data_file].name, &id, err);
	if (fd < 0)
		return fd;
	pd->next_data_file++;
	if (pd->data_fd >= 0)
		close(pd->data_fd);
	pd->data_fd = fd;
	*size = (uint64_t)id.size;
	return 1;
}

void hlg_directory_finish(struct hlg_perfdata *pd)
{
	if (pd->data_fd >= 0)
		close(pd->data_fd);
	if (!pd->parent)
		for (size_t i = 0; i < pd->n_data_files; i++)
			free(pd->data_files[i].name);
	if (!pd->parent)
		free(pd->data_files);
}
