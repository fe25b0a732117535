/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arrays that grow by one thing at a time.
 *
 * An array of n things has room for the next power of two above n, so nobody keeps count
 * of its room, and n things cost as much copying as 2 n. It begins as NULL with n = 0,
 * and only HLG_GROW allocates it. Things may be taken off its end, also all of them.
 */
#ifndef HLG_SYMTAB_GROW_H
#define HLG_SYMTAB_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/*
 * Makes room for list[n], where list is an array of n things. False without memory: then
 * list is what it was.
 */
#define HLG_GROW(list, n) hlg_grow(&(list), (n), sizeof(*(list)))

/* list: the address of a pointer to things, whatever they are. */
static inline bool hlg_grow(void *list, size_t n, size_t size)
{
	typedef void *__attribute__((may_alias)) any_list;
	any_list *things = list;
	void *grown;

	if ((n & (n - 1)) != 0)
		return true;
	grown = reallocarray(*things, n ? 2 * n : 1, size);
	if (!grown)
		return false;
	*things = grown;
	return true;
}

#endif
