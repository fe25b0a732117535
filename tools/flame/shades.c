// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "symtab/hash.h"
#include "tools/flame/flame.h"

/* Of names that are known by their hash; two names of one hash share a shade. */
struct known {
	uint64_t hash;
	uint8_t shade;
	bool used;
};

/* The place of a hash, or the free one where it belongs; the table is never full. */
static struct known *find(struct known *table, size_t size, uint64_t hash)
{
	size_t i = hash & (size - 1);

	while (table[i].used && table[i].hash != hash)
		i = (i + 1) & (size - 1);
	return &table[i];
}

bool hlg_shades_assign(struct hlg_layout *layout, const struct hlg_tree *tree)
{
	size_t size = 16;
	struct known *table;
	/* Of the last box at each depth: the one beside, and one below the parent. */
	uint8_t *last = calloc((size_t)layout->depth + 1, 1);

	while (size < 2 * (size_t)layout->n)
		size *= 2;
	table = calloc(size, sizeof(*table));
	for (uint32_t i = 1; table && last && i < layout->n; i++) {
		struct hlg_box *box = &layout->boxes[i];
		const struct hlg_node *node = &tree->nodes[box->node];
		const char *name = hlg_tree_name(tree, node);
		uint64_t hash = hlg_hash_fnv(HLG_HASH_SEED, name, strlen(name));
		struct known *known = find(table, size, hash);
		uint8_t shade = hash % HLG_SHADES;

		/* Two are to be avoided, of eight. */
		while (!known->used &&
		       (shade == last[node->depth] || shade == last[node->depth - 1]))
			shade = (shade + 1) % HLG_SHADES;
		if (!known->used)
			*known = (struct known){hash, shade, true};
		box->shade = last[node->depth] = known->shade;
	}
	free(table);
	free(last);
	return table && last;
}
