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

#include "filter/trust/proof.h"
#include "tools/inject/files.h"
#include "tools/inject/mappings.h"
#include "tools/inject/scan.h"
#include "tools/perfdata/writer.h"

/* Bytes of a record, at most. */
#define HLG_COPY_MAX (UINT16_MAX + 1)

/* By whom callers are mended as the report has them. */
struct hlg_copy_callers {
	struct hlg_stacks *stacks; /* takes the chains; not owned */
	struct hlg_proof *proof;   /* of the stacks; not owned */
	bool failed;               /* there was no memory: some stay as recorded */
	uint64_t words[2 * HLG_CHAIN_MAX];
};

/* in = guest + host + traced + other; guest = rewritten + dropped + kept + unwanted.
 * Records. */
struct hlg_copy_counts {
	uint64_t guest, rewritten, dropped;
	uint64_t kept; /* in gaps that are dropped, but with counter values perf needs */
	uint64_t unwanted; /* not selected: as they are */
	uint64_t host;     /* samples, but for */
	uint64_t traced;   /* hits of tracepoints */
	uint64_t other;
	uint64_t rounds; /* of other: marks that were left out */
	uint64_t added;  /* of the new processes */
};

struct hlg_copy {
	/* In. Not owned. */
	const struct hlg_space *space;   /* settled */
	int gaps;                        /* enum hlg_gaps */
	const struct hlg_choice *choice; /* of guest samples */
	const struct hlg_scan *scan;
	const struct hlg_mappings *mappings;
	size_t mapping; /* the next of them to be added */
	const struct hlg_files *files;
	int32_t offset; /* hlg_copy_offset() */
	struct hlg_copy_callers callers;
	/* Out. */
	struct hlg_copy_counts counts;
	/* Its own. */
	struct hlg_writer *writer;
	bool directory;
	uint64_t payload_at, payload_size; /* of the last AUXTRACE: where its record is */
	uint64_t payload_done;
	uint8_t room[HLG_COPY_MAX];
};

/*
 * The number above all processes and threads of a recording, a power of ten, that is
 * added to the numbers of the new ones: 16290 becomes 10016290. highest: of all that are
 * in the recording. 0 if there is no room for it: highest has ten digits.
 *
 * Linux has no process above 4194304 (PID_MAX_LIMIT, linux/threads.h), so that it is
 * 10000000 but for a recording that was rewritten before.
 */
int32_t hlg_copy_offset(int32_t highest);

/* The number of the new process (or thread) of a VMM's. -1, not known, has one, too. */
static inline int32_t hlg_copy_id(int32_t offset, int32_t id)
{
	return id < 0 ? 2 * offset - 1 : offset + id;
}

/*
 * Turns a guest sample with pid and tid into a user sample of another process; returns
 * its size. What changes is
 *
 * - the mode: PERF_RECORD_MISC_USER;
 * - pid and tid, by hlg_copy_id;
 * - the callchain, if the event has one. The host records none for a guest, only markers
 *   of contexts without an address; perf would then show no frame at all. It becomes the
 *   sample's own address in the context of a user. Where there are addresses, a guest's
 *   contexts become a user's, and its callers those of the report (filter/trust/proof.h):
 *   a caller that was proved to be missing is there, and one that was refused is not.
 *   They are in the call, not behind it, so that perf finds the function that calls;
 * - registers and stack of the user, for events that have a stack: they are the VMM's,
 *   and perf would unwind it as if it ran in the guest. They are left out.
 *
 * Everything else stays, ids and counter values among it. Without callers, which may be
 * NULL, and where the record has no room, callers stay as they were recorded.
 */
size_t hlg_copy_sample(uint8_t to[static HLG_COPY_MAX], const uint8_t *record,
		       uint16_t size, const struct hlg_perfdata_layout *layout,
		       int32_t offset, struct hlg_copy_callers *callers);

/* Writes the new processes and all records of pd, which was just opened. */
int hlg_copy_records(struct hlg_copy *copy, struct hlg_perfdata *pd,
		     struct hlg_writer *writer, struct hlg_err *err);

#endif
