/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording written from another one: its events and facts as they are, records as the
 * caller says. File mode is written as file mode, in the order perf record has: header,
 * ids, attributes, records, facts; pipe mode as pipe mode. Not written: facts that tell
 * how the old file was stored (compressed, in a directory, where its AUX records stand).
 *
 *	rc = hlg_writer_begin(&w, f, "out.data", &sections, &err);
 *	... hlg_writer_put(&w, record, size) ...
 *	rc = hlg_writer_finish(&w, &sections, &err);
 *
 * Everything goes through a buffer, larger than the page that a stream has; memory does
 * not grow with the file. A write that fails is told by finish.
 */
#ifndef HLG_TOOLS_PERFDATA_WRITER_H
#define HLG_TOOLS_PERFDATA_WRITER_H

#include <stdio.h>
#include <string.h>

#include "tools/perfdata/sections.h"

struct hlg_writer {
	FILE *f;
	const char *path;  /* for messages; not owned */
	uint64_t start;    /* offset of the first record */
	uint64_t at;       /* offset of the next byte */
	uint64_t attrs_at; /* of the attributes */
	uint64_t has[HLG_FEATURES / 64];
	/* Entries for the build-id feature, of hlg_synth_build_id(); not owned. */
	const uint8_t *build_ids;
	size_t build_ids_size;
	size_t n;               /* bytes in the buffer */
	uint8_t buffer[131072]; /* what is not written yet */
};

/* f: empty, and one that can seek unless sections->pipe. It stays the caller's. */
int hlg_writer_begin(struct hlg_writer *w, FILE *f, const char *path,
		     const struct hlg_sections *sections, struct hlg_err *err);

/* Writes what is in the buffer; the same, and then what may be too large for it. */
void hlg_writer_flush(struct hlg_writer *w);
void hlg_writer_large(struct hlg_writer *w, const void *bytes, size_t n);

/* A record, or what follows it. */
static inline void hlg_writer_put(struct hlg_writer *w, const void *bytes, size_t n)
{
	w->at += n;
	if (n > sizeof(w->buffer) - w->n) {
		hlg_writer_large(w, bytes, n);
		return;
	}
	memcpy(w->buffer + w->n, bytes, n);
	w->n += n;
}

/* Goes back to an offset that w->at had: what was written behind is taken back. */
int hlg_writer_rewind(struct hlg_writer *w, uint64_t at, struct hlg_err *err);

/* Facts, then the header again, which has the size of the records. */
int hlg_writer_finish(struct hlg_writer *w, const struct hlg_sections *sections,
		      struct hlg_err *err);

#endif
