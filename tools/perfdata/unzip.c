// SPDX-License-Identifier: GPL-2.0-only
#include "tools/perfdata/unzip.h"

#if HLG_HAVE_ZSTD
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "tools/perfdata/format.h"

#define KEEP (HLG_RECORD_MAX + 1)

struct hlg_unzip {
	ZSTD_DCtx *context;
	ZSTD_inBuffer in;
	bool full; /* the last call filled all the room: there may be more inside */
	uint8_t room[KEEP + HLG_WINDOW];
};

bool hlg_unzip_possible(void)
{
	return true;
}

struct hlg_unzip *hlg_unzip_create(void)
{
	struct hlg_unzip *u = calloc(1, sizeof(*u));

	if (u)
		u->context = ZSTD_createDCtx();
	if (!u || u->context)
		return u;
	free(u);
	return NULL;
}

void hlg_unzip_destroy(struct hlg_unzip *u)
{
	if (u)
		ZSTD_freeDCtx(u->context);
	free(u);
}

void hlg_unzip_restart(struct hlg_unzip *u)
{
	ZSTD_DCtx_reset(u->context, ZSTD_reset_session_only);
	u->in = (ZSTD_inBuffer){0};
	u->full = false;
}

void hlg_unzip_feed(struct hlg_unzip *u, const void *data, size_t size)
{
	u->in = (ZSTD_inBuffer){data, size, 0};
}

int hlg_unzip_more(struct hlg_unzip *u, struct hlg_window *w)
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

#else

#include <stddef.h>

bool hlg_unzip_possible(void)
{
	return false;
}

struct hlg_unzip *hlg_unzip_create(void)
{
	return NULL;
}

void hlg_unzip_destroy(struct hlg_unzip *u)
{
	(void)u;
}

void hlg_unzip_restart(struct hlg_unzip *u)
{
	(void)u;
}

void hlg_unzip_feed(struct hlg_unzip *u, const void *data, size_t size)
{
	(void)u;
	(void)data;
	(void)size;
}

int hlg_unzip_more(struct hlg_unzip *u, struct hlg_window *w)
{
	(void)u;
	(void)w;
	return -1;
}

#endif
