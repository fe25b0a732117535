// SPDX-License-Identifier: GPL-2.0-only
#include "tools/record/keep.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "filter/output/target.h"
#include "tools/record/count.h"

static struct stat look_at(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0)
		memset(&st, 0, sizeof(st));
	return st;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
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
	       !hlg_record_count_is_good(path);
}

/* To FILE.failed, also if there is one in vain; what else is called so is the user's, and
 * stays. If that fails it is as without us. */
static void step_aside(const char *path)
{
	static const char *const ends[] = {".failed", ".failed.2", ".failed.3",
					   ".failed.4"};
	char old[PATH_MAX], failed[PATH_MAX];

	if (!beside(old, sizeof(old), path, ".old") || access(old, F_OK) != 0 ||
	    !is_vain(path))
		return; /* the rest is perf's to rename */
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct stat st;

		if (!beside(failed, sizeof(failed), path, ends[i]))
			return;
		if (lstat(failed, &st) == 0 && !is_vain(failed))
			continue;
		(void)rename(path, failed);
		return;
	}
}

void hlg_record_keep_begin(struct hlg_record_keep *keep, const char *path)
{
	keep->path = path;
	step_aside(path);
	keep->before = look_at(path);
}

bool hlg_record_keep_is_new(const struct hlg_record_keep *keep, int status)
{
	struct stat after = look_at(keep->path), st;
	char old[PATH_MAX];

	if (!S_ISREG(after.st_mode) || is_same(&keep->before, &after))
		return false;
	if (status == 0 || after.st_size > 0)
		return true;
	if (hlg_target_look(keep->path) != HLG_TARGET_FILE || unlink(keep->path) != 0 ||
	    keep->before.st_ino == 0 || !beside(old, sizeof(old), keep->path, ".old"))
		return false;
	st = look_at(old);
	if (is_same(&keep->before, &st))
		(void)rename(old, keep->path); /* it stays FILE.old if that fails */
	return false;
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
	       hlg_record_count_is_good(old);
}
