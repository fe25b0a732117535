// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file of a saved profile: pprof's message in gzip's format (RFC 1952), which zlib
 * writes and checks. The whole of it is in memory.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "filter/output/out.h"
#include "symtab/file.h"
#include "tools/pprof/saved.h"

#ifndef HLG_SAVED_ROOM
#define HLG_SAVED_ROOM (1 << 18) /* bytes to read, and of the message, at first */
#endif

enum {
	GZIP = 15 + 16, /* window bits, and that it is gzip's format: zlib.h */
	/* Unpacked but for samples and stacks, which are looked at one by one, a profile
	 * takes up to 50 times its file's size beside the message; a small one may take
	 * anything. */
	SANE_RATIO = 64,
	SANE_MEMORY = 16 << 20
};

struct bytes {
	unsigned char *at;
	size_t n, room;
};

struct input {
	const char *name; /* for messages */
	struct hlg_progress *progress;
	int fd;
	struct bytes file, message;
};

const char *hlg_pprof_name(const char *path)
{
	return strcmp(path, "-") == 0 ? "standard input" : path;
}

int hlg_pprof_fail_samples(const char *path, struct hlg_err *err)
{
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: there would be more than 2^53 samples (are the files "
			   "what they seem?)",
			   path);
}

static int fail(const struct input *in, struct hlg_err *err, const char *problem)
{
	return hlg_err_set(err, HLG_EINPUT, "%s: %s", in->name, problem);
}

static int fail_large(const struct input *in, struct hlg_err *err)
{
	return fail(in, err,
		    "is larger than any profile of hlguest's (save it with less "
		    "in --by=)");
}

static int make_room(const struct input *in, struct bytes *bytes, struct hlg_err *err)
{
	size_t room = bytes->room ? 2 * bytes->room : HLG_SAVED_ROOM;
	unsigned char *at;

	if (bytes->n < bytes->room)
		return 0;
	at = realloc(bytes->at, room);
	if (!at)
		return hlg_err_memory(err, in->name);
	bytes->at = at;
	bytes->room = room;
	return 0;
}

/* The whole file; one that is too long for a profile is not read to its end. */
static int read_file(struct input *in, struct hlg_err *err)
{
	struct bytes *file = &in->file;
	ssize_t got = 1;
	int rc = 0;

	while (got != 0 && file->n <= HLG_SAVED_MAX_BYTES) {
		rc = make_room(in, file, err);
		if (rc < 0)
			return rc;
		got = read(in->fd, file->at + file->n, file->room - file->n);
		if (got < 0 && errno != EINTR)
			return hlg_err_set(err, HLG_ESYSTEM,
					   "%s: cannot be read: %s (try a copy)",
					   in->name, strerrordesc_np(errno));
		if (got > 0) {
			file->n += (size_t)got;
			hlg_progress_add(in->progress, (uint64_t)got, 0);
		}
	}
	if (file->n > HLG_SAVED_MAX_BYTES)
		return fail_large(in, err);
	return file->n ? 0 : fail(in, err, "is empty (save it again)");
}

static bool begins_with(const struct bytes *file, const char *magic)
{
	return file->n >= strlen(magic) && memcmp(file->at, magic, strlen(magic)) == 0;
}

/* zlib does not read on; the first bytes tell why. */
static int fail_inflate(const struct input *in, struct hlg_err *err, int z)
{
	if (z == Z_MEM_ERROR)
		return hlg_err_memory(err, in->name);
	if (z == Z_BUF_ERROR)
		return fail(in, err,
			    "is cut off, the gzip data have no end (copy it or save it "
			    "again)");
	if (begins_with(&in->file, "PERFILE2") || begins_with(&in->file, "2ELIFREP"))
		return fail(in, err,
			    "is a recording, not a saved profile (hlguest report "
			    "--format=pprof -o x.pb.gz guest.elf FILE saves one)");
	if (!begins_with(&in->file, "\x1f\x8b"))
		return fail(in, err,
			    "is not a saved profile, which gzip has compressed (hlguest "
			    "report --format=pprof -o x.pb.gz saves one)");
	return fail(in, err, "the gzip data are damaged (copy it or save it again)");
}

