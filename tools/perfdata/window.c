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

/* Bytes that each compressed byte may become, and those that are free. */
#define MAX_GROWTH 1024
#define FREE       ((uint64_t)64 << 20)

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
		got = s->through  ? s->through->read(s->through->ctx, dst, n)
		      : s->stream ? read(s->fd, dst, n)
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

/* Leaves out up to n bytes behind the window, where nobody wants to see them. */
static uint64_t source_skip(struct hlg_perfdata_source *s, uint64_t n)
{
	uint64_t there = s->limit > s->next ? s->limit - s->next : 0;

	if (s->stream)
		return 0;
	n = n < there ? n : there;
	s->next += n;
	return n;
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
	uint64_t taken, given; /* bytes, of all of the recording */
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

/* Is what came out within reason? Samples become 3 to 30 times smaller, and a few hundred
 * where each has the same 64 KiB of stack; what says nothing, 30,000. */
static bool is_in_proportion(const struct hlg_unzip *u)
{
	return u->given <= FREE || (u->given - FREE) / MAX_GROWTH <= u->taken;
}

/*
 * Puts more output behind what is left of the window (at most HLG_RECORD_MAX bytes).
 * Returns 1, 0 when all that was fed is used up, -1 if it is no zstd stream, or one that
 * grows too much.
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
		u->taken += u->in.pos - in;
		u->given += out.pos - was;
		if (!is_in_proportion(u))
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

	if (rc < 0 && !is_in_proportion(pd->unzip))
		return hlg_err_set(
			err, HLG_EINPUT,
			"%s: compressed records before offset %ju grow to more "
			"than %d times their size (damaged; record again)",
			pd->path, (uintmax_t)hlg_window_offset(pd), MAX_GROWTH);
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
	pd->source = (struct hlg_perfdata_source){
		.fd = pd->fd, .stream = stream, .through = pd->through};
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

int hlg_window_drain(struct hlg_perfdata *pd, uint64_t *bytes, struct hlg_err *err)
{
	struct hlg_window w = pd->unzipping ? pd->raw : rest(pd);
	int rc = 1;

	pd->unzipping = false;
	for (*bytes = 0; rc > 0; rc = source_fill(&pd->source, &w)) {
		*bytes += (uint64_t)(w.end - w.at);
		w.at = w.end;
	}
	set(pd, w);
	return rc < 0 ? hlg_window_errno(pd->path, err) : 0;
}

int64_t hlg_window_take(struct hlg_perfdata *pd, uint8_t *dst, uint64_t n,
			struct hlg_err *err)
{
	bool hand_on = !dst && pd->sink && pd->sink->payload;
	struct hlg_window w = rest(pd);
	uint64_t todo = n;
	int rc = 1;

	if (pd->unzipping)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: compressed records hold what is never compressed "
				   "(damaged; record again)",
				   pd->path);
	while (todo && rc > 0) {
		size_t here = (size_t)(w.end - w.at), now = here < todo ? here : todo;
		int told =
			hand_on && now ? pd->sink->payload(pd->ctx, w.at, now, err) : 0;

		if (told < 0)
			return told;
		if (dst && now)
			memcpy(dst + (n - todo), w.at, now);
		w.at += now;
		todo -= now;
		if (!dst && !hand_on)
			todo -= source_skip(&pd->source, todo);
		if (todo)
			rc = source_fill(&pd->source, &w);
	}
	set(pd, w);
	return rc < 0 ? hlg_window_errno(pd->path, err) : (int64_t)(n - todo);
}
