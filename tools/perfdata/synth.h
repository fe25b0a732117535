/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records that nobody recorded, as perf itself makes them up for processes that ran
 * before it: their time is 0, so perf takes them before anything else, and their id is 0,
 * which is every event's (linux/perf_event.h, PERF_RECORD_COMM, _MMAP2, struct
 * sample_id).
 */
#ifndef HLG_TOOLS_PERFDATA_SYNTH_H
#define HLG_TOOLS_PERFDATA_SYNTH_H

#include <linux/limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/perfdata/format.h"
#include "tools/perfdata/perfdata.h"

#define HLG_BUILD_ID_MAX 20 /* bytes that a record has room for */

/* Fixed parts, a name with its NUL, a trailer of six fields, and room to align. */
#define HLG_SYNTH_MAX (72 + PATH_MAX + 8 + 6 * 8 + 64)

/*
 * Bytes that records but samples end with, by the recording's first event: perf looks
 * there for those of id 0.
 */
size_t hlg_synth_trailer(const struct hlg_perfdata *pd);

/* A name that is too long (PATH_MAX) is cut. Returns the record's size. */
size_t hlg_synth_comm(uint8_t record[static HLG_SYNTH_MAX], int32_t pid, int32_t tid,
		      const char *name, size_t trailer);

struct hlg_synth_map {
	int32_t pid;
	uint64_t start, size, file_offset; /* bytes */
	bool exec;                         /* else only readable */
	const char *path;
	const uint8_t *build_id; /* NULL: not told */
	size_t build_id_size;    /* at most HLG_BUILD_ID_MAX */
};

size_t hlg_synth_mmap2(uint8_t record[static HLG_SYNTH_MAX],
		       const struct hlg_synth_map *map, size_t trailer);

/* An entry of the build-id feature: of a file that user processes map. */
size_t hlg_synth_build_id(uint8_t entry[static HLG_SYNTH_MAX], const char *path,
			  const uint8_t *build_id, size_t build_id_size);

#endif
