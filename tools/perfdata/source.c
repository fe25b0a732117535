// SPDX-License-Identifier: GPL-2.0-only
#include "tools/perfdata/source.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/perfdata/format.h"

#define KEEP (HLG_RECORD_MAX + 1)

int hlg_perfdata_source_errno(const char *path, struct hlg_err *err)
{
	if (errno == 0)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: became shorter while it was read (is it still "
				   "being written?)",
				   path);
	return hlg_err_set(err, HLG_ESYSTEM, "%s: cannot be read: %s (%s)", path,
			   strerrordesc_np(errno),
			   errno == EISDIR ? "give a perf.data" : "try a copy");
}

bool hlg_perfdata_source_init(struct hlg_perfdata_source *s, int fd, bool stream,
			      uint64_t from, uint64_t limit)
{
	*s = (struct hlg_perfdata_source){
		.fd = fd, .stream = stream, .next = from, .limit = limit};
	s->room = malloc(KEEP + HLG_WINDOW);
	return s->room != NULL;
}

void hlg_perfdata_source_finish(struct hlg_perfdata_source *s)
{
	free(s->room);
	s->room = NULL;
}

void hlg_perfdata_source_seek(struct hlg_perfdata_source *s, struct hlg_window *w,
			      uint64_t from, uint64_t limit)
{
	s->next = from;
	s->limit = limit;
	w->at = w->end = s->room;
}

/* Up to n bytes; 0 at the end, -1 with errno. */
static ssize_t read_some(struct hlg_perfdata_source *s, void *dst, uint64_t n)
{
	ssize_t got;

	if (s->next >= s->limit)
		return 0;
	if (n > s->limit - s->next)
		n = s->limit - s->next;
	do
		got = s->stream ? read(s->fd, dst, n)
				: pread(s->fd, dst, n, (off_t)s->next);
	while (got < 0 && errno == EINTR);
	if (got > 0)
		s->next += (uint64_t)got;
	return got;
}

int hlg_perfdata_source_fill(struct hlg_perfdata_source *s, struct hlg_window *w)
{
	size_t left = (size_t)(w->end - w->at);
	uint8_t *to = s->room + KEEP;
	ssize_t got;

	assert(left < KEEP);
	if (left)
		memmove(to - left, w->at, left);
	w->at = to - left;
	w->end = to;
	got = read_some(s, to, HLG_WINDOW);
	if (got > 0)
		w->end += got;
	return got > 0 ? 1 : (int)got;
}

int64_t hlg_perfdata_source_take(struct hlg_perfdata_source *s, struct hlg_window *w,
				 void *dst, uint64_t n)
{
	uint64_t here = (uint64_t)(w->end - w->at), todo;
	uint8_t *to = dst;
	ssize_t got;

	if (here > n)
		here = n;
	if (to && here)
		memcpy(to, w->at, here);
	w->at += here;
	todo = n - here;
	if (todo && !to && !s->stream) {
		uint64_t there = s->limit > s->next ? s->limit - s->next : 0;

		there = there < todo ? there : todo;
		s->next += there;
		return (int64_t)(here + there);
	}
	for (; todo; todo -= (uint64_t)got) {
		uint64_t step = to || todo < HLG_WINDOW ? todo : HLG_WINDOW;

		/* The window is used up: its room is free. */
		got = read_some(s, to ? to + (n - todo) : s->room, step);
		if (got <= 0)
			return got < 0 ? -1 : (int64_t)(n - todo);
	}
	return (int64_t)n;
}
