// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bytes that are walked: of the file, through a window of fixed size (by pread(2), or
 * from a stream), or of a compressed record while it is used up.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/perfdata/reader.h"

#if HLG_HAVE_ZSTD
#include <zstd.h>
#endif

#define KEEP (HLG_RECORD_MAX + 1)

int hlg_window_errno(const char *path, struct hlg_err *err)
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

/*
 * Reads more behind what is left of the window, at most HLG_RECORD_MAX bytes. Returns 1,
 * 0 at the end, -1 with errno. A file that has become shorter ends.
 */
static int source_fill(struct hlg_perfdata_source *s, struct hlg_window *w)
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

/*
 * Moves n bytes on; dst, if not NULL, gets them. Returns how many bytes there were (all,
 * but at the end), or -1 with errno.
 */
static int64_t source_take(struct hlg_perfdata_source *s, struct hlg_window *w, void *dst,
			   uint64_t n)
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

/* Offset in the file of w->at. */
static uint64_t source_offset(const struct hlg_perfdata_source *s,
			      const struct hlg_window *w)
{
	return s->next - (uint64_t)(w->end - w->at);
}

/* What is to be walked, and is not yet. */
static struct hlg_window rest(const struct hlg_perfdata *pd)
{
	return (struct hlg_window){pd->walk.at, pd->hard_end};
}

/* What is to be walked next, as far as it is in the range. */
static void set(struct hlg_perfdata *pd, struct hlg_window w)
{
	uint64_t here, ahead;

	pd->walk.at = w.at;
	pd->walk.end = pd->hard_end = w.end;
	if (pd->range_to == UINT64_MAX || pd->unzipping)
		return;
	here = source_offset(&pd->source, &w);
	ahead = pd->range_to > here ? pd->range_to - here : 0;
	if (ahead < (uint64_t)(w.end - w.at))
		pd->walk.end = w.at + ahead;
}

uint64_t hlg_window_offset(const struct hlg_perfdata *pd)
{
	struct hlg_window w = rest(pd);

	return source_offset(&pd->source, pd->unzipping ? &pd->raw : &w);
}

bool hlg_window_past_range(const struct hlg_perfdata *pd)
{
	return pd->range_to != UINT64_MAX && !pd->unzipping &&
	       hlg_window_offset(pd) >= pd->range_to;
}

uint64_t hlg_perfdata_tell(const struct hlg_perfdata *pd)
{
	return hlg_window_offset(pd);
}

#if HLG_HAVE_ZSTD
/*
 * Compressed records (perf record -z): one zstd stream over all of a file's, whose output
 * is records again. They may begin in one compressed record and end in another.
 */
struct hlg_unzip {
	ZSTD_DCtx *context;
	ZSTD_inBuffer in;
	bool full; /* the last call filled all the room: there may be more inside */
	uint8_t room[KEEP + HLG_WINDOW];
};

static struct hlg_unzip *unzip_create(void)
{
	struct hlg_unzip *u = calloc(1, sizeof(*u));

	if (u)
		u->context = ZSTD_createDCtx();
	if (!u || u->context)
		return u;
	free(u);
	return NULL;
}

/*
 * Puts more output behind what is left of the window (at most HLG_RECORD_MAX bytes).
 * Returns 1, 0 when all that was fed is used up, -1 if it is no zstd stream.
 */
static int inflate(struct hlg_unzip *u, struct hlg_window *w)
{
	ZSTD_outBuffer out = {u->room + KEEP, HLG_WINDOW, 0};
	size_t left = (size_t)(w->end - w->at);

	assert(left < KEEP);
	if (left)
		memmove(u->room + KEEP - left, w->at, left);
	while ((u->in.pos < u->in.size || u->full) && out.pos < out.size) {
		size_t in = u->in.pos, was = out.pos;

		if (ZSTD_isError(ZSTD_decompressStream(u->context, &out, &u->in)))
			return -1;
		u->full = out.pos == out.size;
		if (u->in.pos == in && out.pos == was)
			break;
	}
	w->at = u->room + KEEP - left;
	w->end = u->room + KEEP + out.pos;
	return out.pos > 0;
}

static int unzip_more(struct hlg_perfdata *pd, struct hlg_err *err)
{
	struct hlg_window w = rest(pd);
	int rc = inflate(pd->unzip, &w);

	if (rc < 0)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: compressed records before offset %ju are damaged "
				   "(record again)",
				   pd->path, (uintmax_t)hlg_window_offset(pd));
	if (rc == 0) {
		pd->unzipping = false;
		pd->unzipped = w;
		w = pd->raw;
	}
	set(pd, w);
	return 1;
}

