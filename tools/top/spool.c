// SPDX-License-Identifier: GPL-2.0-only
#include "tools/top/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filter/output/out.h"
#include "filter/output/temp-file.h"

int hlg_top_spool_create(const char *path, struct hlg_err *err)
{
	/* perf's own recordings have this mode. */
	int fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOCTTY,
		      S_IRUSR | S_IWUSR);

	if (fd >= 0)
		return fd;
	if (errno == EEXIST)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: is there already (name another file)", path);
	return hlg_out_fail(path, "written", errno, err);
}

static int open_nameless(struct hlg_err *err)
{
	const char *folder = hlg_temp_file_folder();
	int fd = hlg_temp_file_nameless(folder);

	return fd >= 0 ? fd : hlg_out_fail(folder, "written to", errno, err);
}

int hlg_top_spool_begin(struct hlg_top_spool *spool, const char *path,
			struct hlg_err *err)
{
	int fd;

	*spool = (struct hlg_top_spool){.path = path};
	fd = path ? hlg_top_spool_create(path, err) : open_nameless(&spool->why);
	spool->fd = fd < 0 ? -1 : fd;
	return path && fd < 0 ? fd : 0;
}

/* A file that nothing came into, in whole, is in the way of the next try. */
static void close_file(struct hlg_top_spool *spool)
{
	if (spool->fd < 0)
		return;
	close(spool->fd);
	spool->fd = -1;
	if (spool->path && spool->size == 0)
		unlink(spool->path);
}

int hlg_top_spool_write(struct hlg_top_spool *spool, const void *bytes, size_t n,
			struct hlg_err *err)
{
	if (spool->fd < 0)
		return 0;
	if (!spool->path && spool->size + n > HLG_TOP_SPOOL_MAX) {
		hlg_err_set(&spool->why, HLG_EINPUT,
			    "the recording is larger than 1 GiB and was not kept (-o "
			    "FILE keeps it)");
		close_file(spool);
		return 0;
	}
	if (hlg_temp_file_write(spool->fd, bytes, n)) {
		spool->size += n;
		return 0;
	}
	hlg_out_fail(spool->path ? spool->path : "the recording", "written", errno,
		     &spool->why);
	close_file(spool);
	if (!spool->path)
		return 0;
	*err = spool->why;
	return HLG_ESYSTEM;
}

/* False, with errno: 0 if from is shorter. */
static bool copy(int to, int from, uint64_t n)
{
	char buffer[1 << 16];

	for (uint64_t at = 0; at < n;) {
		size_t most = n - at < sizeof(buffer) ? (size_t)(n - at) : sizeof(buffer);
		ssize_t got = pread(from, buffer, most, (off_t)at);

		errno = got == 0 ? 0 : errno;
		if (got <= 0 || !hlg_temp_file_write(to, buffer, (size_t)got))
			return false;
		at += (uint64_t)got;
	}
	return true;
}

int hlg_top_spool_save(const struct hlg_top_spool *spool, uint64_t n, const char *path,
		       struct hlg_err *err)
{
	int fd, rc = 0;

	if (spool->fd < 0) {
		*err = spool->why;
		return HLG_ESYSTEM;
	}
	fd = hlg_top_spool_create(path, err);
	if (fd < 0)
		return fd;
	if (!copy(fd, spool->fd, n) || fsync(fd) != 0)
		rc = hlg_out_fail(path, "written", errno, err);
	if (close(fd) != 0 && rc == 0)
		rc = hlg_out_fail(path, "written", errno, err);
	if (rc < 0)
		unlink(path);
	return rc;
}

void hlg_top_spool_finish(struct hlg_top_spool *spool)
{
	close_file(spool);
	*spool = (struct hlg_top_spool){.fd = -1};
}
