// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "symtab/hash.h"
#include "tools/flame/flame.h"

/* By a name's text, so that it has the same one in other graphs. */
static uint8_t usual_shade(const char *name)
{
	return hlg_hash_fnv(HLG_HASH_SEED, name, strlen(name)) % HLG_SHADES;
}

bool hlg_shades_assign(struct hlg_layout *layout, const struct hlg_tree *tree)
{
	bool ok;
	/* Of each name, from 1 on; 0: it has none yet. */
	uint8_t *shades = calloc((size_t)tree->names.n + 1, 1);
	/* Of the last box at each depth: the one beside, and one below the parent. */
	uint8_t *last = calloc((size_t)layout->depth + 1, 1);

	for (uint32_t i = 1; shades && last && i < layout->n; i++) {
		struct hlg_box *box = &layout->boxes[i];
		const struct hlg_node *node = &tree->nodes[box->node];
		uint8_t *known = &shades[node->name], shade;

		if (!*known) {
			/* Two are to be avoided, of eight. */
			shade = usual_shade(hlg_tree_name(tree, node));
			while (shade == last[node->depth] ||
			       shade == last[node->depth - 1])
				shade = (shade + 1) % HLG_SHADES;
			*known = shade + 1;
		}
		box->shade = last[node->depth] = *known - 1;
	}
	ok = shades && last;
	free(shades);
	free(last);
	return ok;
}
