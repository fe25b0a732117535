/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a process has mapped where: ranges that do not overlap. A new mapping takes its
 * range from those before it, as perf's maps__fixup_overlappings does (tools/perf/util/
 * map.c); munmap(2) leaves no record, so nothing ever goes by itself.
 *
 * A copy, for a fork, shares the ranges until one of the two changes.
 */
#ifndef HLG_TOOLS_FEED_MAPS_H
#define HLG_TOOLS_FEED_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ranges of all processes together; guards memory. 32 bytes each. */
#define HLG_MAPS_MAX ((size_t)1 << 24)

struct hlg_maps_list;

struct hlg_maps {
	struct hlg_maps_list *list; /* NULL: empty */
};

/*
 * Maps [start, end) under a name, from offset of a file on (bytes); an empty range does
 * nothing. *total is the sum over
 * all there is, kept by these functions. False without memory, or past HLG_MAPS_MAX.
 */
bool hlg_maps_insert(struct hlg_maps *maps, uint64_t start, uint64_t end, uint32_t name,
		     uint64_t offset, size_t *total);

/* The name at an address, HLG_NO_STRING if nothing is mapped there; and where in its
 * file, unless offset is NULL. */
uint32_t hlg_maps_find(const struct hlg_maps *maps, uint64_t ip, uint64_t *offset);

/* to is empty before. */
void hlg_maps_copy(struct hlg_maps *to, const struct hlg_maps *from);

void hlg_maps_clear(struct hlg_maps *maps, size_t *total);

#endif
