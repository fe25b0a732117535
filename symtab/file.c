// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int check_kind(const char *path, const struct stat *st, struct hlg_err *err)
{
	if (S_ISDIR(st->st_mode))
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: is a directory (name the file itself)", path);
	if (!S_ISREG(st->st_mode))
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: is not a regular file (give a file on disk)",
				   path);
	return 0;
}

int hlg_file_fail(const char *path, int error, struct hlg_err *err)
{
	if (path[0] == '\0')
		path = "''";
	if (error == ENOENT)
		return hlg_err_set(err, HLG_EINPUT, "%s: no such file (check the path)",
				   path);
	if (error == EACCES || error == EPERM)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: permission denied (try sudo, or chmod)", path);
	if (error == ENOMEM)
		return hlg_err_memory(err, path);
	if (error == EMFILE || error == ENFILE)
		return hlg_err_set(err, HLG_ESYSTEM,
				   "%s: cannot be opened: %s (close some, or raise "
				   "ulimit -n)",
				   path, strerrordesc_np(error));
	return hlg_err_set(err, HLG_EINPUT, "%s: cannot be opened: %s (check the path)",
			   path, strerrordesc_np(error));
}

int hlg_file_fail_read(const char *path, int error, struct hlg_err *err)
{
	if (error == ENOMEM)
		return hlg_err_memory(err, path);
	return hlg_err_set(err, HLG_ESYSTEM, "%s: cannot be read: %s (try a copy)", path,
			   error ? strerrordesc_np(error) : "it became shorter");
}

int hlg_file_open(const char *path, struct hlg_file_id *id, struct hlg_err *err)
{
	struct stat st;
	int fd, rc = 0;

	/* To open a device can do something: a recording may name it for a program. */
	if (stat(path, &st) == 0)
		rc = check_kind(path, &st, err);
	if (rc < 0)
		return rc;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return hlg_file_fail(path, errno, err);
	if (fstat(fd, &st) != 0) {
		rc = hlg_err_set(err, HLG_ESYSTEM,
				 "%s: cannot be examined: %s (try a copy)", path,
				 strerrordesc_np(errno));
		close(fd);
		return rc;
	}
	rc = check_kind(path, &st, err);
	if (rc < 0) {
		close(fd);
		return rc;
	}
	*id = (struct hlg_file_id){st.st_dev, st.st_ino, st.st_size, st.st_mtim};
	return fd;
}

bool hlg_file_is_own(const struct stat *st)
{
	const mode_t others = geteuid() ? S_IWOTH : S_IWGRP | S_IWOTH;

	return (st->st_uid == geteuid() || st->st_uid == 0) && !(st->st_mode & others);
}

int hlg_file_open_own(const char *path, struct hlg_file_id *id, const char *advice,
		      struct hlg_err *err)
{
	int fd = hlg_file_open(path, id, err), rc;
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) == 0 && hlg_file_is_own(&st))
		return fd;
	rc = hlg_err_set(err, HLG_EINPUT,
			 "%s: is another user's, or others may write it, and is not "
			 "believed (%s)",
			 path, advice);
	close(fd);
	return rc;
}

/* The FIFOs that are open, in whatever thread; never freed. */
struct fifo {
	dev_t dev;
	ino_t ino;
	int fd;
	struct fifo *next;
};

static pthread_mutex_t fifos_lock = PTHREAD_MUTEX_INITIALIZER;
static struct fifo *fifos;

static int find_fifo(const struct stat *st)
{
	struct fifo *fifo;

	pthread_mutex_lock(&fifos_lock);
	fifo = fifos;
	while (fifo && (fifo->dev != st->st_dev || fifo->ino != st->st_ino))
		fifo = fifo->next;
	pthread_mutex_unlock(&fifos_lock);
	return fifo ? fifo->fd : -1;
}

static int keep_fifo(const struct stat *st, int fd)
{
	struct fifo *fifo = malloc(sizeof(*fifo));

	if (!fifo) {
		close(fd);
		errno = ENOMEM;
		return -1;
	}
	pthread_mutex_lock(&fifos_lock);
	*fifo = (struct fifo){st->st_dev, st->st_ino, fd, fifos};
	fifos = fifo;
	pthread_mutex_unlock(&fifos_lock);
	return fd;
}

int hlg_file_open_any(const char *path)
{
	struct stat st;
	int fd = -1;

	if (stat(path, &st) != 0 || !S_ISFIFO(st.st_mode))
		return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	fd = find_fifo(&st);
	if (fd < 0) {
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
		fd = fd < 0 ? fd : keep_fifo(&st, fd);
	}
	return fd < 0 ? fd : fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

int hlg_file_read(int fd, void *buf, size_t len, uint64_t off)
{
	char *p = buf;

	while (len) {
		ssize_t got = pread(fd, p, len, (off_t)off);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			errno = got < 0 ? errno : 0;
			return -1;
		}
		p += got;
		off += (uint64_t)got;
		len -= (size_t)got;
	}
	return 0;
}
