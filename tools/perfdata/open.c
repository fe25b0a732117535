// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opening and closing: which of the shapes of a recording this is. In a directory (perf
 * record --threads) `data` has the header and what perf itself wrote, `data.N` nothing
 * but the records of one thread's buffers.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symtab/file.h"
#include "tools/perfdata/reader.h"

static int check_magic(const struct hlg_perfdata *pd, const uint64_t start[2],
		       struct hlg_err *err)
{
	const char *problem;

	if (start[0] == HLG_MAGIC_2)
		return 0;
	if (start[0] == HLG_MAGIC_SWAPPED)
		problem = "was recorded on a machine of the other byte order (report "
			  "there, with perf script --dlfilter)";
	else if (memcmp(start, "\177ELF", 4) == 0)
		problem = "is an ELF, no recording (give a perf.data of perf record)";
	else if (memcmp(start, "\x1f\x8b", 2) == 0) /* RFC 1952, 2.3.1 */
		problem = "is no recording but compressed by gzip, as saved profiles are "
			  "(give a perf.data of perf record)";
	else if (start[0] == HLG_MAGIC_1)
		problem = "is of a perf from before 2012 (record again)";
	else
		problem = "is no recording (give a perf.data of perf record)";
	return hlg_err_set(err, HLG_EINPUT, "%s: %s", pd->path, problem);
}

static int too_short(const struct hlg_perfdata *pd, uint64_t size, struct hlg_err *err)
{
	return hlg_err_set(err, HLG_EINPUT, "%s: %s (record again)", pd->path,
			   size ? "is too short for a recording" : "is empty");
}

/* Does such a record stand for a part of the header? See header.c. */
static bool is_header(uint32_t type)
{
	return type >= HLG_RECORD_USER && type != HLG_RECORD_FINISHED_ROUND &&
	       type != HLG_RECORD_AUXTRACE && type != HLG_RECORD_COMPRESSED &&
	       type != HLG_RECORD_COMPRESSED2;
}

/* Reads on to the first record that is not the header's. */
static int start_pipe(struct hlg_perfdata *pd, struct hlg_err *err)
{
	int rc = 1;

	while (rc > 0 && (pd->hard_end - pd->walk.at < HLG_HEADER_SIZE ||
			  is_header(hlg_perfdata_u32(pd->walk.at))))
		rc = hlg_perfdata_step(pd, err);
	if (rc < 0)
		return rc;
	if (pd->n_events == 0)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: has no events (damaged; record again)", pd->path);
	return 0;
}

static int open_regular(struct hlg_perfdata *pd, uint64_t size, struct hlg_err *err)
{
	uint64_t start[2];
	int rc;

	if (size < sizeof(start))
		return too_short(pd, size, err);
	if (hlg_file_read(pd->fd, start, sizeof(start), 0))
		return hlg_window_errno(pd->path, err);
	rc = check_magic(pd, start, err);
	if (rc < 0)
		return rc;
	pd->host.pipe = start[1] == HLG_PIPE_HEADER_SIZE;
	if (pd->host.pipe) {
		pd->from = HLG_PIPE_HEADER_SIZE;
		pd->limit = size;
	} else {
		rc = hlg_header_read(pd, size, err);
	}
	if (rc == 0)
		rc = hlg_window_start(pd, false, err);
	return rc == 0 && pd->host.pipe ? start_pipe(pd, err) : rc;
}

static int open_pipe(struct hlg_perfdata *pd, struct hlg_err *err)
{
	uint64_t start[2] = {0};
	int64_t got;
	int rc;

	pd->host.pipe = true;
	pd->limit = UINT64_MAX;
	rc = hlg_window_start(pd, true, err);
	if (rc < 0)
		return rc;
	got = hlg_window_take(pd, (uint8_t *)start, sizeof(start), err);
	if (got < 0)
		return (int)got;
	if ((uint64_t)got < sizeof(start))
		return too_short(pd, (uint64_t)got, err);
	rc = check_magic(pd, start, err);
	if (rc < 0)
		return rc;
	if (start[1] != HLG_PIPE_HEADER_SIZE)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: a file's recording cannot be read through a pipe "
				   "(name the file, or record with -o -)",
				   pd->path);
	return start_pipe(pd, err);
}

static int open_shape(struct hlg_perfdata *pd, const char *path, struct hlg_err *err)
{
	struct stat st;

	pd->close_fd = strcmp(path, "-") != 0;
	pd->fd = pd->close_fd ? hlg_file_open_any(path) : STDIN_FILENO;
	if (pd->fd < 0)
		return hlg_file_fail(path, errno, err);
	if (fstat(pd->fd, &st) != 0)
		return hlg_window_errno(pd->path, err);
	if (isatty(pd->fd))
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: is a terminal (pipe a recording into it)",
				   pd->path);
	if (S_ISREG(st.st_mode))
		return open_regular(pd, (uint64_t)st.st_size, err);
	return open_pipe(pd, err);
}

