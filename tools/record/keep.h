/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Good recordings outlive bad ones. perf renames FILE to FILE.old before it writes FILE,
 * whatever the two hold, and leaves an empty FILE if it cannot open its events. So that
 * the last good recording is FILE or FILE.old all the same, a FILE in vain steps aside,
 * to FILE.failed, before perf would put it in the place of FILE.old.
 */
#ifndef HLG_TOOLS_RECORD_KEEP_H
#define HLG_TOOLS_RECORD_KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* What FILE was before perf ran. */
struct hlg_record_keep {
	const char *path;
	struct stat before; /* 0: there was none */
};

/* Call it before perf runs, and the others in this order behind it. */
void hlg_record_keep_begin(struct hlg_record_keep *keep, const char *path);

/* Has perf, which ended with this status, written FILE? An empty one of a perf that
 * failed is none: it is removed, and what it replaced gets its name again. */
bool hlg_record_keep_is_new(const struct hlg_record_keep *keep, int status);

/* Has perf, which failed, no room left where FILE is? What it wrote is cut off then. */
bool hlg_record_keep_is_full(const struct hlg_record_keep *keep);

/* Is FILE missing, or what it was? A device or a pipe is neither. */
bool hlg_record_keep_is_absent(const struct hlg_record_keep *keep);

/* Is FILE.old a good recording? Its name is in old then, of size bytes. */
bool hlg_record_keep_old(const struct hlg_record_keep *keep, char *old, size_t size);

#endif
