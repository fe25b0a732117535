// SPDX-License-Identifier: GPL-2.0-only
#include "filter/profile/transits.h"

#include <stdlib.h>

#include "symtab/grow.h"

struct key {
	const struct hlg_transits *transits;
	uint64_t ip;
};

static bool is_same(const void *ctx, uint32_t number)
{
	const struct key *key = ctx;

	return key->transits->at[number].ip == key->ip;
}

static uint32_t find(const struct hlg_transits *c, uint64_t ip)
{
	const struct key key = {c, ip};

	return c->n ? hlg_index_find(&c->index, hlg_hash_mix(ip), is_same, &key)
		    : HLG_INDEX_NONE;
}

void hlg_transits_add(struct hlg_transits *c, struct hlg_transit add)
{
	uint32_t i = find(c, add.ip);

	c->crossed |= add.exits || add.entries;
	if (i != HLG_INDEX_NONE) {
		c->at[i].exits += add.exits;
		c->at[i].entries += add.entries;
		c->at[i].emulated += add.emulated;
	} else if (HLG_GROW(c->at, c->n) &&
		   hlg_index_add(&c->index, hlg_hash_mix(add.ip), c->n)) {
		c->at[c->n++] = add;
	} else {
		c->lost = true;
	}
}

void hlg_transits_merge(struct hlg_transits *to, const struct hlg_transits *from)
{
	for (uint32_t i = 0; i < from->n; i++)
		hlg_transits_add(to, from->at[i]);
	hlg_ports_add(&to->ports, &from->ports);
	to->lost |= from->lost;
}

struct hlg_transit hlg_transits_at(const struct hlg_transits *c, uint64_t ip)
{
	uint32_t i = find(c, ip);

	if (i == HLG_INDEX_NONE || c->lost)
		return (struct hlg_transit){.ip = ip};
	return c->at[i];
}

bool hlg_transits_is_entry(const struct hlg_transits *c, uint64_t ip)
{
	uint64_t entries = hlg_transits_at(c, ip).entries, exits = 0;

	for (uint64_t i = 0; entries && i <= HLG_TRANSITS_INSN; i++)
		exits += hlg_transits_at(c, ip - i).exits;
	return entries > 2 * exits;
}

void hlg_transits_finish(struct hlg_transits *c)
{
	free(c->at);
	hlg_index_finish(&c->index);
	*c = (struct hlg_transits){0};
}
