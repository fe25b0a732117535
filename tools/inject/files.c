// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inject/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filter/output/out.h"
#include "filter/output/target.h"
#include "filter/output/temp-file.h"
#include "symtab/file.h"

enum {
	SOME = 65536,
	MAGIC = 8 /* bytes that tell what a file is */
};

/* Reads up to n bytes. False and errno. */
static bool read_some(int from, char *some, size_t n, size_t *got)
{
	ssize_t read_now;

	for (*got = 0; *got < n; *got += (size_t)read_now) {
		read_now = read(from, some + *got, n - *got);
		if (read_now < 0 && errno == EINTR)
			read_now = 0;
		else if (read_now <= 0)
			return read_now == 0;
	}
	return true;
}

/* Copies all to a file; of what does not begin as a recording does, which may have no
 * end, the beginning alone. */
static int copy(int from, const char *path, int to, const char *folder,
		struct hlg_err *err)
{
	bool is_recording = true;
	char some[SOME];
	size_t n = sizeof(some);

	for (bool first = true; is_recording && n == sizeof(some); first = false) {
		if (!read_some(from, some, sizeof(some), &n))
			return hlg_err_set(err, HLG_ESYSTEM,
					   "%s: cannot be read: %s (try a file)", path,
					   strerrordesc_np(errno));
		if (first && n >= MAGIC)
			is_recording = hlg_target_magic_of(some) == HLG_MAGIC_RECORDING;
		if (n && !hlg_temp_file_write(to, some, n))
			return hlg_out_fail(folder, "written", errno, err);
	}
	return 0;
}

/* A path to an open file, to be opened from its beginning. */
static int name(char **path, int fd, struct hlg_err *err)
{
	if (asprintf(path, "/proc/self/fd/%d", fd) >= 0)
		return 0;
	*path = NULL;
	return hlg_err_memory(err, "recording");
}

int hlg_files_spool(const char *path, char **again, int *fd, struct hlg_err *err)
{
	bool standard = strcmp(path, "-") == 0;
	const char *folder = hlg_temp_file_folder();
	struct stat st;
	int from, rc;

	*again = NULL;
	*fd = -1;
	/* What is wrong with it, its reader tells better. */
	if ((standard ? fstat(STDIN_FILENO, &st) : stat(path, &st)) != 0)
		return 0;
	if (!S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode))
		return standard && S_ISREG(st.st_mode) ? name(again, STDIN_FILENO, err)
						       : 0;
	from = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (from < 0)
		return hlg_file_fail(path, errno, err);
	rc = hlg_temp_file_nameless(folder);
	if (rc < 0)
		rc = hlg_out_fail(folder, "written", errno, err);
	*fd = rc >= 0 ? rc : -1;
	if (rc >= 0)
		rc = copy(from, standard ? "standard input" : path, *fd, folder, err);
	if (!standard)
		close(from);
	/* As a file it may be read as often as is needed, by the name that it has. */
	return rc == 0 ? name(again, *fd, err) : rc;
}

int hlg_files_check(const char *out, struct hlg_err *err)
{
	struct stat st;
	int rc = hlg_out_check(out, HLG_MAGIC_RECORDING, err);

	if (rc < 0)
		return rc;
	if (hlg_target_is_stream(out) || (stat(out, &st) == 0 && !S_ISREG(st.st_mode)))
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: is not a regular file, and a recording is not "
				   "written in one go (name a file)",
				   out);
	return 0;
}

/* The absolute path that a file, which need not be there, has; NULL with errno. */
static char *absolute(const char *path, const char *suffix)
{
	const char *slash = strrchr(path, '/');
	char *folder, *real, *joined = NULL;

	if (asprintf(&folder, "%.*s.", slash ? (int)(slash + 1 - path) : 0, path) < 0)
		return NULL;
	real = realpath(folder, NULL);
	free(folder);
	if (real && asprintf(&joined, "%s/%s%s", strcmp(real, "/") ? real : "",
			     slash ? slash + 1 : path, suffix) < 0)
		joined = NULL;
	free(real);
	return joined;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool same_file(const char *path, const struct hlg_image *image)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_dev == image->elf.id.dev &&
	       st.st_ino == image->elf.id.ino;
}

