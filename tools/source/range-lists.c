// SPDX-License-Identifier: GPL-2.0-only
#include "tools/source/range-lists.h"

#include <dwarf.h>
#include <string.h>

enum {
	MAX_NUMBER = 10, /* bytes of a LEB128 that libdw takes */
	NEAR = 32        /* bytes: more than any base has */
};

/* Bytes that a base of .debug_rnglists has, if one stands here; 0: none. */
static size_t new_base(const unsigned char *at, size_t left, unsigned width)
{
	size_t n = 1;

	if (at[0] == DW_RLE_base_address)
		return left > width ? 1 + width : 0;
	if (at[0] != DW_RLE_base_addressx)
		return 0;
	while (n < left && n < MAX_NUMBER && at[n] & 0x80)
		n++;
	return n < left ? n + 1 : 0;
}

/* Likewise of .debug_ranges: an address of all ones, and one that is not. */
static size_t old_base(const unsigned char *at, size_t left, unsigned width)
{
	static const unsigned char ones[8] = {0xff, 0xff, 0xff, 0xff,
					      0xff, 0xff, 0xff, 0xff};

	return left >= (size_t)2 * width && memcmp(at, ones, width) == 0 &&
			       memcmp(at + width, ones, width) != 0
		       ? (size_t)2 * width
		       : 0;
}

bool hlg_range_lists_vet(const void *lists, size_t size, bool is_new, unsigned width)
{
	const unsigned char *first = lists;
	unsigned row[NEAR] = {0}; /* bases in a row from each of the next bytes on */

	for (size_t at = size; at-- > 0;) {
		size_t n = is_new ? new_base(first + at, size - at, width)
				  : old_base(first + at, size - at, width);

		row[at % NEAR] = n ? row[(at + n) % NEAR] + 1 : 0;
		if (row[at % NEAR] == HLG_RANGE_LISTS_BASES)
			return false;
	}
	return true;
}
