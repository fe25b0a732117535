// SPDX-License-Identifier: GPL-2.0-only
#include "filter/output/temp-file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "filter/output/target.h"
#include "symtab/file.h"

#define MARK ".hlguest-"

enum {
	MAX_BASE = 200, /* so much of NAME: the whole has to fit into NAME_MAX, 255 */
	DIGITS = 16,
	TRIES = 100
};

/* What its names begin with; to be freed. */
static char *prefix_of(const struct hlg_temp_file *temp)
{
	char *prefix;

	if (asprintf(&prefix, ".%.*s" MARK, (int)MAX_BASE, temp->base) < 0)
		return NULL;
	return prefix;
}

static bool has_prefix(const char *name, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(name, prefix, n) == 0 && strlen(name + n) == DIGITS &&
	       strspn(name + n, "0123456789abcdef") == DIGITS;
}

/* Removes a file of this name that is ours and that nobody writes any more. */
static void remove_stale(int folder, const char *name)
{
	struct stat st, now;
	int fd;

	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return;
	fd = openat(folder, name,
		    O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &now) == 0 &&
	    hlg_file_is_one(&now, &st))
		unlinkat(folder, name, 0);
	close(fd);
}

static void clean(const struct hlg_temp_file *temp)
{
	char *prefix = prefix_of(temp);
	int fd = prefix ? openat(temp->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
			: -1;
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (has_prefix(entry->d_name, prefix))
			remove_stale(temp->folder, entry->d_name);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	free(prefix);
}

/* A new name for it; NULL: no memory. */
static char *new_name(const struct hlg_temp_file *temp)
{
	struct timespec now;
	uint64_t number;
	char *name;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number)) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		number = ((uint64_t)now.tv_nsec << 32) ^ (uint64_t)getpid();
	}
	if (asprintf(&name, ".%.*s" MARK "%016" PRIx64, (int)MAX_BASE, temp->base,
		     number) < 0)
		return NULL;
	return name;
}

/*
 * Locks it. False if somebody who cleans up was faster, and it is gone or will be; where
 * nothing can be locked, nobody cleans up either.
 */
static bool lock(int fd)
{
	struct stat st;

	if (flock(fd, LOCK_EX | LOCK_NB) != 0)
		return errno != EWOULDBLOCK;
	return fstat(fd, &st) != 0 || st.st_nlink > 0;
}

static int open_unnamed(const struct hlg_temp_file *temp, mode_t mode)
{
	int fd;

	/* By this path it gets its name later (linkat(2)). */
	if (access("/proc/self/fd", X_OK) != 0)
		return -1;
	fd = openat(temp->folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
	if (fd >= 0)
		flock(fd, LOCK_EX | LOCK_NB);
	return fd;
}

static int open_named(struct hlg_temp_file *temp, mode_t mode)
{
	for (int i = 0; i < TRIES; i++) {
		int fd;

		temp->name = new_name(temp);
		if (!temp->name)
			return -1;
		fd = openat(temp->folder, temp->name,
			    O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, mode);
		if (fd >= 0 && lock(fd))
			return fd;
		if (fd >= 0) {
			unlinkat(temp->folder, temp->name, 0);
			close(fd);
			errno = EEXIST;
		}
		free(temp->name);
		temp->name = NULL;
		if (errno != EEXIST)
			return -1;
	}
	return -1;
}

static int open_folder(struct hlg_temp_file *temp, const char *path)
{
	char folder[PATH_MAX];

	if (!hlg_target_folder(folder, path))
		return -1;
	temp->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	temp->readable = temp->folder >= 0;
	if (temp->folder < 0 && errno == EACCES)
		temp->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return temp->folder;
}

int hlg_temp_file_open(struct hlg_temp_file *temp, const char *path, const mode_t *mode)
{
	const char *slash = strrchr(path, '/');
	int fd = -1, error;

	*temp = (struct hlg_temp_file){.folder = -1};
	temp->base = strdup(slash ? slash + 1 : path);
	if (temp->base && open_folder(temp, path) >= 0) {
		clean(temp);
		fd = open_unnamed(temp, mode ? *mode : 0666);
		if (fd < 0)
			fd = open_named(temp, mode ? *mode : 0666);
	}
	if (fd >= 0 && (!mode || fchmod(fd, *mode) == 0))
		return fd;
	error = errno;
	if (fd >= 0)
		close(fd);
	hlg_temp_file_abort(temp);
	errno = error;
	return -1;
}

/* Gives a file without a name that of temp->base, or, where that is taken, one of its
 * own.
 */
static int link_it(struct hlg_temp_file *temp, int fd)
{
	char open_file[32];
	int rc;

	snprintf(open_file, sizeof(open_file), "/proc/self/fd/%d", fd);
	rc = linkat(AT_FDCWD, open_file, temp->folder, temp->base, AT_SYMLINK_FOLLOW);
	for (int i = 0; rc != 0 && errno == EEXIST && i < TRIES; i++) {
		free(temp->name);
		temp->name = new_name(temp);
		if (!temp->name)
			return -1;
		rc = linkat(AT_FDCWD, open_file, temp->folder, temp->name,
			    AT_SYMLINK_FOLLOW);
	}
	if (rc != 0) {
		free(temp->name);
		temp->name = NULL;
	}
	return rc;
}

/* The folder's entry on the disk. Some file systems cannot, and need not be asked. */
static int sync_folder(const struct hlg_temp_file *temp)
{
	if (!temp->readable || fsync(temp->folder) == 0)
		return 0;
	return errno == EIO || errno == ENOSPC || errno == EDQUOT ? -1 : 0;
}

int hlg_temp_file_commit(struct hlg_temp_file *temp, int fd)
{
	int rc = fsync(fd), error;

	if (rc == 0 && !temp->name)
		rc = link_it(temp, fd);
	if (rc == 0 && temp->name) {
		rc = renameat(temp->folder, temp->name, temp->folder, temp->base);
		if (rc == 0) {
			free(temp->name);
			temp->name = NULL;
		}
	}
	if (rc == 0)
		rc = sync_folder(temp);
	error = errno;
	hlg_temp_file_abort(temp);
	errno = error;
	return rc;
}

void hlg_temp_file_abort(struct hlg_temp_file *temp)
{
	if (temp->name)
		unlinkat(temp->folder, temp->name, 0);
	if (temp->base && temp->folder >= 0)
		close(temp->folder);
	free(temp->base);
	free(temp->name);
	*temp = (struct hlg_temp_file){0};
}

int hlg_temp_file_nameless(const char *folder)
{
	char name[PATH_MAX];
	int fd = openat(AT_FDCWD, folder, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC,
			S_IRUSR | S_IWUSR);

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return fd;
	if (snprintf(name, sizeof(name), "%s/" MARK "XXXXXX", folder) >=
	    (int)sizeof(name)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	return fd;
}

const char *hlg_temp_file_folder(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && folder[0] ? folder : "/tmp";
}

bool hlg_temp_file_write(int fd, const void *bytes, size_t n)
{
	const char *at = bytes, *end = at + n;

	while (at < end) {
		ssize_t put = write(fd, at, (size_t)(end - at));

		if (put < 0 && errno != EINTR)
			return false;
		at += put > 0 ? put : 0;
	}
	return true;
}
