/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compressed records (perf record -z): one zstd stream over all of a file's, whose output
 * is records again. They may begin in one compressed record and end in another. Internal.
 */
#ifndef HLG_TOOLS_PERFDATA_UNZIP_H
#define HLG_TOOLS_PERFDATA_UNZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/perfdata/source.h"

struct hlg_unzip; /* NULL: nothing was compressed so far */

bool hlg_unzip_possible(void); /* built with libzstd */

/* NULL without memory. */
struct hlg_unzip *hlg_unzip_create(void);
void hlg_unzip_destroy(struct hlg_unzip *u); /* NULL is fine */

/* A new stream: another file. Forgets the output that was left. */
void hlg_unzip_restart(struct hlg_unzip *u);

/* The next compressed bytes; they must stay until hlg_unzip_more returns 0. */
void hlg_unzip_feed(struct hlg_unzip *u, const void *data, size_t size);

/*
 * Puts more output behind what is left of the window (at most HLG_RECORD_MAX bytes; an
 * empty window after create or restart). Returns 1, 0 when all that was fed is used up,
 * -1 if it is no zstd stream.
 */
int hlg_unzip_more(struct hlg_unzip *u, struct hlg_window *w);

#endif
