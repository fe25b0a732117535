/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording written from another one: its events and facts as they are, records as the
 * caller says. File mode is written as file mode, in the order perf record has: header,
 * ids, attributes, records, facts; pipe mode as pipe mode. Not written: facts that tell
 * how the old file was stored (compressed, in a directory, where its AUX records stand),
 * and in pipe mode those that are empty or that only perf 7 knows.
 *
 *	rc = hlg_writer_begin(&w, f, "out.data", pd, &err);
 *	... hlg_writer_put(&w, record, size) ...
 *	rc = hlg_writer_finish(&w, &err);
 *
 * Records that nobody recorded are made as perf makes them up for processes that ran
 * before it: their time is 0, so perf takes them before anything else, and their id is 0,
 * which is every event's (linux/perf_event.h, PERF_RECORD_COMM, _MMAP2, struct
 * sample_id).
 *
 * Everything goes through a buffer, larger than the page that a stream has; memory does
 * not grow with the file. A write that fails is told by finish, and before by check.
 */
#ifndef HLG_TOOLS_PERFDATA_WRITER_H
#define HLG_TOOLS_PERFDATA_WRITER_H

#include <linux/limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tools/perfdata/format.h"
#include "tools/perfdata/perfdata.h"

struct hlg_writer {
	const struct hlg_perfdata *pd; /* the old one; not owned */
	FILE *f;
	const char *path;   /* for messages; not owned */
	uint64_t start;     /* offset of the first record */
	uint64_t at;        /* offset of the next byte */
	uint64_t attrs_at;  /* of the attributes */
	uint64_t attr_size; /* of each, without where its ids are */
	uint64_t has[HLG_FEATURES / 64];
	/* Entries for the build-id feature, of hlg_writer_build_id(); not owned. */
	const uint8_t *build_ids;
	size_t build_ids_size;
	int error;              /* of the first write that failed, an errno; or 0 */
	uint32_t cpus;          /* hlg_writer_cpus(); 0: not known */
	size_t n;               /* bytes in the buffer */
	uint8_t buffer[131072]; /* what is not written yet */
};

/*
 * PERF_ATTR_SIZE_VER7, of Linux 5.13: a perf refuses attributes that are larger than its
 * own. Larger ones are written that small if their rest is zero in all events.
 */
#define HLG_WRITER_ATTR ((size_t)128)

/*
 * pd: a regular file or a directory, just opened. f: empty, and one that can seek unless
 * pd is in pipe mode. Both stay the caller's.
 */
int hlg_writer_begin(struct hlg_writer *w, FILE *f, const char *path,
		     const struct hlg_perfdata *pd, struct hlg_err *err);

/* Writes what is in the buffer; the same, and then what may be too large for it. */
void hlg_writer_flush(struct hlg_writer *w);
void hlg_writer_large(struct hlg_writer *w, const void *bytes, size_t n);

/* Fails if a write has. */
int hlg_writer_check(const struct hlg_writer *w, struct hlg_err *err);

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

/*
 * Takes note of a record HLG_RECORD_CPU_MAP, which says on which CPUs the events were. A
 * recording that was cut off does not tell how many there are (HLG_FEATURE_NRCPUS): the
 * new one has as many as it takes to have these, since perf 7.2 warns where it is not
 * told.
 */
void hlg_writer_cpus(struct hlg_writer *w, const uint8_t *record, size_t size);

/* Goes back to an offset that w->at had: what was written behind is taken back. */
int hlg_writer_rewind(struct hlg_writer *w, uint64_t at, struct hlg_err *err);

/* Facts, then the header again, which has the size of the records. */
int hlg_writer_finish(struct hlg_writer *w, struct hlg_err *err);

#define HLG_BUILD_ID_MAX 20 /* bytes that a record has room for */

/* Fixed parts, a name with its NUL, a trailer of six fields, and room to align. */
#define HLG_WRITER_RECORD_MAX (72 + PATH_MAX + 8 + 6 * 8 + 64)

/*
 * Bytes that records but samples end with, by the recording's first event: perf looks
 * there for those of id 0.
 */
size_t hlg_writer_trailer(const struct hlg_perfdata *pd);

/* A name that is too long (PATH_MAX) is cut. Returns the record's size. */
size_t hlg_writer_comm(uint8_t record[static HLG_WRITER_RECORD_MAX], int32_t pid,
		       int32_t tid, const char *name, size_t trailer);

struct hlg_writer_map {
	int32_t pid;
	uint64_t start, size, file_offset; /* bytes */
	bool exec;                         /* else only readable */
	const char *path;
	const uint8_t *build_id; /* NULL: not told */
	size_t build_id_size;    /* at most HLG_BUILD_ID_MAX */
};

size_t hlg_writer_mmap2(uint8_t record[static HLG_WRITER_RECORD_MAX],
			const struct hlg_writer_map *map, size_t trailer);

/* An entry of the build-id feature: of a file that user processes map. */
size_t hlg_writer_build_id(uint8_t entry[static HLG_WRITER_RECORD_MAX], const char *path,
			   const uint8_t *build_id, size_t build_id_size);

#endif
