// SPDX-License-Identifier: GPL-2.0-only
#include "filter/output/target.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "symtab/file.h"

enum {
	MAX_LINKS = 40 /* as the kernel's MAXSYMLINKS */
};

bool hlg_target_folder(char folder[static PATH_MAX], const char *path)
{
	const char *slash = strrchr(path, '/');
	int n = snprintf(folder, PATH_MAX, "%.*s.", slash ? (int)(slash + 1 - path) : 0,
			 path);

	if (n < PATH_MAX)
		return true;
	errno = ENAMETOOLONG;
	return false;
}

/* Do links lead into a folder of /proc? What looks like a link there is an open file. */
static bool is_open_file(const char *path)
{
	char now[PATH_MAX], folder[PATH_MAX], link[PATH_MAX];
	struct statfs fs;
	int size = snprintf(now, sizeof(now), "%s", path);

	for (int i = 0; i < MAX_LINKS && size < PATH_MAX; i++) {
		ssize_t n;

		if (!hlg_target_folder(folder, now) || statfs(folder, &fs) != 0)
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

	if (!hlg_target_folder(folder, path) || lstat(path, &own) != 0 ||
	    stat(folder, &in) != 0)
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

/* The first bytes of a regular file; zeros behind its end. */
static bool read_magic(const char *path, char magic[static 8])
{
	struct stat st;
	ssize_t n;
	int fd;

	memset(magic, 0, 8);
	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return false;
	n = pread(fd, magic, 8, 0);
	close(fd);
	return n >= 0;
}

enum hlg_magic hlg_target_magic_of(const char magic[static 8])
{
	if (memcmp(magic, "PERFILE", 7) == 0 || memcmp(magic, "2ELIFREP", 8) == 0)
		return HLG_MAGIC_RECORDING;
	if (memcmp(magic, "\x1f\x8b", 2) == 0)
		return HLG_MAGIC_GZIP;
	return memcmp(magic, "\177ELF", 4) == 0 ? HLG_MAGIC_ELF : HLG_MAGIC_NONE;
}

enum hlg_magic hlg_target_magic(const char *path)
{
	char magic[8];

	return read_magic(path, magic) ? hlg_target_magic_of(magic) : HLG_MAGIC_NONE;
}

bool hlg_target_is_stream(const char *path)
{
	return !path || strcmp(path, "-") == 0;
}

bool hlg_target_is_same(const char *a, const char *b)
{
	char folder[PATH_MAX], other[PATH_MAX];
	const char *end_a, *end_b;
	struct stat of_a, of_b;

	if (hlg_target_is_stream(a) || hlg_target_is_stream(b) ||
	    hlg_target_look(a) != HLG_TARGET_FILE || !hlg_target_folder(folder, a) ||
	    !hlg_target_folder(other, b) || stat(folder, &of_a) != 0 ||
	    stat(other, &of_b) != 0)
		return false;
	end_a = strrchr(a, '/');
	end_b = strrchr(b, '/');
	return hlg_file_is_one(&of_a, &of_b) &&
	       strcmp(end_a ? end_a + 1 : a, end_b ? end_b + 1 : b) == 0;
}

/* Of what path names, or the stream that it stands for. */
static int look(const char *path, int stream, struct stat *st)
{
	return hlg_target_is_stream(path) ? fstat(stream, st) : stat(path, st);
}

int hlg_target_check_input(const char *out, const char *in, struct hlg_err *err)
{
	char folder[PATH_MAX];
	struct stat to, from, around;

	if (look(in, STDIN_FILENO, &from) != 0)
		return 0;
	if (S_ISREG(from.st_mode) && look(out, STDOUT_FILENO, &to) == 0 &&
	    hlg_file_is_one(&to, &from))
		return hlg_err_set(err, HLG_EWORDS,
				   "%s: is an input of this run (name another file)",
				   hlg_target_is_stream(out) ? "standard output" : out);
	if (S_ISDIR(from.st_mode) && !hlg_target_is_stream(out) &&
	    hlg_target_folder(folder, out) && stat(folder, &around) == 0 &&
	    hlg_file_is_one(&around, &from))
		return hlg_err_set(err, HLG_EWORDS,
				   "%s: is in a folder that is an input of this run "
				   "(name another file)",
				   out);
	return 0;
}

int hlg_target_check_magic(const char *out, enum hlg_magic writes, struct hlg_err *err)
{
	enum hlg_magic magic =
		hlg_target_is_stream(out) ? HLG_MAGIC_NONE : hlg_target_magic(out);

	if (magic == HLG_MAGIC_NONE || magic == HLG_MAGIC_GZIP || magic == writes)
		return 0;
	return hlg_err_set(err, HLG_EWORDS, "%s: is %s (name another file, or remove it)",
			   out, magic == HLG_MAGIC_ELF ? "an ELF" : "a recording");
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
