/* SPDX-License-Identifier: GPL-2.0-only */
/* Arrays that are sorted by one of their members, a uint64_t: to sort and to search. */
#ifndef HLG_SYMTAB_BSEARCH_H
#define HLG_SYMTAB_BSEARCH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * How many of n things have a member of at most key: the place of the first above it.
 * things may be NULL if n is 0.
 */
#define HLG_BSEARCH_UPTO(things, n, member, key)                                         \
	hlg_bsearch_upto((things), (n), sizeof(*(things)),                               \
			 offsetof(__typeof__(*(things)), member), (key))

#define HLG_BSEARCH_BELOW(things, n, member, key)                                        \
	hlg_bsearch_below((things), (n), sizeof(*(things)),                              \
			  offsetof(__typeof__(*(things)), member), (key))

/*
 * By halving without a branch on what is read, which a processor would guess wrong half
 * of the time. What is halved may keep one thing that is known to lie above key.
 */
static inline size_t hlg_bsearch_upto(const void *things, size_t n, size_t size,
				      size_t member, uint64_t key)
{
	size_t from = 0;

	while (n) {
		size_t half = n - n / 2;
		uint64_t value;

		memcpy(&value, (const char *)things + (from + half - 1) * size + member,
		       sizeof(value));
		from += half & -(size_t)(value <= key);
		n -= half;
	}
	return from;
}

/* How many of them have a member below key: the place of the first that has not. */
static inline size_t hlg_bsearch_below(const void *things, size_t n, size_t size,
				       size_t member, uint64_t key)
{
	return key ? hlg_bsearch_upto(things, n, size, member, key - 1) : 0;
}

/* The order of two numbers, as qsort asks for it. */
static inline int hlg_bsearch_order(uint64_t x, uint64_t y)
{
	return x < y ? -1 : x > y;
}

/*
 * The order of things by their first member, a uint64_t, as qsort asks for it. Things of
 * one value are alike.
 */
static inline int hlg_bsearch_compare(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return hlg_bsearch_order(x, y);
}

#endif
