// SPDX-License-Identifier: GPL-2.0-only
#include "maps.h"

#include <stdlib.h>
#include <string.h>

#include "../filter/names.h"
#include "../symtab/search.h"

struct range {
	uint64_t start, end;
	uint64_t shift; /* from an address to the offset in the file */
	uint32_t name;
};

struct hlg_maps_list {
	struct range *ranges; /* sorted */
	size_t n, room, refs;
};

/* The first range that ends behind ip. */
static size_t first_behind(const struct hlg_maps_list *list, uint64_t ip)
{
	return HLG_UPTO(list->ranges, list->n, end, ip);
}

uint32_t hlg_maps_find(const struct hlg_maps *maps, uint64_t ip, uint64_t *offset)
{
	const struct hlg_maps_list *list = maps->list;
	size_t i = list ? first_behind(list, ip) : 0;

	if (!list || i == list->n || list->ranges[i].start > ip)
		return HLG_NO_NAME;
	if (offset)
		*offset = ip + list->ranges[i].shift;
	return list->ranges[i].name;
}

void hlg_maps_copy(struct hlg_maps *to, const struct hlg_maps *from)
{
	to->list = from->list;
	if (to->list)
		to->list->refs++;
}

void hlg_maps_clear(struct hlg_maps *maps, size_t *total)
{
	struct hlg_maps_list *list = maps->list;

	maps->list = NULL;
	if (!list || --list->refs)
		return;
	*total -= list->n;
	free(list->ranges);
	free(list);
}

/* A list of one's own with room for two more. */
static bool own(struct hlg_maps *maps, size_t *total)
{
	struct hlg_maps_list *old = maps->list, *list = old;
	size_t n = old ? old->n : 0, room = n < 8 ? 16 : 2 * n;
	struct range *ranges;

	if (old && old->refs == 1 && n + 2 <= old->room)
		return true;
	if (!old || old->refs > 1) {
		if (*total + n > HLG_MAPS_MAX)
			return false;
		list = calloc(1, sizeof(*list));
		if (!list)
			return false;
		list->refs = 1;
	}
	ranges = reallocarray(list->ranges, room, sizeof(*ranges));
	if (!ranges) {
		if (list != old)
			free(list);
		return false;
	}
	list->ranges = ranges;
	list->room = room;
	if (list == old)
		return true;
	if (n)
		memcpy(ranges, old->ranges, n * sizeof(*ranges));
	list->n = n;
	*total += n;
	hlg_maps_clear(maps, total);
	maps->list = list;
	return true;
}

bool hlg_maps_insert(struct hlg_maps *maps, uint64_t start, uint64_t end, uint32_t name,
		     uint64_t offset, size_t *total)
{
	struct range put[3];
	struct hlg_maps_list *list;
	size_t n = 0, from, to;

	if (end <= start)
		return true;
	if (*total + 2 > HLG_MAPS_MAX || !own(maps, total))
		return false;
	list = maps->list;
	from = to = first_behind(list, start);
	while (to < list->n && list->ranges[to].start < end)
		to++;
	/* What is left of the ranges [from, to) on both sides, and the new one. */
	if (from < to && list->ranges[from].start < start)
		put[n++] =
			(struct range){list->ranges[from].start, start,
				       list->ranges[from].shift, list->ranges[from].name};
	put[n++] = (struct range){start, end, offset - start, name};
	if (from < to && list->ranges[to - 1].end > end)
		put[n++] = (struct range){end, list->ranges[to - 1].end,
					  list->ranges[to - 1].shift,
					  list->ranges[to - 1].name};
	memmove(list->ranges + from + n, list->ranges + to,
		(list->n - to) * sizeof(*list->ranges));
	memcpy(list->ranges + from, put, n * sizeof(*put));
	list->n = list->n + n - (to - from);
	*total = *total + n - (to - from);
	return true;
}
