// SPDX-License-Identifier: GPL-2.0-only
#include "tools/flame/layout.h"

#include <stdlib.h>

#include "filter/view/view.h"

/* Rounded the same way wherever it is asked: what touches stays in touch. */
static uint32_t place(const struct hlg_layout *layout, uint64_t at)
{
	if (layout->total == 0)
		return at ? HLG_LAYOUT_WIDTH : 0;
	return (uint32_t)((hlg_u128)at * HLG_LAYOUT_WIDTH / layout->total);
}

static uint32_t tree_depth(const struct hlg_tree *tree)
{
	uint32_t depth = 0;

	for (uint32_t i = 0; i < tree->n; i++)
		if (tree->nodes[i].depth > depth)
			depth = tree->nodes[i].depth;
	return depth;
}

static void hide(struct hlg_layout *layout, const struct hlg_node *node, uint32_t i)
{
	layout->n_hidden += node->end - i;
	hlg_count_add(&layout->hidden, node->total);
}

static void add(struct hlg_layout *layout, const struct hlg_node *node, uint32_t i,
		uint64_t at, uint64_t weight)
{
	layout->boxes[layout->n++] =
		(struct hlg_box){i, at, place(layout, at), place(layout, at + weight)};
	if (node->depth > layout->depth)
		layout->depth = node->depth;
}

bool hlg_layout_make(struct hlg_layout *layout, const struct hlg_tree *tree,
		     enum hlg_weight weight, double least)
{
	/* Where the next box of each depth begins. */
	uint64_t *next = calloc((size_t)tree_depth(tree) + 2, sizeof(*next));
	uint32_t i = 0;

	*layout = (struct hlg_layout){
		.boxes = calloc(tree->n, sizeof(*layout->boxes)),
		.total = hlg_count_weigh(weight, tree->nodes[HLG_TREE_ROOT].total),
	};
	if (!next || !layout->boxes) {
		free(next);
		return false;
	}
	least *= (double)layout->total;
	while (i < tree->n) {
		const struct hlg_node *node = &tree->nodes[i];
		uint64_t w = hlg_count_weigh(weight, node->total), at = next[node->depth];

		next[node->depth] += w;
		next[node->depth + 1] = at;
		if (i != HLG_TREE_ROOT && (w == 0 || (double)w < least)) {
			hide(layout, node, i);
			i = node->end;
			continue;
		}
		add(layout, node, i++, at, w);
	}
	free(next);
	return true;
}

void hlg_layout_finish(struct hlg_layout *layout)
{
	free(layout->boxes);
	*layout = (struct hlg_layout){0};
}
