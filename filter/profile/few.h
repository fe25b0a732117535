/* SPDX-License-Identifier: GPL-2.0-only */
/* The lowest few of some ids (pids, tids, cpus), to name what there is. Which they are
 * does not depend on the order in which they were added. */
#ifndef HLG_FILTER_PROFILE_FEW_H
#define HLG_FILTER_PROFILE_FEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	HLG_FEW = 5
};

/* All zero before the first use. */
struct hlg_few {
	int32_t id[HLG_FEW]; /* ascending */
	unsigned n;
	bool more; /* than these */
};

/* Adds an id; one below 0, which was not recorded, is none. */
void hlg_few_add(struct hlg_few *few, int32_t id);
void hlg_few_merge(struct hlg_few *to, const struct hlg_few *from);

/* "4711, 4712, ...", "" if there is none. size is enough with 16 bytes for each. */
const char *hlg_few_text(char *buf, size_t size, const struct hlg_few *few);

#endif
