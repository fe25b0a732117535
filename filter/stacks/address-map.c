// SPDX-License-Identifier: GPL-2.0-only
#include "filter/stacks/address-map.h"

#include <search.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	const struct hlg_address_range *x = a, *y = b;

	return x->end <= y->start ? -1 : x->start >= y->end;
}

/* A range that overlaps this one, or NULL. */
static struct hlg_address_range *overlapping(const struct hlg_address_map *map,
					     const struct hlg_address_range *range)
{
	struct hlg_address_range *const *found = tfind(range, &map->root, compare);

	return found ? *found : NULL;
}

/* Takes range over, which overlaps none. */
static bool insert(struct hlg_address_map *map, struct hlg_address_range *range)
{
	if (!tsearch(range, &map->root, compare)) {
		free(range);
		return false;
	}
	map->n++;
	return true;
}

static struct hlg_address_range *new_range(struct hlg_address_range range)
{
	struct hlg_address_range *copy = malloc(sizeof(*copy));

	if (copy)
		*copy = range;
	return copy;
}

bool hlg_address_map_put(struct hlg_address_map *map, struct hlg_address_range range,
			 enum hlg_address_map_rest rest)
{
	struct hlg_address_range *put, *right, *old;
	bool ok = true;

	if (range.end <= range.start)
		return true;
	put = new_range(range);
	right = new_range(range); /* for what is left of one that goes on on both sides */
	if (!put || !right) {
		free(put);
		free(right);
		return false;
	}
	while (ok && (old = overlapping(map, &range))) {
		tdelete(old, &map->root, compare);
		map->n--;
		if (rest == HLG_ADDRESS_MAP_KEEP && old->start < range.start) {
			if (old->end > range.end && right) { /* one, at most */
				*right = *old;
				right->start = range.end;
				ok = insert(map, right);
				right = NULL;
			}
			old->end = range.start;
			ok = insert(map, old) && ok;
		} else if (rest == HLG_ADDRESS_MAP_KEEP && old->end > range.end) {
			old->start = range.end;
			ok = insert(map, old);
		} else {
			free(old);
		}
	}
	free(right);
	return insert(map, put) && ok;
}

struct walking {
	void (*each)(void *ctx, const struct hlg_address_range *range);
	void *ctx;
};

static void walk_range(const void *node, VISIT visit, void *closure)
{
	const struct walking *walking = closure;

	if (visit == postorder || visit == leaf)
		walking->each(walking->ctx,
			      *(const struct hlg_address_range *const *)node);
}

void hlg_address_map_each(const struct hlg_address_map *map,
			  void (*each)(void *ctx, const struct hlg_address_range *range),
			  void *ctx)
{
	struct walking walking = {each, ctx};

	twalk_r(map->root, walk_range, &walking);
}

void hlg_address_map_finish(struct hlg_address_map *map)
{
	tdestroy(map->root, free);
	*map = (struct hlg_address_map){0};
}

const struct hlg_address_range *hlg_address_map_find(const struct hlg_address_map *map,
						     uint64_t at)
{
	const struct hlg_address_range here = {.start = at, .end = at + 1};

	/* No range holds the last address: its end would be behind it. */
	return at == UINT64_MAX ? NULL : overlapping(map, &here);
}
