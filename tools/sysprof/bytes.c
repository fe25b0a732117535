// SPDX-License-Identifier: GPL-2.0-only
#include "tools/sysprof/bytes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symtab/file.h"

int hlg_bytes_open(struct hlg_bytes *b, const char *path, struct hlg_err *err)
{
	struct hlg_file_id id;
	int fd;

	*b = (struct hlg_bytes){.path = path, .err = err};
	if (strcmp(path, "-") == 0) {
		b->path = "standard input";
		b->f = stdin;
		return 0;
	}
	fd = hlg_file_open(path, &id, err);
	if (fd < 0)
		return fd;
	b->f = fdopen(fd, "rb");
	if (b->f)
		return 0;
	close(fd);
	return hlg_err_memory(err, path);
}

void hlg_bytes_finish(struct hlg_bytes *b)
{
	if (b->f && b->f != stdin)
		fclose(b->f);
	free(b->text);
}

/* Behind a read that gave less than was asked for. */
static int no_more(const struct hlg_bytes *b)
{
	if (!ferror(b->f))
		return 0;
	return hlg_err_set(b->err, HLG_ESYSTEM, "%s: cannot be read: %s (try a copy)",
			   b->path, strerrordesc_np(errno));
}

int hlg_bytes_bad(const struct hlg_bytes *b, uint64_t at, const char *what)
{
	return hlg_err_set(b->err, HLG_EINPUT,
			   "%s: byte %" PRIu64 ": %s (the stream is damaged)", b->path,
			   at, what);
}

int hlg_bytes_u8(struct hlg_bytes *b, uint8_t *value)
{
	int c = getc_unlocked(b->f);

	if (c == EOF)
		return no_more(b);
	b->at++;
	*value = (uint8_t)c;
	return 1;
}

int hlg_bytes_uleb(struct hlg_bytes *b, uint64_t *value)
{
	uint64_t start = b->at;
	uint8_t byte;
	int rc;

	*value = 0;
	for (unsigned shift = 0;; shift += 7) {
		rc = hlg_bytes_u8(b, &byte);
		if (rc <= 0)
			return rc;
		if (shift == 63 && byte > 1)
			return hlg_bytes_bad(b, start, "a number of more than 64 bits");
		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return 1;
	}
}

static int make_room(struct hlg_bytes *b, size_t need)
{
	size_t room = b->room ? b->room : 256;
	char *text;

	if (need <= b->room)
		return 1;
	while (room < need)
		room *= 2;
	text = realloc(b->text, room);
	if (!text)
		return hlg_err_memory(b->err, b->path);
	b->text = text;
	b->room = room;
	return 1;
}

/* Room grows with what is really there, not with what a length says. */
int hlg_bytes_string(struct hlg_bytes *b)
{
	uint64_t start = b->at, len;
	int rc = hlg_bytes_uleb(b, &len);
	size_t n = 0;
	uint8_t byte;

	if (rc > 0 && len > HLG_BYTES_MAX_STRING)
		return hlg_bytes_bad(b, start, "a name of more than 16 MiB");
	if (rc > 0)
		rc = make_room(b, 1);
	for (uint64_t i = 0; rc > 0 && i < len; i++) {
		rc = hlg_bytes_u8(b, &byte);
		if (rc > 0)
			rc = make_room(b, n + sizeof("\\x00"));
		if (rc <= 0)
			return rc;
		if (byte)
			b->text[n++] = (char)byte;
		else
			n += (size_t)sprintf(b->text + n, "\\x00");
	}
	if (rc > 0)
		b->text[n] = '\0';
	return rc;
}

int hlg_bytes_drain(struct hlg_bytes *b, uint64_t *n)
{
	uint64_t start = b->at;
	char room[4096];
	size_t got;

	while ((got = fread(room, 1, sizeof(room), b->f)) > 0)
		b->at += got;
	*n = b->at - start;
	return no_more(b);
}
