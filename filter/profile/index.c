// SPDX-License-Identifier: GPL-2.0-only
#include "filter/profile/index.h"

#include <stdlib.h>

static uint32_t fold(uint64_t hash)
{
	return (uint32_t)hlg_hash_mix(hash);
}

static void put(struct hlg_index *index, struct hlg_index_slot slot)
{
	uint32_t mask = index->room - 1, i = slot.hash & mask;

	while (index->slots[i].number)
		i = (i + 1) & mask;
	index->slots[i] = slot;
}

static bool grow(struct hlg_index *index)
{
	struct hlg_index old = *index;

	if (index->room > UINT32_C(1) << 30)
		return false;
	index->room = old.room ? 2 * old.room : 64;
	index->slots = calloc(index->room, sizeof(*index->slots));
	if (!index->slots) {
		*index = old;
		return false;
	}
	for (uint32_t i = 0; i < old.room; i++)
		if (old.slots[i].number)
			put(index, old.slots[i]);
	free(old.slots);
	return true;
}

uint32_t hlg_index_find(const struct hlg_index *index, uint64_t hash,
			hlg_index_same_fn *same, const void *ctx)
{
	uint32_t wanted = fold(hash), mask = index->room - 1, i = wanted & mask;

	if (index->room == 0)
		return HLG_INDEX_NONE;
	for (; index->slots[i].number; i = (i + 1) & mask)
		if (index->slots[i].hash == wanted &&
		    same(ctx, index->slots[i].number - 1))
			return index->slots[i].number - 1;
	return HLG_INDEX_NONE;
}

bool hlg_index_add(struct hlg_index *index, uint64_t hash, uint32_t number)
{
	if (2 * (index->n + 1) > index->room && !grow(index))
		return false;
	put(index, (struct hlg_index_slot){fold(hash), number + 1});
	index->n++;
	return true;
}

void hlg_index_finish(struct hlg_index *index)
{
	free(index->slots);
	*index = (struct hlg_index){0};
}
