// SPDX-License-Identifier: GPL-2.0-only
#include "filter/profile/starts.h"

#include <stddef.h>

static struct hlg_start *find(struct hlg_starts *starts, const struct hlg_start *start)
{
	for (uint32_t i = 0; i < starts->n; i++) {
		struct hlg_start *one = &starts->at[i];

		if (one->halt == start->halt && one->tid == start->tid &&
		    (!start->halt || one->ip == start->ip))
			return one;
	}
	return NULL;
}

static bool can_halt(uint64_t ip)
{
	return ip >= HLG_STARTS_HALT_MIN && ip < HLG_STARTS_HALT_MAX;
}

/* NULL: it is no start, or there is no room. */
static struct hlg_start *find_or_add(struct hlg_starts *starts,
				     const struct hlg_start *start)
{
	struct hlg_start *one = find(starts, start);

	if (one || starts->n == HLG_STARTS || (start->halt && !can_halt(start->ip)))
		return one;
	starts->at[starts->n] = *start;
	return &starts->at[starts->n++];
}

void hlg_starts_add(struct hlg_starts *starts, struct hlg_start start)
{
	struct hlg_start *one;

	start.times = 0;
	one = find_or_add(starts, &start);
	if (one && (one->halt || one->times == 0))
		one->times++;
}

void hlg_starts_merge(struct hlg_starts *to, const struct hlg_starts *from)
{
	for (uint32_t i = 0; i < from->n; i++) {
		struct hlg_start *one = find_or_add(to, &from->at[i]);

		if (one && one->times < from->at[i].times)
			one->times = from->at[i].times;
	}
}
