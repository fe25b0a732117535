/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Do lists of ranges (DWARF 5, 2.17.3) tell ranges?
 *
 * A list may also set a base, which those behind it are added to. libdw steps over all
 * bases in a row when it is asked for one range. So a small file can say that each of its
 * units has one list of only bases. Compilers set one for some ranges, or for one.
 */
#ifndef HLG_TOOLS_SOURCE_RANGE_LISTS_H
#define HLG_TOOLS_SOURCE_RANGE_LISTS_H

#include <stdbool.h>
#include <stddef.h>

enum {
	HLG_RANGE_LISTS_BASES = 64 /* in a row are too many */
};

/*
 * False if lists set that many, from whichever of their bytes they are read: of damaged
 * files nothing says where a list begins. size bytes of .debug_ranges, or (is_new) of
 * .debug_rnglists; addresses have width bytes, 4 or 8.
 */
bool hlg_range_lists_vet(const void *lists, size_t size, bool is_new, unsigned width);

#endif
