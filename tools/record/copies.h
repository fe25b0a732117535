/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Copies of guests' stacks: kept while perf records, and unwound when it has ended. Until
 * then they lie in a file without a name, readable by its user only, in the folder of the
 * recording; they never come into a recording. They take half of the room that the disk
 * has at first, at most: perf needs some, too.
 */
#ifndef HLG_TOOLS_RECORD_COPIES_H
#define HLG_TOOLS_RECORD_COPIES_H

#include <stdbool.h>
#include <stdio.h>

#include "symtab/err.h"
#include "tools/callers/join.h"

struct hlg_record_copies {
	FILE *f; /* NULL: not begun, or given up */
	uint64_t n, bytes, most;
	struct hlg_err why; /* of what was given up */
};

int hlg_record_copies_begin(struct hlg_record_copies *copies, const char *recording,
			    struct hlg_err *err);

/* False where there is no room: they are given up, and gone. */
bool hlg_record_copies_add(struct hlg_record_copies *copies,
			   const struct hlg_callers_copy *copy);

/*
 * Adds the stack of each copy to join, by the unwind tables of the guest, an ELF or a
 * host with one inside. Where it lies in the guest is found as for a report: from the
 * file, or from the recording.
 */
int hlg_record_copies_unwind(struct hlg_record_copies *copies, const char *recording,
			     const char *guest, struct hlg_join *join,
			     struct hlg_err *err);

/* Also of what is not begun, all 0. */
void hlg_record_copies_finish(struct hlg_record_copies *copies);

#endif
