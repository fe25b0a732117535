// SPDX-License-Identifier: GPL-2.0-only
#include "filter/output/memstream.h"

#include <stdlib.h>
#include <string.h>

enum {
	LEAST = 128
};

/* Room for n bytes more and a '\0'. */
static bool make_room(struct hlg_memstream *m, size_t n)
{
	size_t need = m->size + n + 1, room = m->room < LEAST ? LEAST : 2 * m->room;
	char *text;

	if (need <= m->room)
		return true;
	room = room < need ? need : room;
	text = realloc(m->text, room);
	if (!text)
		return false;
	m->text = text;
	m->room = room;
	return true;
}

/* Of fopencookie(3): 0 is an error. */
static ssize_t append(void *cookie, const char *bytes, size_t n)
{
	struct hlg_memstream *m = cookie;

	m->lost = m->lost || !make_room(m, n);
	if (m->lost)
		return 0;
	memcpy(m->text + m->size, bytes, n);
	m->size += n;
	m->text[m->size] = '\0';
	return (ssize_t)n;
}

/* Where it is, for ftell(3); it cannot go elsewhere. */
static int tell(void *cookie, off64_t *offset, int whence)
{
	const struct hlg_memstream *m = cookie;

	if (*offset != 0 || whence != SEEK_CUR)
		return -1;
	*offset = (off64_t)m->size;
	return 0;
}

FILE *hlg_memstream_open(struct hlg_memstream *m)
{
	*m = (struct hlg_memstream){0};
	m->f = fopencookie(m, "w",
			   (cookie_io_functions_t){.write = append, .seek = tell});
	return m->f;
}

size_t hlg_memstream_size(struct hlg_memstream *m)
{
	fflush(m->f);
	return m->size;
}

char *hlg_memstream_close(struct hlg_memstream *m)
{
	bool whole = m->f && fclose(m->f) == 0 && append(m, "", 0) == 0 && !m->lost;
	char *text = m->text;

	m->f = NULL;
	m->text = NULL;
	if (whole)
		return text;
	free(text);
	return NULL;
}
