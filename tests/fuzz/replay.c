// SPDX-License-Identifier: GPL-2.0-only
/*
 * replay PATH...: runs a door on these files, and on all files of these folders, once
 * each. Says how many; a crash is a crash.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/fuzz/door.h"

static unsigned count;

static _Noreturn void fail(const char *path, const char *problem)
{
	fprintf(stderr, "replay: %s: %s\n", path, problem);
	exit(1);
}

static void run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct stat st;
	uint8_t *data;

	if (!f || fstat(fileno(f), &st) < 0)
		fail(path, strerror(errno));
	/* Exactly as large: sanitizers see what is read behind it. */
	data = malloc(st.st_size ? (size_t)st.st_size : 1);
	if (!data || fread(data, 1, (size_t)st.st_size, f) != (size_t)st.st_size)
		fail(path, "cannot be read");
	fclose(f);
	fprintf(stderr, "%s\n", path);
	LLVMFuzzerTestOneInput(data, (size_t)st.st_size);
	free(data);
	count++;
}

static void run(const char *path)
{
	struct dirent **names;
	struct stat st;
	int n;

	if (stat(path, &st) < 0)
		fail(path, strerror(errno));
	if (!S_ISDIR(st.st_mode)) {
		run_file(path);
		return;
	}
	n = scandir(path, &names, NULL, alphasort);
	if (n < 0)
		fail(path, strerror(errno));
	for (int i = 0; i < n; i++) {
		char *inner;

		if (names[i]->d_name[0] != '.') {
			if (asprintf(&inner, "%s/%s", path, names[i]->d_name) < 0)
				fail(path, "no memory");
			run(inner);
			free(inner);
		}
		free(names[i]);
	}
	free(names);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		run(argv[i]);
	printf("%u inputs\n", count);
	return count ? 0 : 1;
}
