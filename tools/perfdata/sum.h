/* SPDX-License-Identifier: GPL-2.0-only */
/* Adding up numbers that files say. */
#ifndef HLG_TOOLS_PERFDATA_SUM_H
#define HLG_TOOLS_PERFDATA_SUM_H

#include <stdint.h>

/* The sum, or UINT64_MAX where it is more: too many is told as very many, not as few. */
static inline uint64_t hlg_sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* The earlier of two times, of which 0 is none. */
static inline uint64_t hlg_sum_first(uint64_t a, uint64_t b)
{
	return a && (b == 0 || a < b) ? a : b;
}

#endif
