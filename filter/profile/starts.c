// SPDX-License-Identifier: GPL-2.0-only
#include "filter/profile/starts.h"

#define HALT_MAX 0x7fffffff

static bool is_known(const struct hlg_starts *starts, const struct hlg_start *start)
{
	for (uint32_t i = 0; i < starts->n; i++) {
		const struct hlg_start *one = &starts->at[i];

		if (one->halt == start->halt &&
		    (start->halt ? one->ip == start->ip : one->tid == start->tid))
			return true;
	}
	return false;
}

void hlg_starts_add(struct hlg_starts *starts, struct hlg_start start)
{
	if (starts->n == HLG_STARTS || (start.halt && start.ip >= HALT_MAX) ||
	    is_known(starts, &start))
		return;
	starts->at[starts->n++] = start;
}

void hlg_starts_merge(struct hlg_starts *to, const struct hlg_starts *from)
{
	for (uint32_t i = 0; i < from->n; i++)
		hlg_starts_add(to, from->at[i]);
}
