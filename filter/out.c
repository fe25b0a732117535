// SPDX-License-Identifier: GPL-2.0-only
#include "out.h"

#include <errno.h>
#include <fcntl.h>
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
	case EFBIG:
		return "make room, or write elsewhere";
	case EPIPE:
		return "its reader went away";
	case EBADF:
		return "it is closed: say where to";
	default:
		return "write elsewhere";
	}
}

int hlg_out_fail(const char *what, const char *verb, int error, struct hlg_err *err)
{
	return hlg_err_set(err, HLG_ESYSTEM, "%s: cannot be %s: %s (%s)", what, verb,
			   strerrordesc_np(error), remedy(error));
}

/* The folder of path, "folder/." so that nothing but a folder will do; to be freed. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder;

	if (asprintf(&folder, "%.*s.", slash ? (int)(slash + 1 - path) : 0, path) < 0)
		return NULL;
	return folder;
}

int hlg_out_check(const char *path, struct hlg_err *err)
{
	struct stat st;
	char *folder;
	int rc = 0;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return hlg_err_set(err, HLG_EINPUT, "%s: is a directory (name a file)",
				   path);
	/* What is no regular file is written itself: its folder may be closed (/dev). */
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		if (access(path, W_OK) == 0)
			return 0;
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: cannot be written: %s (name another)", path,
				   strerrordesc_np(errno));
	}
	folder = folder_of(path);
	if (!folder)
		return hlg_err_memory(err, path);
	if (access(folder, W_OK | X_OK) != 0)
		rc = hlg_err_set(err, HLG_EINPUT,
				 "%s: its folder cannot be written: %s (name another)",
				 path, strerrordesc_np(errno));
	free(folder);
	return rc;
}

/* A new file beside path, with the mode a plain open would give it. */
static FILE *open_temp(const char *path, char **temp)
{
	mode_t mask = umask(0);
	FILE *f = NULL;
	int fd = -1;

	umask(mask);
	if (asprintf(temp, "%s.XXXXXX", path) < 0) {
		*temp = NULL;
		return NULL;
	}
	fd = mkostemp(*temp, O_CLOEXEC);
	if (fd >= 0 && fchmod(fd, 0666 & ~mask) == 0)
		f = fdopen(fd, "w");
	if (f)
		return f;
	if (fd >= 0) {
		close(fd);
		unlink(*temp);
	}
	free(*temp);
	*temp = NULL;
	return NULL;
}

int hlg_out_open(struct hlg_out *out, const char *path, FILE *stream, struct hlg_err *err)
{
	struct stat st;

	*out = (struct hlg_out){.f = stream};
	if (!path)
		return 0;
	out->path = strdup(path);
	if (!out->path)
		return hlg_err_memory(err, path);
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		out->f = fopen(path, "we");
	else
		out->f = open_temp(path, &out->temp);
	if (!out->f) {
		int rc = hlg_out_fail(path, "created", errno, err);

		free(out->path);
		*out = (struct hlg_out){0};
		return rc;
	}
	return 0;
}

static void forget(struct hlg_out *out)
{
	free(out->path);
	free(out->temp);
	*out = (struct hlg_out){0};
}

int hlg_out_commit(struct hlg_out *out, struct hlg_err *err)
{
	bool ok = fflush(out->f) == 0 && !ferror(out->f);
	int rc = 0;

	if (!out->path) {
		if (!ok)
			rc = hlg_out_fail("standard output", "written", errno, err);
		forget(out);
		return rc;
	}
	if (ok && out->temp)
		ok = fsync(fileno(out->f)) == 0;
	if (fclose(out->f) != 0)
		ok = false;
	if (ok && out->temp)
		ok = rename(out->temp, out->path) == 0;
	if (!ok) {
		rc = hlg_out_fail(out->path, "written", errno, err);
		if (out->temp)
			unlink(out->temp);
	}
	forget(out);
	return rc;
}

void hlg_out_abort(struct hlg_out *out)
{
	if (out->path && out->f)
		fclose(out->f);
	if (out->temp)
		unlink(out->temp);
	forget(out);
}