static int make_folder(struct hlg_files *files, const char *out, struct hlg_err *err)
{
	struct stat st;

	if (files->folder)
		return 0;
	files->folder = absolute(out, ".elf");
	if (!files->folder)
		return hlg_out_fail(out, "named", errno, err);
	files->made = mkdir(files->folder, 0777) == 0;
	if (!files->made && errno != EEXIST)
		return hlg_out_fail(files->folder, "created", errno, err);
	/* Where others may write, it may be a link to anywhere, or a trap. */
	if (lstat(files->folder, &st) != 0 || !S_ISDIR(st.st_mode) ||
	    st.st_uid != geteuid())
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: is not a folder of yours, as the companion's "
				   "must be (remove it, or name another output)",
				   files->folder);
	return 0;
}

/* Is this the companion of an image before? */
static bool is_taken(const struct hlg_files *files, size_t i, const char *path)
{
	for (size_t k = 0; k < i; k++)
		if (files->images[k].companion &&
		    strcmp(files->images[k].companion, path) == 0)
			return true;
	return false;
}

/* FOLDER/guest.elf; where that is taken, a number is behind it, from 2 on. */
static int name_companion(struct hlg_files *files, size_t i,
			  const struct hlg_image *image, struct hlg_err *err)
{
	struct hlg_files_image *file = &files->images[i];
	const char *name = base_name(file->elf);
	char number[24] = "";
	size_t n = 1;

	do {
		free(file->companion);
		if (asprintf(&file->companion, "%s/%s%s", files->folder, name, number) <
		    0) {
			file->companion = NULL;
			return hlg_err_memory(err, image->path);
		}
		snprintf(number, sizeof(number), ".%zu", ++n);
	} while (is_taken(files, i, file->companion));
	for (size_t k = 0; k < files->n_images; k++)
		if (same_file(file->companion, files->space->images[k]))
			return hlg_err_set(err, HLG_EINPUT,
					   "%s: is where the companion of %s would be "
					   "written (name another output)",
					   files->space->images[k]->path, image->path);
	return 0;
}

static int write_image(struct hlg_files *files, size_t i, const char *out,
		       const struct hlg_units *units, bool wanted, bool demangle,
		       struct hlg_err *err)
{
	struct hlg_files_image *file = &files->images[i];
	const struct hlg_image *image = units->image;
	int rc;

	if (image->inside_size)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: is a host with its guest inside (hlguest "
				   "extract %s -o guest.elf, and name that)",
				   hlg_image_file(image), hlg_image_file(image));
	rc = hlg_companion_image_id(image, &file->elf_id, err);
	file->elf = rc == 0 ? realpath(image->path, NULL) : NULL;
	if (rc == 0 && !file->elf)
		rc = hlg_out_fail(image->path, "found", errno, err);
	if (rc == 0 && wanted)
		rc = make_folder(files, out, err);
	if (rc == 0 && wanted)
		rc = name_companion(files, i, image, err);
	if (rc == 0 && wanted)
		rc = hlg_out_open(&file->out, file->companion, NULL, err);
	if (rc == 0 && wanted)
		rc = hlg_companion_write(units, demangle, file->out.f, file->companion,
					 &file->companion_id, err);
	return rc;
}

int hlg_files_open(struct hlg_files *files, const char *out,
		   const struct hlg_space *space, const struct hlg_units *units,
		   const bool *wanted, bool demangle, struct hlg_err *err)
{
	int rc;

	*files = (struct hlg_files){.space = space, .n_images = space->n_images};
	files->images = calloc(space->n_images + 1, sizeof(*files->images));
	if (!files->images)
		return hlg_err_memory(err, out);
	rc = hlg_out_open(&files->out, out, NULL, err);
	for (size_t i = 0; rc == 0 && i < space->n_images; i++)
		rc = write_image(files, i, out, &units[i], wanted[i], demangle, err);
	return rc;
}

int hlg_files_commit(struct hlg_files *files, struct hlg_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < files->n_images; i++)
		if (files->images[i].out.f)
			rc = hlg_out_commit(&files->images[i].out, err);
	return rc < 0 ? rc : hlg_out_commit(&files->out, err);
}

void hlg_files_finish(struct hlg_files *files)
{
	for (size_t i = 0; i < files->n_images && files->images; i++) {
		struct hlg_files_image *file = &files->images[i];

		if (file->out.path)
			hlg_out_abort(&file->out);
		free(file->elf);
		free(file->companion);
	}
	if (files->out.path)
		hlg_out_abort(&files->out);
	/* Fails where something is in it, and is to. */
	if (files->made)
		rmdir(files->folder);
	free(files->folder);
	free(files->images);
}