/* data.N, without leading zeros or anything behind. */
static int is_data_file(const struct dirent *entry)
{
	const char *digits = entry->d_name + strlen("data.");
	size_t n;

	if (strncmp(entry->d_name, "data.", strlen("data.")) || entry->d_type == DT_DIR)
		return false;
	n = strspn(digits, "0123456789");
	return n && n < 10 && !digits[n] && (n == 1 || digits[0] != '0');
}

/* In the order of their numbers. */
static int find_files(struct hlg_perfdata *pd, struct hlg_err *err)
{
	int n = scandir(pd->path, &pd->data_files, is_data_file, versionsort);

	if (n < 0)
		return errno == ENOMEM ? hlg_err_memory(err, pd->path)
				       : hlg_window_errno(pd->path, err);
	pd->n_data_files = (size_t)n;
	return 0;
}

static void close_files(struct hlg_perfdata *pd)
{
	if (pd->data_fd >= 0)
		close(pd->data_fd);
	for (size_t i = 0; i < pd->n_data_files; i++)
		free(pd->data_files[i]);
	free(pd->data_files);
}

static bool is_directory(const char *path)
{
	struct stat st;

	return strcmp(path, "-") && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool hlg_perfdata_is_kept(const char *path)
{
	struct stat st;

	return strcmp(path, "-") != 0 && stat(path, &st) == 0 &&
	       (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

static int open_any(struct hlg_perfdata *pd, const char *path, struct hlg_err *err)
{
	struct stat st;
	char *data;
	int rc;

	if (!is_directory(path))
		return open_shape(pd, path, err);
	pd->host.directory = true;
	if (asprintf(&data, "%s/data", path) < 0)
		return hlg_err_memory(err, path);
	if (stat(data, &st) != 0 || !S_ISREG(st.st_mode))
		rc = hlg_err_set(err, HLG_EINPUT,
				 "%s: is a directory that holds no recording (give a "
				 "perf.data)",
				 path);
	else
		rc = open_shape(pd, data, err);
	free(data);
	return rc < 0 ? rc : find_files(pd, err);
}

/* A reader of nothing yet, called name; NULL without memory. */
static struct hlg_perfdata *make(const char *name)
{
	struct hlg_perfdata *pd = calloc(1, sizeof(*pd));

	if (!pd)
		return NULL;
	pd->fd = pd->data_fd = -1;
	pd->range_to = UINT64_MAX;
	pd->path = strdup(name);
	if (pd->path && hlg_attrs_init(pd))
		return pd;
	hlg_perfdata_close(pd);
	return NULL;
}

/* *to is the reader if that could be opened. */
static int opened(struct hlg_perfdata **to, struct hlg_perfdata *pd, int rc)
{
	if (rc < 0)
		hlg_perfdata_close(pd);
	else
		*to = pd;
	return rc;
}

int hlg_perfdata_open(struct hlg_perfdata **to, const char *path, struct hlg_err *err)
{
	struct hlg_perfdata *pd = make(strcmp(path, "-") ? path : "standard input");

	*to = NULL;
	return pd ? opened(to, pd, open_any(pd, path, err)) : hlg_err_memory(err, path);
}

int hlg_perfdata_open_stream(struct hlg_perfdata **to, const char *name,
			     const struct hlg_perfdata_stream *stream,
			     struct hlg_err *err)
{
	struct hlg_perfdata *pd = make(name);

	*to = NULL;
	if (!pd)
		return hlg_err_memory(err, name);
	pd->through = stream;
	return opened(to, pd, open_pipe(pd, err));
}

void hlg_perfdata_close(struct hlg_perfdata *pd)
{
	if (!pd)
		return;
	close_files(pd);
	hlg_attrs_finish(pd);
	free(pd->lasts.entries);
	free(pd->members);
	hlg_window_finish(pd);
	if (!pd->parent) {
		free(pd->host.name);
		free(pd->host.cpu);
		hlg_header_forget_command(pd);
		free(pd->tracing_copy);
		free(pd->path);
	}
	if (pd->close_fd && pd->fd >= 0)
		close(pd->fd);
	free(pd);
}

uint32_t hlg_perfdata_n_events(const struct hlg_perfdata *pd)
{
	return pd->n_events;
}

const struct hlg_perfdata_event *hlg_perfdata_event(const struct hlg_perfdata *pd,
						    uint32_t index)
{
	return pd->events[index];
}

const struct hlg_perfdata_host *hlg_perfdata_host(const struct hlg_perfdata *pd)
{
	return &pd->host;
}

const struct hlg_perfdata_counts *hlg_perfdata_counts(const struct hlg_perfdata *pd)
{
	return &pd->counts;
}
