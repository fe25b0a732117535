/* SPDX-License-Identifier: GPL-2.0-only */
/* Frames and stacks, each kept once. */
#ifndef HLG_TOOLS_SYSPROF_STACKS_H
#define HLG_TOOLS_SYSPROF_STACKS_H

#include "tools/sysprof/sysprof.h"

/* The number of a frame, new or known; HLG_INDEX_NONE without memory. */
uint32_t hlg_sysprof_frame(struct hlg_sysprof *s, const struct hlg_sysprof_frame *frame);

/* Counts a sample of the stack that ids (n_lua of them, then n_host) are. False without
 * memory. */
bool hlg_sysprof_count(struct hlg_sysprof *s, enum hlg_sysprof_state state,
		       const uint32_t *ids, uint32_t n_lua, uint32_t n_host);

/* Room for one more thing of size bytes behind n; more room is twice as much. */
bool hlg_sysprof_more(void *list, size_t n, size_t more, size_t *room, size_t size);

#endif
