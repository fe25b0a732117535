/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Good recordings outlive bad ones. perf renames FILE to FILE.old before it writes FILE,
 * whatever the two hold, and leaves an empty FILE if it cannot open its events. So that
 * the last good recording is FILE or FILE.old all the same, it is renamed before perf
 * runs: to FILE.old, and in vain to FILE.failed rather than in the place of a FILE.old.
 *
 * Of several that record into one FILE at a time each would take the other's for its own.
 * So perf writes into an empty file that is locked (flock(2)) until the next recording
 * begins, or this process ends; and by which it is known again.
 */
#ifndef HLG_TOOLS_RECORD_KEEP_H
#define HLG_TOOLS_RECORD_KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "symtab/err.h"

/* What to do where nobody has named FILE, as behind "hlguest --", where -o is the
 * report's. */
#define HLG_RECORD_KEEP_ELSEWHERE "work in another folder, or hlguest record -o FILE"

struct hlg_record_keep {
	const char *path;
	struct stat before; /* what FILE was; 0: there was none, or it is FILE.failed */
	bool lost;          /* it is not called FILE any more */
};

/* Call it before perf runs, and the others in this order behind it. Fails if another
 * records into FILE. */
int hlg_record_keep_begin(struct hlg_record_keep *keep, const char *path,
			  struct hlg_err *err);

/* Has perf written FILE? An empty one is none: it is removed, and what it replaced gets
 * its name again. Nor is one that another, which knows of no lock, has renamed. */
bool hlg_record_keep_is_new(struct hlg_record_keep *keep);

/* Call it when FILE has been written anew; false if another has taken its name. */
bool hlg_record_keep_renew(struct hlg_record_keep *keep);

/* Is what this path leads to the recording that this process has made last? */
bool hlg_record_keep_is_ours(const char *path);

/* Has perf, which failed, no room left where FILE is? What it wrote is cut off then. */
bool hlg_record_keep_is_full(const struct hlg_record_keep *keep);

/* Is FILE missing, or what it was? A device or a pipe is neither. */
bool hlg_record_keep_is_absent(const struct hlg_record_keep *keep);

/* Is FILE.old a good recording? Its name is in old then, of size bytes. */
bool hlg_record_keep_old(const struct hlg_record_keep *keep, char *old, size_t size);

#endif
