/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which of the guests' stacks a series has: made once, so that who goes through one
 * series after the other does not go through all stacks each time.
 */
#ifndef HLG_FILTER_STACKS_BY_SERIES_H
#define HLG_FILTER_STACKS_BY_SERIES_H

#include "filter/stacks/stacks.h"

struct hlg_by_series_stack {
	uint64_t series;
	uint32_t number; /* in the stacks */
};

/* Empty when all zero. */
struct hlg_by_series {
	struct hlg_by_series_stack *at; /* by series, then number */
	size_t n;
	bool halves; /* hlg_stacks_have_halves() */
};

/* Of stacks that no more is added to. False without memory. */
bool hlg_by_series_make(struct hlg_by_series *by, const struct hlg_stacks *stacks);

/* Those of a series, *n of them. */
const struct hlg_by_series_stack *hlg_by_series_of(const struct hlg_by_series *by,
						   uint32_t series, size_t *n);

void hlg_by_series_finish(struct hlg_by_series *by);

#endif
