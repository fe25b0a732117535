/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of threads, as COMM records give them: the last one counts. */
#ifndef HLG_TOOLS_COMM_H
#define HLG_TOOLS_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HLG_COMM_LEN 16 /* TASK_COMM_LEN of the kernel, NUL included */

struct hlg_comms {
	struct {
		int32_t tid;
		char name[HLG_COMM_LEN]; /* "": free */
	} * slot;
	size_t n, room; /* room is a power of two, at most half used */
};

/* Returns false without memory. An empty name is kept as "?". */
bool hlg_comms_set(struct hlg_comms *comms, int32_t tid, const char *name);

/* NULL if nobody said. */
const char *hlg_comms_get(const struct hlg_comms *comms, int32_t tid);

void hlg_comms_finish(struct hlg_comms *comms);

#endif
