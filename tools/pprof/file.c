// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file of a saved profile: pprof's message in gzip's format (RFC 1952), which zlib
 * writes and checks. The whole of it is in memory.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "filter/output/out.h"
#include "symtab/file.h"
#include "tools/pprof/saved.h"

#ifndef HLG_SAVED_ROOM
#define HLG_SAVED_ROOM (1 << 18) /* bytes for the message, at first */
#endif

enum {
	GZIP = 15 + 16, /* window bits, and that it is gzip's format: zlib.h */
	CHUNK = 1 << 16,
	/* A profile deflates to a fifth or a tenth; one of a few samples is small anyway.
	 */
	SANE_RATIO = 200,
	SANE_SIZE = 1 << 20
};

struct input {
	z_stream z;
	const char *name; /* for messages */
	struct hlg_progress *progress;
	uint64_t taken; /* bytes read of the file */
	int fd;
	unsigned char in[CHUNK];
	unsigned char *out;
	size_t size, room;
};

const char *hlg_pprof_name(const char *path)
{
	return strcmp(path, "-") == 0 ? "standard input" : path;
}

static int fail(const struct input *in, struct hlg_err *err, const char *problem)
{
	return hlg_err_set(err, HLG_EINPUT, "%s: %s", in->name, problem);
}

/* Makes room behind what is inflated, unless it is too much already. */
static int make_room(struct input *in, struct hlg_err *err)
{
	size_t sane = SANE_SIZE + (size_t)in->taken * SANE_RATIO;
	size_t room = in->room ? 2 * in->room : HLG_SAVED_ROOM;
	unsigned char *out;

	if (in->size > HLG_SAVED_MAX_BYTES || in->size > sane)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: inflates from %" PRIu64 " bytes to more than "
				   "%zu: not a profile of hlguest's (save it again)",
				   in->name, in->taken,
				   sane < HLG_SAVED_MAX_BYTES ? sane
							      : HLG_SAVED_MAX_BYTES);
	out = realloc(in->out, room);
	if (!out)
		return hlg_err_memory(err, in->name);
	in->out = out;
	in->room = room;
	return 0;
}

/* The next bytes of the file: a whole chunk, however slowly they come, but at its end. */
static int refill(struct input *in, struct hlg_err *err)
{
	size_t n = 0;
	ssize_t got;

	do {
		got = read(in->fd, in->in + n, CHUNK - n);
		n += got > 0 ? (size_t)got : 0;
	} while ((got > 0 && n < CHUNK) || (got < 0 && errno == EINTR));
	if (got < 0)
		return hlg_err_set(err, HLG_ESYSTEM,
				   "%s: cannot be read: %s (try a copy)", in->name,
				   strerrordesc_np(errno));
	if (n == 0 && in->taken == 0)
		return fail(in, err, "is empty (save it again)");
	if (n == 0)
		return fail(in, err,
			    "is cut off, the gzip data have no end (copy it or save it "
			    "again)");
	in->z.next_in = in->in;
	in->z.avail_in = (uInt)n;
	in->taken += n;
	hlg_progress_add(in->progress, n, 0);
	return 0;
}

/* zlib does not read on; in the first chunk its first bytes tell why. */
static int fail_inflate(const struct input *in, struct hlg_err *err, int z)
{
	bool first = in->taken <= CHUNK;

	if (z == Z_MEM_ERROR)
		return hlg_err_memory(err, in->name);
	if (first &&
	    (memcmp(in->in, "PERFILE2", 8) == 0 || memcmp(in->in, "2ELIFREP", 8) == 0))
		return fail(in, err,
			    "is a recording, not a saved profile (hlguest report "
			    "--format=pprof --out=x.pb.gz guest.elf FILE saves one)");
	if (first && (in->in[0] != 0x1f || in->in[1] != 0x8b))
		return fail(in, err,
			    "is not a saved profile, which gzip has compressed (hlguest "
			    "report --format=pprof --out=x.pb.gz saves one)");
	return fail(in, err, "the gzip data are damaged (copy it or save it again)");
}

static int inflate_all(struct input *in, struct hlg_err *err)
{
	int rc = 0, z = Z_OK;
	char more;

	while (z != Z_STREAM_END) {
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
		if (z != Z_OK && z != Z_STREAM_END && z != Z_BUF_ERROR)
			return fail_inflate(in, err, z);
	}
	if (in->z.avail_in || read(in->fd, &more, 1) > 0)
		return fail(in, err,
			    "has something behind the end of its gzip data (hlguest "
			    "merge adds profiles up)");
	return 0;
}

static int open_input(struct input *in, const char *path, struct hlg_err *err)
{
	struct hlg_file_id id;

	if (strcmp(path, "-") != 0) {
		in->fd = hlg_file_open(path, &id, err);
		return in->fd < 0 ? in->fd : 0;
	}
	in->fd = STDIN_FILENO;
	return isatty(in->fd) ? fail(in, err, "is a terminal (pipe a profile into it)")
			      : 0;
}

int hlg_pprof_load(struct hlg_saved *saved, const char *path,
		   struct hlg_progress *progress, struct hlg_err *err)
{
	struct input *in = calloc(1, sizeof(*in));
	int rc;

	memset(saved, 0, sizeof(*saved));
	if (!in || inflateInit2(&in->z, GZIP) != Z_OK) {
		free(in);
		return hlg_err_memory(err, hlg_pprof_name(path));
	}
	in->name = hlg_pprof_name(path);
	in->progress = progress;
	rc = open_input(in, path, err);
	if (rc == 0)
		rc = inflate_all(in, err);
	if (in->fd > STDIN_FILENO)
		close(in->fd);
	inflateEnd(&in->z);
	if (rc == 0)
		rc = hlg_pprof_decode(saved, in->out, in->size, in->name, err);
	free(in->out);
	free(in);
	return rc;
}

/* Deflates data onto f, whose errors stay there. */
static int deflate_all(FILE *f, unsigned char *data, size_t size, struct hlg_err *err)
{
	unsigned char out[1 << 14];
	z_stream z = {.next_in = data, .avail_in = (uInt)size};
	int rc;

	if (size > HLG_SAVED_MAX_BYTES)
		return hlg_err_set(err, HLG_EINPUT,
				   "profile: is larger than %zu bytes (save it with "
				   "less in by=)",
				   HLG_SAVED_MAX_BYTES);
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

int hlg_pprof_write(const struct hlg_saved *saved, const char *path, FILE *stream,
		    struct hlg_err *err)
{
	unsigned char *data;
	struct hlg_out out;
	size_t size;
	int rc = hlg_pprof_encode(saved, &data, &size, err);

	if (rc < 0)
		return rc;
	rc = hlg_out_open(&out, path, stream, err);
	if (rc == 0) {
		rc = deflate_all(out.f, data, size, err);
		if (rc == 0)
			rc = hlg_out_commit(&out, err);
		else
			hlg_out_abort(&out);
	}
	free(data);
	return rc;
}
