/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers as users write them, read the same way in every locale. Each function reads
 * the whole string or refuses it: no signs, no blanks, no overflow.
 */
#ifndef HLG_FILTER_OPTIONS_NUMBER_H
#define HLG_FILTER_OPTIONS_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decimal, or hexadecimal behind 0x. */
bool hlg_number_u64(const char *s, uint64_t *value);

/* A number of bytes: as above, with K, M or G (powers of 1024) behind it. */
bool hlg_number_size(const char *s, uint64_t *value);

/* A decimal fraction in units of 10^-9: "12.5" is 12500000000. At most nine places. */
bool hlg_number_nano(const char *s, uint64_t *value);

/* A time, in ns: such a fraction with ns, us, ms or s behind it; without, of seconds.
 * Less than a ns is cut off. */
bool hlg_number_time(const char *s, uint64_t *ns);

/* A set of numbers, as ranges [first, last] in the order given. */
struct hlg_number_list {
	struct {
		uint32_t first, last;
	} * range;
	size_t n;
};

/*
 * Reads "1,4-7,0x10": decimal or hexadecimal, ranges included, at most 2^31 - 1. Returns
 * 0, HLG_EINPUT for what is no such list, or HLG_ESYSTEM without memory; which of both it
 * is, the caller tells the user. The caller finishes the list in any case.
 */
int hlg_number_list_parse(struct hlg_number_list *list, const char *s);

/* Is the value, which may be negative, in the list? */
bool hlg_number_list_has(const struct hlg_number_list *list, int32_t value);
void hlg_number_list_finish(struct hlg_number_list *list);

#endif
