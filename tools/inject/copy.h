/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The second look at a recording's records: all of them, in their order, into the new
 * file, guest samples rewritten. The processes these are given to come first (see
 * perfdata/writer.h).
 *
 * Of a directory (perf record --threads) the files follow each other, and so the marks
 * that perf sorts by (FINISHED_ROUND) would lie: they are left out. A record at the end
 * that is cut off is left out, too.
 */
#ifndef HLG_TOOLS_INJECT_COPY_H
#define HLG_TOOLS_INJECT_COPY_H

#include "tools/inject/files.h"
#include "tools/inject/mappings.h"
#include "tools/inject/scan.h"
#include "tools/perfdata/writer.h"

/* in = guest + host + other; guest = rewritten + dropped + kept. Records. */
struct hlg_copy_counts {
	uint64_t guest, rewritten, dropped;
	uint64_t kept; /* in gaps that are dropped, but with counter values perf needs */
	uint64_t host; /* samples */
	uint64_t other;
	uint64_t rounds;     /* of other: marks that were left out */
	uint64_t added;      /* of the new processes */
	uint64_t left_bytes; /* at the end: cut off */
};

struct hlg_copy {
	/* In. Not owned. */
	const struct hlg_space *space; /* settled */
	int gaps;                      /* enum hlg_gaps */
	const struct hlg_scan *scan;
	const struct hlg_mappings *mappings;
	size_t mapping; /* the next of them to be added */
	const struct hlg_files *files;
	int32_t offset; /* hlg_rewrite_offset() */
	/* Out. */
	struct hlg_copy_counts counts;
	/* Its own. */
	struct hlg_writer *writer;
	bool directory;
	uint64_t payload_at, payload_size; /* of the last AUXTRACE: where its record is */
	uint64_t payload_done;
	uint8_t room[UINT16_MAX + 1];
};

/* Writes the new processes and all records of pd, which was just opened. */
int hlg_copy_records(struct hlg_copy *copy, struct hlg_perfdata *pd,
		     struct hlg_writer *writer, struct hlg_err *err);

#endif
