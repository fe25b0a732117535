/* SPDX-License-Identifier: GPL-2.0-only */
/* A live view from its beginning to its end. */
#ifndef HLG_TOOLS_TOP_SESSION_H
#define HLG_TOOLS_TOP_SESSION_H

#include "tools/top/request.h"

/*
 * Everything is read by one thread, but for callers.h: between two reads of perf's pipe
 * it draws, looks at keys, and has perf empty its buffers, so that what it shows is at
 * most one refresh old. Returns the exit status.
 */
int hlg_top_session(struct hlg_top_request *request);

#endif
