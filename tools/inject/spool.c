// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inject/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filter/output/out.h"
#include "symtab/file.h"

#define SOME 65536

static int write_all(int fd, const char *bytes, size_t n)
{
	while (n) {
		ssize_t put = write(fd, bytes, n);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -1;
		bytes += put;
		n -= (size_t)put;
	}
	return 0;
}

static int copy(int from, const char *path, int to, const char *folder,
		struct hlg_err *err)
{
	char some[SOME];
	ssize_t n;

	for (;;) {
		n = read(from, some, sizeof(some));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return hlg_err_set(err, HLG_ESYSTEM,
					   "%s: cannot be read: %s (try a file)", path,
					   strerrordesc_np(errno));
		if (n == 0)
			return 0;
		if (write_all(to, some, (size_t)n))
			return hlg_out_fail(folder, "written", errno, err);
	}
}

static int open_unnamed(const char *folder, struct hlg_err *err)
{
	int fd = open(folder, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	char *name;

	if (fd >= 0)
		return fd;
	/* Not every file system can. */
	if (asprintf(&name, "%s/hlguest.XXXXXX", folder) < 0)
		return hlg_err_memory(err, folder);
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	free(name);
	return fd >= 0 ? fd : hlg_out_fail(folder, "written", errno, err);
}

int hlg_spool(const char *path, char **again, int *fd, struct hlg_err *err)
{
	bool standard = strcmp(path, "-") == 0;
	const char *folder = getenv("TMPDIR");
	struct stat st;
	int from, rc;

	*again = NULL;
	*fd = -1;
	/* What is wrong with it, its reader tells better. */
	if ((standard ? fstat(STDIN_FILENO, &st) : stat(path, &st)) != 0 ||
	    (!S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode)))
		return 0;
	from = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (from < 0)
		return hlg_file_fail(path, errno, err);
	if (!folder || !folder[0])
		folder = "/tmp";
	rc = open_unnamed(folder, err);
	if (rc >= 0) {
		*fd = rc;
		rc = copy(from, standard ? "standard input" : path, *fd, folder, err);
	}
	if (!standard)
		close(from);
	if (rc == 0 && asprintf(again, "/proc/self/fd/%d", *fd) < 0) {
		*again = NULL;
		rc = hlg_err_memory(err, path);
	}
	return rc;
}
