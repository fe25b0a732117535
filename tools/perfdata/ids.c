// SPDX-License-Identifier: GPL-2.0-only
#include "tools/perfdata/ids.h"

#include <stdlib.h>

static bool set_room(struct hlg_ids *ids, unsigned bits)
{
	struct hlg_ids_entry *old = ids->entries;
	uint64_t room = old ? UINT64_C(1) << (64 - ids->shift) : 0;
	struct hlg_ids_entry *entries = calloc((size_t)1 << bits, sizeof(*entries));
	uint64_t mask = (UINT64_C(1) << bits) - 1;

	if (!entries)
		return false;
	ids->entries = entries;
	ids->shift = 64 - bits;
	for (uint64_t i = 0; i < room; i++) {
		uint64_t to = hlg_ids_hash(old[i].id, ids->shift);

		if (old[i].id == 0)
			continue;
		while (entries[to].id)
			to = (to + 1) & mask;
		entries[to] = old[i];
	}
	free(old);
	return true;
}

bool hlg_ids_init(struct hlg_ids *ids)
{
	*ids = (struct hlg_ids){0};
	return set_room(ids, 4);
}

void hlg_ids_finish(struct hlg_ids *ids)
{
	free(ids->entries);
	*ids = (struct hlg_ids){0};
}

bool hlg_ids_add(struct hlg_ids *ids, uint64_t id, uint32_t event)
{
	uint64_t room = UINT64_C(1) << (64 - ids->shift);
	uint64_t i = hlg_ids_hash(id, ids->shift);

	if (id == 0)
		return true;
	while (ids->entries[i].id && ids->entries[i].id != id)
		i = (i + 1) & (room - 1);
	if (ids->entries[i].id == id) {
		ids->entries[i].event = event;
		return true;
	}
	ids->entries[i] = (struct hlg_ids_entry){id, event, ids->n++};
	/* Room for one more is made afterwards, so that there always is a free one. */
	return (uint64_t)ids->n * 2 < room || set_room(ids, 64 - ids->shift + 1);
}
