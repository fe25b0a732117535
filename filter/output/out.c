// SPDX-License-Identifier: GPL-2.0-only
#include "filter/output/out.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *remedy(int error)
{
	switch (error) {
	case ENOSPC:
	case EDQUOT:
		return "make room, or write elsewhere";
	case EFBIG:
		return "raise ulimit -f, or write elsewhere";
	case EMFILE:
	case ENFILE:
		return "close some, or raise ulimit -n";
	case EPIPE:
		return "its reader went away";
	case EBADF:
		return "it is closed: use -o FILE";
	default:
		return "write elsewhere";
	}
}

int hlg_out_fail(const char *what, const char *verb, int error, struct hlg_err *err)
{
	if (error == ENOMEM)
		return hlg_err_memory(err, what);
	return hlg_err_set(err, HLG_ESYSTEM, "%s: cannot be %s: %s (%s)",
			   what[0] ? what : "''", verb, strerrordesc_np(error),
			   remedy(error));
}

/* A folder that was removed with somebody in it is there, but takes none: it has neither
 * links, which some file systems (FUSE) do not count, nor a path. */
static bool takes_files(const char *folder)
{
	char real[PATH_MAX];
	struct stat st;

	if (access(folder, W_OK | X_OK) != 0 || stat(folder, &st) != 0)
		return false;
	return st.st_nlink > 0 || realpath(folder, real) || errno != ENOENT;
}

int hlg_out_check_or(const char *path, enum hlg_magic writes, const char *advice,
		     struct hlg_err *err)
{
	enum hlg_target target;
	char folder[PATH_MAX];
	int rc = hlg_target_check_magic(path, writes, err);

	if (rc < 0 || hlg_target_is_stream(path))
		return rc;
	target = hlg_target_look(path);
	if (target == HLG_TARGET_FOLDER)
		return hlg_err_set(err, HLG_EINPUT, "%s: is a directory (name a file)",
				   path);
	/* What is no file is written itself: its folder may be closed (/dev). */
	if (target != HLG_TARGET_FILE) {
		if (access(path, W_OK) == 0)
			return 0;
		return hlg_err_set(err, HLG_ESYSTEM, "%s: cannot be written: %s (%s)",
				   path, strerrordesc_np(errno), advice);
	}
	if (hlg_target_folder(folder, path) && takes_files(folder))
		return 0;
	return hlg_err_set(err, HLG_ESYSTEM, "%s: its folder cannot be written: %s (%s)",
			   path, strerrordesc_np(errno), advice);
}

int hlg_out_check(const char *path, enum hlg_magic writes, struct hlg_err *err)
{
	return hlg_out_check_or(path, writes, "name another", err);
}

/*
 * A file of our own that is replaced hands its mode on, as if it were written; but for
 * one with a second name: somebody may have given it this one, for its mode.
 */
static int open_temp(struct hlg_temp_file *temp, const char *path)
{
	struct stat st;
	mode_t mode;

	if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    st.st_nlink > 1)
		return hlg_temp_file_open(temp, path, NULL);
	mode = st.st_mode & 0777;
	return hlg_temp_file_open(temp, path, &mode);
}

static FILE *open_file(struct hlg_out *out)
{
	enum hlg_target target = hlg_target_look(out->path);
	int fd = -1, error;
	FILE *f;

	if (target == HLG_TARGET_FOLDER)
		errno = EISDIR;
	else
		fd = target == HLG_TARGET_FILE ? open_temp(&out->temp, out->path)
					       : hlg_target_open(out->path, target);
	f = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (f || fd < 0)
		return f;
	error = errno;
	hlg_temp_file_abort(&out->temp);
	close(fd);
	errno = error;
	return NULL;
}

static void forget(struct hlg_out *out)
{
	free(out->path);
	*out = (struct hlg_out){0};
}

int hlg_out_open(struct hlg_out *out, const char *path, FILE *stream, struct hlg_err *err)
{
	*out = (struct hlg_out){.f = path ? stdout : stream};
	if (!path || hlg_target_is_stream(path))
		return 0;
	out->path = strdup(path);
	if (!out->path)
		return hlg_err_memory(err, path);
	errno = ENOENT; /* of no name at all, which a temporary file would not mind */
	out->f = path[0] ? open_file(out) : NULL;
	if (!out->f) {
		int rc = hlg_out_fail(path, "created", errno, err);

		forget(out);
		return rc;
	}
	return 0;
}

int hlg_out_open_own(struct hlg_out *out, const char *path, struct hlg_err *err)
{
	int rc = hlg_out_open(out, path, NULL, err);
	struct stat st;

	if (rc == 0 && fstat(fileno(out->f), &st) == 0)
		(void)fchmod(fileno(out->f), st.st_mode & 0755);
	return rc;
}

void hlg_out_write(struct hlg_out *out, const void *data, size_t size)
{
	if (fwrite(data, 1, size, out->f) != size && !out->error)
		out->error = errno;
}

/*
 * Writes what is left. If an earlier write failed and this does not, nobody knows any
 * more why; of a file that will be gone, another byte tells.
 */
static bool flush(struct hlg_out *out)
{
	int fd = fileno(out->f);

	errno = 0;
	if (fflush(out->f) == 0 && !ferror(out->f))
		return true;
	if (errno == 0)
		errno = out->error;
	if (errno == 0 &&
	    (!out->temp.base || pwrite(fd, "", 1, lseek(fd, 0, SEEK_CUR)) >= 0))
		errno = EIO;
	return false;
}

int hlg_out_commit(struct hlg_out *out, struct hlg_err *err)
{
	bool ok = flush(out), file = out->temp.base;
	int error = errno, rc = 0;

	if (!out->path) {
		if (!ok)
			rc = hlg_out_fail("standard output", "written", error, err);
		forget(out);
		return rc;
	}
	if (ok && file) {
		ok = hlg_temp_file_commit(&out->temp, fileno(out->f)) == 0;
		error = errno;
	}
	hlg_temp_file_abort(&out->temp);
	/* A file that was synced is on the disk. */
	if (fclose(out->f) != 0 && ok && !file) {
		ok = false;
		error = errno;
	}
	if (!ok)
		rc = hlg_out_fail(out->path, "written", error, err);
	forget(out);
	return rc;
}

void hlg_out_abort(struct hlg_out *out)
{
	hlg_temp_file_abort(&out->temp);
	if (out->path && out->f)
		fclose(out->f);
	forget(out);
}