int hlg_window_unzip(struct hlg_perfdata *pd, const uint8_t *data, size_t n,
		     struct hlg_err *err)
{
	if (!pd->unzip)
		pd->unzip = unzip_create();
	if (!pd->unzip)
		return hlg_err_memory(err, pd->path);
	pd->host.compressed = true;
	pd->unzip->in = (ZSTD_inBuffer){data, n, 0};
	pd->raw = rest(pd);
	pd->unzipping = true;
	set(pd, pd->unzipped);
	return 0;
}

static void unzip_restart(struct hlg_unzip *u)
{
	if (!u)
		return;
	ZSTD_DCtx_reset(u->context, ZSTD_reset_session_only);
	u->in = (ZSTD_inBuffer){0};
	u->full = false;
}

static void unzip_destroy(struct hlg_unzip *u)
{
	if (u)
		ZSTD_freeDCtx(u->context);
	free(u);
}
#else
int hlg_window_unzip(struct hlg_perfdata *pd, const uint8_t *data, size_t n,
		     struct hlg_err *err)
{
	(void)data, (void)n, (void)err;
	pd->counts.no_zstd++;
	return 0;
}

static int unzip_more(struct hlg_perfdata *pd, struct hlg_err *err)
{
	(void)pd, (void)err;
	return 0; /* never: nothing is being decompressed */
}

static void unzip_restart(struct hlg_unzip *u)
{
	(void)u;
}

static void unzip_destroy(struct hlg_unzip *u)
{
	(void)u;
}
#endif

int hlg_window_start(struct hlg_perfdata *pd, bool stream, struct hlg_err *err)
{
	pd->source = (struct hlg_perfdata_source){.fd = pd->fd, .stream = stream};
	pd->source.room = malloc(KEEP + HLG_WINDOW);
	if (!pd->source.room)
		return hlg_err_memory(err, pd->path);
	hlg_window_seek(pd, pd->from, pd->limit);
	return 0;
}

void hlg_window_seek(struct hlg_perfdata *pd, uint64_t from, uint64_t limit)
{
	uint8_t *room = pd->source.room;

	pd->source.next = pd->part_from = from;
	pd->source.limit = limit;
	set(pd, (struct hlg_window){room, room});
}

void hlg_window_open(struct hlg_perfdata *pd, int fd, uint64_t size)
{
	pd->source.fd = fd;
	unzip_restart(pd->unzip);
	pd->unzipped = (struct hlg_window){0};
	hlg_window_seek(pd, 0, size);
}

void hlg_window_finish(struct hlg_perfdata *pd)
{
	unzip_destroy(pd->unzip);
	free(pd->source.room);
}

int hlg_window_fill(struct hlg_perfdata *pd, struct hlg_err *err)
{
	struct hlg_window w = rest(pd);
	int rc;

	if (pd->unzipping)
		return unzip_more(pd, err);
	rc = source_fill(&pd->source, &w);
	set(pd, w);
	return rc < 0 ? hlg_window_errno(pd->path, err) : rc;
}

/* Hands n bytes on to the sink. Returns how many there were, or an error. */
static int64_t hand_on(struct hlg_perfdata *pd, struct hlg_window *w, uint64_t n,
		       struct hlg_err *err)
{
	uint8_t some[16384];
	uint64_t done = 0;

	while (done < n) {
		uint64_t now = n - done < sizeof(some) ? n - done : sizeof(some);
		int64_t got = source_take(&pd->source, w, some, now);
		int rc;

		if (got < 0)
			return hlg_window_errno(pd->path, err);
		rc = pd->sink->payload(pd->ctx, some, (size_t)got, err);
		if (rc < 0)
			return rc;
		done += (uint64_t)got;
		if ((uint64_t)got < now)
			break;
	}
	return (int64_t)done;
}

int64_t hlg_window_take(struct hlg_perfdata *pd, void *dst, uint64_t n,
			struct hlg_err *err)
{
	struct hlg_window w = rest(pd);
	int64_t got;

	if (pd->unzipping)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: compressed records hold what is never compressed "
				   "(damaged; record again)",
				   pd->path);
	if (!dst && pd->sink && pd->sink->payload) {
		got = hand_on(pd, &w, n, err);
		if (got < 0)
			return got;
	} else {
		got = source_take(&pd->source, &w, dst, n);
	}
	if (got < 0)
		return hlg_window_errno(pd->path, err);
	set(pd, w);
	return got;
}
