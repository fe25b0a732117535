// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/snippet.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symtab/grow.h"

enum {
	LARGEST = 16 << 20 /* bytes; the largest of LLVM's sources have 2 MiB */
};

static bool is_newer(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* Anybody may have made the ELF, and name what only root can read. */
static bool may_show(int fd)
{
	struct stat st;

	return geteuid() != 0 ||
	       (fstat(fd, &st) == 0 && st.st_uid == 0 && (st.st_mode & S_IROTH) != 0);
}

/* Cuts the bytes into lines. False without memory. */
static bool cut(struct hlg_snippet_file *file)
{
	char *at = file->bytes;

	while (at) {
		char *end = strchr(at, '\n');

		if (!HLG_GROW(file->line, file->n))
			return false;
		file->line[file->n++] = at;
		if (end)
			*end++ = '\0';
		at = end;
	}
	return true;
}

static const char *read_all(struct hlg_snippet_file *file, int fd,
			    const struct hlg_file_id *id, const struct hlg_file_id *elf)
{
	size_t size = (size_t)id->size;

	if (!may_show(fd))
		return "is not shown to root, who does not own it, or not all may read "
		       "it";
	if (is_newer(&id->mtime, &elf->mtime))
		return "is newer than the ELF, so its lines are not shown";
	if (id->size > LARGEST)
		return "is too large to be shown";
	file->bytes = malloc(size + 1);
	if (!file->bytes)
		return "is not shown: out of memory";
	file->bytes[size] = '\0';
	if (hlg_file_read(fd, file->bytes, size, 0) < 0)
		return "cannot be read";
	if (strlen(file->bytes) != size)
		return "is no text";
	return cut(file) ? NULL : "is not shown: out of memory";
}

static void load(struct hlg_snippet_file *file, const struct hlg_file_id *elf)
{
	struct hlg_file_id id;
	struct hlg_err err;
	int fd = file->path[0] == '/' ? hlg_file_open(file->path, &id, &err) : -1;

	if (fd < 0)
		return;
	file->problem = read_all(file, fd, &id, elf);
	close(fd);
	if (file->problem)
		file->n = 0;
}

const char *hlg_snippet_line(struct hlg_snippets *s, const char *path, int number,
			     const struct hlg_file_id *elf)
{
	struct hlg_snippet_file *file;
	size_t i = s->n;

	/* The one before is the most likely. */
	while (i && strcmp(s->files[i - 1].path, path) != 0)
		i--;
	if (i == 0) {
		if (!HLG_GROW(s->files, s->n))
			return NULL;
		file = &s->files[s->n];
		*file = (struct hlg_snippet_file){.path = strdup(path)};
		if (!file->path)
			return NULL;
		i = ++s->n;
		load(file, elf);
	}
	file = &s->files[i - 1];
	return number > 0 && (size_t)number <= file->n ? file->line[number - 1] : NULL;
}

void hlg_snippet_finish(struct hlg_snippets *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->files[i].path);
		free(s->files[i].bytes);
		free(s->files[i].line);
	}
	free(s->files);
	*s = (struct hlg_snippets){0};
}
