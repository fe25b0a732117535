/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers inside a record: in this machine's byte order, not aligned. */
#ifndef HLG_TOOLS_PERFDATA_BYTES_H
#define HLG_TOOLS_PERFDATA_BYTES_H

#include <stdint.h>
#include <string.h>

/* Several of them: elements of 8 bytes, or as the field says that has them. */
struct hlg_perfdata_bytes {
	const uint8_t *at; /* NULL: not recorded */
	uint64_t n;        /* of elements */
};

static inline uint64_t hlg_perfdata_u64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint32_t hlg_perfdata_u32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

#endif