static int inflate_all(struct input *in, z_stream *z, struct hlg_err *err)
{
	struct bytes *to = &in->message;
	int rc, status = Z_OK;
	size_t room;

	while (status == Z_OK) {
		rc = make_room(in, to, err);
		if (rc < 0)
			return rc;
		room = to->room;
		if (room > HLG_SAVED_MAX_BYTES)
			room = HLG_SAVED_MAX_BYTES + 1;
		z->next_out = to->at + to->n;
		z->avail_out = (uInt)(room - to->n);
		status = inflate(z, Z_NO_FLUSH);
		to->n = room - z->avail_out;
		if (to->n > HLG_SAVED_MAX_BYTES)
			return fail_large(in, err);
	}
	if (status != Z_STREAM_END)
		return fail_inflate(in, err, status);
	if (z->avail_in)
		return fail(in, err,
			    "has something behind the end of its gzip data (hlguest "
			    "merge adds profiles up)");
	return 0;
}

static int read_message(struct input *in, struct hlg_err *err)
{
	z_stream z = {0};
	int rc = read_file(in, err);

	if (rc < 0)
		return rc;
	if (inflateInit2(&z, GZIP) != Z_OK)
		return hlg_err_memory(err, in->name);
	z.next_in = in->file.at;
	z.avail_in = (uInt)in->file.n;
	rc = inflate_all(in, &z, err);
	inflateEnd(&z);
	return rc;
}

static bool is_fifo(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISFIFO(st.st_mode);
}

static int open_input(struct input *in, const char *path, struct hlg_err *err)
{
	struct hlg_file_id id;

	if (strcmp(path, "-") != 0 && is_fifo(path)) {
		in->fd = hlg_file_open_any(path);
		return in->fd < 0 ? hlg_file_fail(path, errno, err) : 0;
	}
	if (strcmp(path, "-") != 0) {
		in->fd = hlg_file_open(path, &id, err);
		return in->fd < 0 ? in->fd : 0;
	}
	in->fd = STDIN_FILENO;
	return isatty(in->fd) ? fail(in, err, "is a terminal (pipe a profile into it)")
			      : 0;
}

/* What unpacking the message may take, in bytes. */
static size_t sane_memory(const struct input *in)
{
	return SANE_MEMORY + in->message.n + in->file.n * SANE_RATIO;
}

int hlg_pprof_load(struct hlg_saved *saved, const char *path,
		   struct hlg_progress *progress, struct hlg_err *err)
{
	struct input in = {.name = hlg_pprof_name(path), .progress = progress};
	int rc = open_input(&in, path, err);

	if (rc == 0)
		rc = read_message(&in, err);
	if (in.fd > STDIN_FILENO)
		close(in.fd);
	free(in.file.at);
	if (rc == 0)
		rc = hlg_pprof_decode(saved, in.message.at, in.message.n,
				      sane_memory(&in), in.name, err);
	free(in.message.at);
	return rc;
}

/* Deflates data into to, where errors of writing stay. */
static int deflate_all(struct hlg_out *to, unsigned char *data, size_t size,
		       struct hlg_err *err)
{
	z_stream z = {.next_in = data, .avail_in = (uInt)size};
	unsigned char *out;
	int rc = Z_MEM_ERROR;

	/* Without a header of its own zlib writes no name, and 0 for the time. */
	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return hlg_err_memory(err, "profile");
	z.avail_out = (uInt)deflateBound(&z, size);
	z.next_out = out = malloc(z.avail_out);
	if (out)
		rc = deflate(&z, Z_FINISH);
	if (rc == Z_STREAM_END)
		hlg_out_write(to, out, z.total_out);
	deflateEnd(&z);
	free(out);
	return rc == Z_STREAM_END ? 0 : hlg_err_memory(err, "profile");
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
		rc = deflate_all(&out, data, size, err);
		if (rc == 0)
			rc = hlg_out_commit(&out, err);
		else
			hlg_out_abort(&out);
	}
	free(data);
	return rc;
}
