// SPDX-License-Identifier: GPL-2.0-only
#include "tools/feed/maps.h"

#include <stdlib.h>

#include "filter/profile/strings.h"
#include "filter/stacks/address-map.h"

struct hlg_maps_list {
	struct hlg_address_map
		ranges; /* shift: from an address to the offset in the file */
	size_t refs;
};

uint32_t hlg_maps_find(const struct hlg_maps *maps, uint64_t ip, uint64_t *offset)
{
	const struct hlg_address_range *range =
		maps->list ? hlg_address_map_find(&maps->list->ranges, ip) : NULL;

	if (!range)
		return HLG_NO_STRING;
	if (offset)
		*offset = ip + range->shift;
	return range->name;
}

void hlg_maps_copy(struct hlg_maps *to, const struct hlg_maps *from)
{
	to->list = from->list;
	if (to->list)
		to->list->refs++;
}

static void destroy(struct hlg_maps_list *list)
{
	hlg_address_map_finish(&list->ranges);
	free(list);
}

void hlg_maps_clear(struct hlg_maps *maps, size_t *total)
{
	struct hlg_maps_list *list = maps->list;

	maps->list = NULL;
	if (!list || --list->refs)
		return;
	*total -= list->ranges.n;
	destroy(list);
}

/* A list of one's own: the one there is, or a copy of it, which is not in maps yet. */
static struct hlg_maps_list *own(const struct hlg_maps *maps, size_t total)
{
	struct hlg_maps_list *old = maps->list, *list;

	if (old && old->refs == 1)
		return old;
	if (old && total + old->ranges.n > HLG_MAPS_MAX)
		return NULL;
	list = calloc(1, sizeof(*list));
	if (!list)
		return NULL;
	list->refs = 1;
	if (old && !hlg_address_map_copy(&list->ranges, &old->ranges)) {
		free(list);
		return NULL;
	}
	return list;
}

bool hlg_maps_insert(struct hlg_maps *maps, uint64_t start, uint64_t end, uint32_t name,
		     uint64_t offset, size_t *total)
{
	const struct hlg_address_range range = {start, end, offset - start, name};
	struct hlg_maps_list *list;
	size_t before;

	if (end <= start)
		return true;
	if (*total + 2 > HLG_MAPS_MAX)
		return false;
	list = own(maps, *total);
	if (!list)
		return false;
	before = list == maps->list ? list->ranges.n : 0;
	if (!hlg_address_map_put(&list->ranges, range, HLG_ADDRESS_MAP_KEEP)) {
		if (list != maps->list)
			destroy(list);
		return false;
	}
	*total = *total + list->ranges.n - before;
	if (list == maps->list)
		return true;
	hlg_maps_clear(maps, total);
	maps->list = list;
	return true;
}
