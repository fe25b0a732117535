// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inputs/file-kind.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/pprof/pprof.h"

/* perf record --threads makes folders, with a file data in them. */
static bool holds_recording(const char *folder)
{
	char data[4096];
	struct stat st;

	return snprintf(data, sizeof(data), "%s/data", folder) < (int)sizeof(data) &&
	       stat(data, &st) == 0 && S_ISREG(st.st_mode);
}

/* The first bytes of a regular file, as far as there are any; the rest is zero. */
static void read_magic(const char *path, const struct stat *st, char magic[static 8])
{
	int fd;

	memset(magic, 0, 8);
	if (!S_ISREG(st->st_mode))
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return;
	if (pread(fd, magic, 8, 0) < 0)
		memset(magic, 0, 8);
	close(fd);
}

static bool is_perfs(const char magic[static 8])
{
	return memcmp(magic, "PERFILE", 7) == 0 || memcmp(magic, "2ELIFREP", 8) == 0;
}

static bool is_elf(const char magic[static 8])
{
	return memcmp(magic, "\177ELF", 4) == 0;
}

bool hlg_argument_is_precious(const char *path)
{
	char magic[8];
	struct stat st;

	if (stat(path, &st) != 0)
		return false;
	read_magic(path, &st, magic);
	return is_perfs(magic) || is_elf(magic);
}

enum hlg_argument hlg_argument_kind(const char *path)
{
	struct stat st = {0};
	char magic[8];

	if (strcmp(path, "-") == 0)
		return HLG_ARGUMENT_RECORDING;
	/* Of what is not there, or not to be asked, st stays empty. */
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return holds_recording(path) ? HLG_ARGUMENT_RECORDING
					     : HLG_ARGUMENT_FOLDER;
	if (S_ISFIFO(st.st_mode))
		return HLG_ARGUMENT_RECORDING;
	read_magic(path, &st, magic);
	if (is_perfs(magic) || hlg_pprof_is(path))
		return HLG_ARGUMENT_RECORDING;
	if (is_elf(magic) || strncmp(path, "map:", 4) == 0 || strchr(path, '@'))
		return HLG_ARGUMENT_IMAGE;
	return HLG_ARGUMENT_OTHER;
}
