// SPDX-License-Identifier: GPL-2.0-only
#include "tools/pprof/gzip.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "symtab/file.h"

#ifndef HLG_GZIP_ROOM
#define HLG_GZIP_ROOM (1 << 18) /* bytes, at first */
#endif

enum {
	GZIP = 15 + 16, /* window bits, and that it is gzip's format: zlib.h */
	/* A profile deflates to a fifth or a tenth; one of a few samples is small anyway.
	 */
	SANE_RATIO = 200,
	SANE_SIZE = 1 << 20
};

struct input {
	z_stream z;
	const char *path;
	struct hlg_progress *progress;
	uint64_t taken; /* bytes read of the file */
	int fd;
	unsigned char in[1 << 16];
	unsigned char *out;
	size_t size, room;
};

/* Makes room behind what is inflated, unless it is too much already. */
static int make_room(struct input *in, struct hlg_err *err)
{
	size_t sane = SANE_SIZE + (size_t)in->taken * SANE_RATIO;
	size_t room = in->room ? 2 * in->room : HLG_GZIP_ROOM;
	unsigned char *out;

	if (in->size > HLG_GZIP_MAX || in->size > sane)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: inflates from %" PRIu64 " bytes to more than "
				   "%zu: not a profile of hlguest's (save it again)",
				   in->path, in->taken,
				   sane < HLG_GZIP_MAX ? sane : HLG_GZIP_MAX);
	out = realloc(in->out, room);
	if (!out)
		return hlg_err_memory(err, in->path);
	in->out = out;
	in->room = room;
	return 0;
}

static int refill(struct input *in, struct hlg_err *err)
{
	ssize_t n;

	do
		n = read(in->fd, in->in, sizeof(in->in));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return hlg_err_set(err, HLG_ESYSTEM,
				   "%s: cannot be read: %s (try a copy)", in->path,
				   strerrordesc_np(errno));
	if (n == 0 && in->taken == 0)
		return hlg_err_set(err, HLG_EINPUT, "%s: is empty (save it again)",
				   in->path);
	if (n == 0)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: is cut off, the gzip data have no end (copy it "
				   "or save it again)",
				   in->path);
	in->z.next_in = in->in;
	in->z.avail_in = (uInt)n;
	in->taken += (uint64_t)n;
	hlg_progress_add(in->progress, (uint64_t)n, 0);
	return 0;
}

static int inflate_all(struct input *in, struct hlg_err *err)
{
	int rc = 0, z = Z_OK;
	char more;

	while (rc == 0 && z != Z_STREAM_END) {
		if (in->z.avail_in == 0)
			rc = refill(in, err);
		if (rc == 0 && in->size == in->room)
			rc = make_room(in, err);
		if (rc < 0)
			return rc;
		in->z.next_out = in->out + in->size;
		in->z.avail_out = (uInt)(in->room - in->size);
		z = inflate(&in->z, Z_NO_FLUSH);
		in->size = in->room - in->z.avail_out;
		if (z == Z_MEM_ERROR)
			return hlg_err_memory(err, in->path);
		if (z != Z_OK && z != Z_STREAM_END && z != Z_BUF_ERROR)
			return hlg_err_set(err, HLG_EINPUT,
					   "%s: the gzip data are damaged (copy it or "
					   "save it again)",
					   in->path);
	}
	if (in->z.avail_in || read(in->fd, &more, 1) > 0)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: has something behind the end of its gzip data "
				   "(hlguest merge adds profiles up)",
				   in->path);
	return 0;
}

static int open_input(struct input *in, const char *path, struct hlg_err *err)
{
	struct hlg_file_id id;

	if (strcmp(path, "-") != 0) {
		in->path = path;
		in->fd = hlg_file_open(path, &id, err);
		return in->fd;
	}
	in->path = "standard input";
	in->fd = STDIN_FILENO;
	if (isatty(in->fd))
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: is a terminal (pipe a profile into it)",
				   in->path);
	return 0;
}

int hlg_gzip_read(const char *path, struct hlg_progress *progress, unsigned char **data,
		  size_t *size, struct hlg_err *err)
{
	struct input *in = calloc(1, sizeof(*in));
	int rc;

	*data = NULL;
	*size = 0;
	if (!in || inflateInit2(&in->z, GZIP) != Z_OK) {
		free(in);
		return hlg_err_memory(err, path);
	}
	in->progress = progress;
	rc = open_input(in, path, err);
	if (rc >= 0)
		rc = inflate_all(in, err);
	if (in->fd > STDIN_FILENO)
		close(in->fd);
	inflateEnd(&in->z);
	if (rc == 0) {
		*data = in->out;
		*size = in->size;
	} else {
		free(in->out);
	}
	free(in);
	return rc;
}

int hlg_gzip_write(FILE *f, const unsigned char *data, size_t size, struct hlg_err *err)
{
	unsigned char out[1 << 14];
	z_stream z = {.next_in = (unsigned char *)data, .avail_in = (uInt)size};
	int rc;

	if (size > HLG_GZIP_MAX)
		return hlg_err_set(err, HLG_EINPUT,
				   "profile: is larger than %zu bytes (save it with "
				   "less in by=)",
				   HLG_GZIP_MAX);
	/* Without a header of its own zlib writes no name, and 0 for the time. */
	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return hlg_err_memory(err, "profile");
	do {
		z.next_out = out;
		z.avail_out = sizeof(out);
		rc = deflate(&z, Z_FINISH);
		fwrite(out, 1, sizeof(out) - z.avail_out, f);
	} while (rc == Z_OK);
	deflateEnd(&z);
	return rc == Z_STREAM_END ? 0
				  : hlg_err_set(err, HLG_ESYSTEM, "profile: zlib failed");
}
