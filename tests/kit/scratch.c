// SPDX-License-Identifier: GPL-2.0-only
#include "tests/kit/scratch.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_PATHS 4

static char dir[256];

void scratch_begin(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(dir, sizeof(dir), "%s/hlguest-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(dir)) {
		perror(dir);
		exit(EXIT_FAILURE);
	}
}

void scratch_end(void)
{
	DIR *d = opendir(dir);
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			if (unlink(scratch_path(entry->d_name)))
				rmdir(scratch_path(entry->d_name));
	if (d)
		closedir(d);
	rmdir(dir);
}

const char *scratch_path(const char *name)
{
	static char paths[N_PATHS][sizeof(dir) + 256];
	static unsigned next;
	char *path = paths[next++ % N_PATHS];

	snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

const char *scratch_write(const char *name, const void *bytes, size_t size)
{
	const char *path = scratch_path(name);
	FILE *f;

	unlink(path); /* ext4 writes what replaces a file to the disk at once */
	f = fopen(path, "wb");
	ck_assert_ptr_nonnull(f);
	if (size)
		ck_assert_uint_eq(fwrite(bytes, 1, size, f), size);
	ck_assert_int_eq(fclose(f), 0);
	return path;
}

const char *scratch_image(const char *name, const struct mkelf_image *img)
{
	return scratch_write(name, img->bytes, img->size);
}

const char *scratch_elf(const char *name, const struct mkelf *elf)
{
	struct mkelf_image img;
	const char *path;

	ck_assert_int_eq(mkelf_build(elf, &img), 0);
	path = scratch_image(name, &img);
	mkelf_finish(&img);
	return path;
}
