/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bytes of a recording through a window of fixed size: from a file, by pread(2), or
 * from a stream. Internal.
 */
#ifndef HLG_TOOLS_PERFDATA_SOURCE_H
#define HLG_TOOLS_PERFDATA_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symtab/err.h"

/*
 * Small enough to stay in a second-level cache between the copy and the walk: from 128
 * KiB to 4 MiB the cost is the same within 3 %, and nearly half that of a mapping.
 */
#ifndef HLG_WINDOW
#define HLG_WINDOW (256 * 1024)
#endif

struct hlg_perfdata_source {
	int fd;
	bool stream;    /* cannot seek */
	uint8_t *room;  /* HLG_RECORD_MAX + 1 for what was left, then HLG_WINDOW */
	uint64_t next;  /* offset in the file of what is read next */
	uint64_t limit; /* offset where the records end; UINT64_MAX: not known */
};

/* What has been read and not used up; at is moved by the user. */
struct hlg_window {
	const uint8_t *at, *end;
};

/*
 * The error of a read that failed with errno, path its subject; 0 there means that the
 * file is shorter than it was.
 */
int hlg_perfdata_source_errno(const char *path, struct hlg_err *err);

/* fd stays the caller's. False without memory. */
bool hlg_perfdata_source_init(struct hlg_perfdata_source *s, int fd, bool stream,
			      uint64_t from, uint64_t limit);
void hlg_perfdata_source_finish(struct hlg_perfdata_source *s);

/* Goes on elsewhere: forgets what was read. */
void hlg_perfdata_source_seek(struct hlg_perfdata_source *s, struct hlg_window *w,
			      uint64_t from, uint64_t limit);

/*
 * Reads more behind what is left of the window, at most HLG_RECORD_MAX bytes. Returns 1,
 * 0 at the end, -1 with errno. A file that has become shorter ends.
 */
int hlg_perfdata_source_fill(struct hlg_perfdata_source *s, struct hlg_window *w);

/*
 * Moves n bytes on; dst, if not NULL, gets them. Returns how many bytes there were (all,
 * but at the end), or -1 with errno.
 */
int64_t hlg_perfdata_source_take(struct hlg_perfdata_source *s, struct hlg_window *w,
				 void *dst, uint64_t n);

/* Offset in the file of w->at. */
static inline uint64_t hlg_perfdata_source_offset(const struct hlg_perfdata_source *s,
						  const struct hlg_window *w)
{
	return s->next - (uint64_t)(w->end - w->at);
}

#endif
