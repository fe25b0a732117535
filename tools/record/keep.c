// SPDX-License-Identifier: GPL-2.0-only
#include "tools/record/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "filter/output/target.h"
#include "symtab/file.h"
#include "tools/inputs/given.h"
#include "tools/perfdata/count.h"

static int held = -1; /* FILE, locked, to the next one or to our end */

static struct stat look_at(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0)
		memset(&st, 0, sizeof(st));
	return st;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return hlg_file_is_one(a, b) && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* FILE and an end, as perf has .old; false if that is too long to be a name. */
static bool beside(char *name, size_t size, const char *path, const char *end)
{
	return snprintf(name, size, "%s%s", path, end) < (int)size;
}

/* Is it a recording, by its first bytes, that has nothing of a guest? */
static bool is_vain(const char *path)
{
	return hlg_target_look(path) == HLG_TARGET_FILE &&
	       hlg_target_magic(path) == HLG_MAGIC_RECORDING &&
	       !hlg_perfdata_count_is_good(path);
}

/* What is called FILE.failed and is no recording in vain is the user's, and stays. */
static bool fail(const char *path)
{
	static const char *const ends[] = {".failed", ".failed.2", ".failed.3",
					   ".failed.4"};
	char failed[PATH_MAX];

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct stat st;

		if (!beside(failed, sizeof(failed), path, ends[i]))
			return false;
		if (lstat(failed, &st) != 0 || is_vain(failed))
			return rename(path, failed) == 0;
	}
	return false;
}

/* To FILE.old as perf would rename it, or in vain to FILE.failed, if there is a FILE.old.
 * What fails is perf's to rename, as it is without us. */
static void step_aside(struct hlg_record_keep *keep)
{
	char old[PATH_MAX];

	if (!beside(old, sizeof(old), keep->path, ".old"))
		return;
	if (access(old, F_OK) == 0 && is_vain(keep->path) && fail(keep->path))
		keep->before = (struct stat){0};
	else
		(void)rename(keep->path, old);
}

/* Opens a file and locks it, where that can be: -1 if not. *busy: another has. */
static int lock(const char *path, int flags, bool *busy)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | flags, S_IRUSR | S_IWUSR);

	*busy = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	if (!*busy)
		return fd;
	close(fd);
	return -1;
}

static void hold(int fd)
{
	if (held >= 0)
		close(held);
	held = fd;
}

bool hlg_record_keep_is_ours(const char *path)
{
	struct stat now = look_at(path), st;

	return held >= 0 && fstat(held, &st) == 0 && hlg_file_is_one(&st, &now);
}

/* What is there steps aside, and an empty FILE is held: perf writes into that. *again:
 * another has renamed FILE meanwhile. Returns whether another holds it. */
static bool take(struct hlg_record_keep *keep, bool *again)
{
	bool busy = false;
	int before = -1;

	*again = false;
	keep->before = look_at(keep->path);
	if (keep->before.st_ino && !S_ISREG(keep->before.st_mode))
		return false;
	if (keep->before.st_size) {
		struct stat now;

		/* So that of two that begin one lets it step aside. */
		before = lock(keep->path, 0, &busy);
		now = look_at(keep->path);
		*again = !hlg_file_is_one(&keep->before, &now);
		if (!busy && !*again)
			step_aside(keep);
	}
	if (!busy && !*again && look_at(keep->path).st_size == 0)
		hold(lock(keep->path, O_CREAT, &busy));
	*again |= held >= 0 && !hlg_record_keep_is_ours(keep->path);
	if (before >= 0)
		close(before);
	return busy;
}

int hlg_record_keep_begin(struct hlg_record_keep *keep, const char *path,
			  struct hlg_err *err)
{
	bool busy = false, again = strcmp(path, "-") != 0;

	*keep = (struct hlg_record_keep){.path = path};
	hold(-1);
	for (int tries = 0; again && !busy && tries < 10; tries++)
		busy = take(keep, &again);
	if (!busy)
		return 0;
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: another hlguest records into it, or reports it (let that "
			   "end, or %s)",
			   path,
			   strcmp(path, HLG_INPUTS_DEFAULT) == 0
				   ? HLG_RECORD_KEEP_ELSEWHERE
				   : "name another file: -o FILE");
}

/* What perf left empty goes, and what was there gets its name again. */
static void put_back(const struct hlg_record_keep *keep)
{
	char old[PATH_MAX];
	struct stat st;

	if (keep->before.st_ino && beside(old, sizeof(old), keep->path, ".old")) {
		st = look_at(old);
		/* It stays FILE.old if that fails. */
		if (is_same(&keep->before, &st) && rename(old, keep->path) == 0)
			return;
	}
	(void)unlink(keep->path);
}

bool hlg_record_keep_is_new(struct hlg_record_keep *keep)
{
	struct stat after = look_at(keep->path);

	if (!S_ISREG(after.st_mode) || is_same(&keep->before, &after))
		return false;
	keep->lost = held >= 0 && !hlg_record_keep_is_ours(keep->path);
	if (keep->lost)
		return false;
	if (after.st_size > 0)
		return hlg_record_keep_renew(keep);
	if (hlg_target_look(keep->path) == HLG_TARGET_FILE)
		put_back(keep);
	return false;
}

bool hlg_record_keep_renew(struct hlg_record_keep *keep)
{
	bool busy = false;

	if (!hlg_record_keep_is_ours(keep->path))
		hold(lock(keep->path, 0, &busy));
	keep->lost = busy;
	return !busy;
}

bool hlg_record_keep_is_full(const struct hlg_record_keep *keep)
{
	enum {
		LEAST = 65536 /* bytes that any disk in use has: perf writes by mebibytes
			       */
	};
	char folder[PATH_MAX];
	struct statvfs disk;

	if (statvfs(keep->path, &disk) != 0 &&
	    (!hlg_target_folder(folder, keep->path) || statvfs(folder, &disk) != 0))
		return false;
	/* What is no disk (/proc) has no blocks at all. */
	return disk.f_blocks > 0 && (geteuid() ? disk.f_bavail : disk.f_bfree) <
					    (LEAST + disk.f_frsize - 1) / disk.f_frsize;
}

bool hlg_record_keep_is_absent(const struct hlg_record_keep *keep)
{
	struct stat after = look_at(keep->path);

	return after.st_ino == 0 ||
	       (S_ISREG(after.st_mode) && is_same(&keep->before, &after));
}

bool hlg_record_keep_old(const struct hlg_record_keep *keep, char *old, size_t size)
{
	return beside(old, size, keep->path, ".old") &&
	       hlg_target_magic(old) == HLG_MAGIC_RECORDING &&
	       hlg_perfdata_count_is_good(old);
}
