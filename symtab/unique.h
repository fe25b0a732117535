/* SPDX-License-Identifier: GPL-2.0-only */
/* Arrays in which each thing is once, in order. */
#ifndef HLG_SYMTAB_UNIQUE_H
#define HLG_SYMTAB_UNIQUE_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/*
 * Sorts n things, and of those that compare as equal keeps one, to which add, unless it
 * is NULL, has added the others. Returns how many there are then. things may be NULL if n
 * is 0.
 */
#define HLG_UNIQUE(things, n, compare, add)                                              \
	hlg_unique((things), (n), sizeof(*(things)), (compare), (add))

static inline size_t hlg_unique(void *things, size_t n, size_t size,
				int (*compare)(const void *, const void *),
				void (*add)(void *to, const void *from))
{
	char *last = things, *at = things;

	if (n == 0)
		return 0;
	qsort(things, n, size, compare);
	for (size_t i = 1; i < n; i++) {
		at += size;
		if (compare(last, at) != 0) {
			last += size;
			if (last != at)
				memcpy(last, at, size);
		} else if (add) {
			add(last, at);
		}
	}
	return (size_t)(last - (char *)things) / size + 1;
}

#endif
