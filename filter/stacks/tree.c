// SPDX-License-Identifier: GPL-2.0-only
#include "filter/stacks/tree.h"

#include <stdlib.h>
#include <string.h>

#include "symtab/grow.h"

struct search {
	const struct hlg_tree *tree;
	const struct hlg_node *key;
};

static bool same(const void *ctx, uint32_t number)
{
	const struct search *search = ctx;
	const struct hlg_node *node = &search->tree->nodes[number];

	return node->parent == search->key->parent && node->name == search->key->name &&
	       node->frame == search->key->frame;
}

bool hlg_tree_init(struct hlg_tree *tree)
{
	if (!HLG_GROW(tree->nodes, 0))
		return false;
	/* Not in the index: the root is nobody's child. */
	tree->nodes[HLG_TREE_ROOT] = (struct hlg_node){.parent = HLG_NO_NODE};
	tree->n = 1;
	return true;
}

void hlg_tree_finish(struct hlg_tree *tree)
{
	hlg_strings_finish(&tree->names);
	free(tree->nodes);
	free(tree->where);
	hlg_index_finish(&tree->index);
	*tree = (struct hlg_tree){0};
}

uint32_t hlg_tree_child(struct hlg_tree *tree, uint32_t parent, enum hlg_frame frame,
			const char *name)
{
	return parent == HLG_NO_NODE
		       ? HLG_NO_NODE
		       : hlg_tree_child_called(tree, parent, frame,
					       hlg_strings_add(&tree->names, name));
}

uint32_t hlg_tree_child_called(struct hlg_tree *tree, uint32_t parent,
			       enum hlg_frame frame, uint32_t name)
{
	struct hlg_node key = {.parent = parent, .frame = frame, .name = name};
	const struct search search = {tree, &key};
	uint64_t hash = hlg_hash_word(HLG_HASH_SEED, parent);
	uint32_t known;

	if (parent == HLG_NO_NODE || name == HLG_NO_STRING)
		return HLG_NO_NODE;
	hash = hlg_hash_word(hash, (uint64_t)key.name << 3 | (uint64_t)frame);
	known = hlg_index_find(&tree->index, hash, same, &search);
	if (known != HLG_INDEX_NONE)
		return known;
	if (!HLG_GROW(tree->nodes, tree->n) ||
	    !hlg_index_add(&tree->index, hash, tree->n))
		return HLG_NO_NODE;
	key.depth = tree->nodes[parent].depth + 1;
	tree->nodes[tree->n] = key;
	return tree->n++;
}

/* A node and where it was, for sorting. */
struct item {
	struct hlg_node node;
	const char *name;
	uint64_t weight;
	uint32_t old;
};

/* By parent, and its children as hlg_tree_settle says. */
static int compare(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order;

	if (x->node.parent != y->node.parent)
		return x->node.parent < y->node.parent ? -1 : 1;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	order = strcmp(x->name, y->name);
	return order ? order : (int)x->node.frame - (int)y->node.frame;
}

static void sum_up(struct hlg_tree *tree)
{
	for (uint32_t i = 0; i < tree->n; i++) {
		tree->nodes[i].total = tree->nodes[i].self;
		tree->nodes[i].end = 1; /* as yet: how many nodes it and all above are */
	}
	/* Children come behind their parents. */
	for (uint32_t i = tree->n - 1; i > 0; i--) {
		struct hlg_node *parent = &tree->nodes[tree->nodes[i].parent];

		hlg_count_add(&parent->total, tree->nodes[i].total);
		parent->end += tree->nodes[i].end;
	}
}

/*
 * Gives each node its place: right behind its parent and all that stands above its elder
 * siblings. items are sorted, so the children of a node are met in their order, but a
 * parent can come behind its children: numbers are handed out in the old order, in which
 * it cannot.
 */
static void place(const struct hlg_tree *tree, const struct item *items,
		  const uint32_t *first, uint32_t *where)
{
	where[HLG_TREE_ROOT] = 0;
	for (uint32_t old = 0; old < tree->n; old++) {
		uint32_t next = where[old] + 1;

		for (uint32_t i = first[old]; i < tree->n && items[i].node.parent == old;
		     i++) {
			where[items[i].old] = next;
			next += items[i].node.end;
		}
	}
}

bool hlg_tree_settle(struct hlg_tree *tree, enum hlg_weight weight)
{
	struct item *items = calloc(tree->n, sizeof(*items));
	uint32_t *first = calloc(tree->n, sizeof(*first));
	uint32_t *where = calloc(tree->n, sizeof(*where));
	bool ok = items && first && where;

	if (ok) {
		sum_up(tree);
		for (uint32_t i = 0; i < tree->n; i++)
			items[i] = (struct item){
				tree->nodes[i], hlg_tree_name(tree, &tree->nodes[i]),
				hlg_count_weigh(weight, tree->nodes[i].total), i};
		/* The root, whose parent has the largest number, comes last. */
		qsort(items, tree->n, sizeof(*items), compare);
		for (uint32_t i = tree->n; i-- > 0;)
			if (items[i].node.parent != HLG_NO_NODE)
				first[items[i].node.parent] = i;
		place(tree, items, first, where);
		for (uint32_t i = 0; i < tree->n; i++) {
			struct hlg_node *node = &tree->nodes[where[items[i].old]];

			*node = items[i].node;
			node->end += where[items[i].old];
			if (node->parent != HLG_NO_NODE)
				node->parent = where[node->parent];
		}
	}
	free(items);
	free(first);
	if (ok)
		tree->where = where;
	else
		free(where);
	return ok;
}

const char *hlg_tree_name(const struct hlg_tree *tree, const struct hlg_node *node)
{
	const char *name = hlg_strings_get(&tree->names, node->name);

	return name ? name : "";
}

const char *hlg_tree_frame_word(enum hlg_frame kind)
{
	static const char *const words[] = {"group", "host user", "host kernel", "guest",
					    "gap",   "border",    "note"};

	return words[kind];
}
