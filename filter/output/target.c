// SPDX-License-Identifier: GPL-2.0-only
#include "filter/output/target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
	MAX_LINKS = 40 /* as the kernel's MAXSYMLINKS */
};

/* The folder of path, with "." behind it; false if that is too long to be one. */
static bool folder_of(char *folder, const char *path)
{
	const char *slash = strrchr(path, '/');
	int n = snprintf(folder, PATH_MAX, "%.*s.", slash ? (int)(slash + 1 - path) : 0,
			 path);

	return n < PATH_MAX;
}

/* Do links lead into a folder of /proc? What looks like a link there is an open file. */
static bool is_open_file(const char *path)
{
	char now[PATH_MAX], folder[PATH_MAX], link[PATH_MAX];
	struct statfs fs;
	int size = snprintf(now, sizeof(now), "%s", path);

	for (int i = 0; i < MAX_LINKS && size < PATH_MAX; i++) {
		ssize_t n;

		if (!folder_of(folder, now) || statfs(folder, &fs) != 0)
			return false;
		if (fs.f_type == PROC_SUPER_MAGIC)
			return true;
		n = readlink(now, link, sizeof(link) - 1);
		if (n < 0)
			return false;
		link[n] = '\0';
		folder[strlen(folder) - 1] = '\0'; /* the "." */
		size = snprintf(now, sizeof(now), "%s%s", link[0] == '/' ? "" : folder,
				link);
	}
	return false;
}

/*
 * May somebody else have put it there for us to write into? In folders as /tmp is, as the
 * kernel has it (protected_fifos in proc_sys_fs(5)). A link that leads from somebody's
 * folder into /dev is followed nowhere, but if root has made it or we.
 */
static bool is_planted(const char *path)
{
	char folder[PATH_MAX];
	struct stat own, in;

	if (!folder_of(folder, path) || lstat(path, &own) != 0 || stat(folder, &in) != 0)
		return true;
	if (S_ISLNK(own.st_mode) && own.st_uid != geteuid() && own.st_uid != 0)
		return true;
	return (in.st_mode & S_ISVTX) && (in.st_mode & S_IWOTH) &&
	       own.st_uid != geteuid() && own.st_uid != in.st_uid;
}

enum hlg_target hlg_target_look(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return HLG_TARGET_FILE;
	if (S_ISDIR(st.st_mode))
		return HLG_TARGET_FOLDER;
	if (is_open_file(path))
		return is_planted(path) ? HLG_TARGET_FILE : HLG_TARGET_OPEN;
	return S_ISREG(st.st_mode) || is_planted(path) ? HLG_TARGET_FILE
						       : HLG_TARGET_DEVICE;
}

int hlg_target_open(const char *path, enum hlg_target target)
{
	int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY, error = EBUSY, fd;
	struct stat st;

	fd = open(path, target == HLG_TARGET_OPEN ? flags | O_APPEND : flags);
	if (fd < 0 || target == HLG_TARGET_OPEN)
		return fd;
	/* Somebody may have put a file there since we looked. */
	if (fstat(fd, &st) != 0)
		error = errno;
	else if (!S_ISREG(st.st_mode))
		return fd;
	close(fd);
	errno = error;
	return -1;
}
