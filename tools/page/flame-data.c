// SPDX-License-Identifier: GPL-2.0-only
#include "tools/page/flame-data.h"

#include <stdlib.h>

#include "filter/report/frames.h"

int hlg_page_flame_build(struct hlg_page_flame *flame, const struct hlg_report *report,
			 struct hlg_err *err)
{
	size_t n = (size_t)report->stacks->n_stacks + 1;
	int rc;

	flame->stack_ends = malloc(n * sizeof(*flame->stack_ends));
	flame->ends = malloc(n * sizeof(*flame->ends));
	if (!flame->stack_ends || !flame->ends)
		return hlg_err_memory(err, "page");
	rc = hlg_frames_build_ends(&flame->tree, report, flame->stack_ends, err);
	if (rc == 0)
		flame->node = malloc(((size_t)flame->tree.n + 1) * sizeof(*flame->node));
	return rc == 0 && !flame->node ? hlg_err_memory(err, "page") : rc;
}

static int compare_down(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x > y ? -1 : x < y;
}

/*
 * Which nodes are among the `most` widest: those above *limit, and of those that are as
 * wide as it the first *equal. A node is not wider than what it stands on, which comes
 * first, so that is among them, too. False without memory.
 */
static bool find_limit(const struct hlg_tree *tree, enum hlg_weight weight, size_t most,
		       uint64_t *limit, size_t *equal)
{
	uint64_t *widths = malloc(((size_t)tree->n + 1) * sizeof(*widths));
	size_t above = 0;

	for (uint32_t i = 0; widths && i < tree->n; i++)
		widths[i] = hlg_count_weigh(weight, tree->nodes[i].total);
	if (!widths)
		return false;
	qsort(widths, tree->n, sizeof(*widths), compare_down);
	*limit = widths[most - 1];
	while (widths[above] > *limit)
		above++;
	*equal = most - above;
	free(widths);
	return true;
}

/* What stands in the page: the first node of the tree that is part of it; of one that is
 * not by itself, all that its parent has of such. */
struct written {
	uint32_t first;
	uint64_t count; /* of stacks that end there */
	bool smaller;
};

/*
 * Fills node, and what is written, n of them. The smaller frames on another come behind
 * its others, since of siblings the widest is first: that is where the tree goes on.
 */
static uint32_t choose(struct hlg_page_flame *flame, enum hlg_weight weight,
		       uint64_t limit, size_t equal, struct written *written,
		       struct hlg_page_cut *cut)
{
	const struct hlg_node *nodes = flame->tree.nodes;
	uint64_t all = hlg_count_weigh(weight, nodes[0].total), largest = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < flame->tree.n; i++) {
		uint64_t width = hlg_count_weigh(weight, nodes[i].total);
		uint64_t own = hlg_count_weigh(weight, nodes[i].self);
		uint32_t on = i ? flame->node[nodes[i].parent] : 0;
		bool kept = width > limit || (width == limit && equal > 0);

		equal -= kept && width == limit;
		if (kept) {
			flame->node[i] = n;
			written[n++] = (struct written){i, own, false};
			continue;
		}
		cut->is.frames++;
		largest = width > largest ? width : largest;
		if (written[on].smaller) {
			written[on].count += own;
			flame->node[i] = on;
		} else if (n && written[n - 1].smaller &&
			   nodes[written[n - 1].first].parent == nodes[i].parent) {
			written[n - 1].count += own;
			flame->node[i] = n - 1;
		} else {
			flame->node[i] = n;
			written[n++] = (struct written){i, own, true};
		}
	}
	cut->is.frame_share = all ? (double)largest / (double)all : 0;
	return n;
}

/* named: which names are written, as nodes have them; the others are "", which packs to
 * nothing. 0: that of smaller frames. */
static void put(const struct hlg_page_flame *flame, struct hlg_page_data *d,
		const struct written *w, uint32_t n, const bool *named)
{
	const struct hlg_tree *tree = &flame->tree;
	const struct hlg_node *nodes = tree->nodes;

	hlg_page_data_open(d, "flame", '{');
	HLG_PAGE_DATA_LIST(d, "parent", n, signed,
			   i ? (int64_t)flame->node[nodes[w[i].first].parent] : -1);
	HLG_PAGE_DATA_LIST(d, "name", n, signed,
			   w[i].smaller ? (int64_t)tree->names.n
					: (int64_t)nodes[w[i].first].name - 1);
	HLG_PAGE_DATA_LIST(d, "kind", n, number,
			   w[i].smaller ? HLG_FRAME_NOTE : nodes[w[i].first].frame);
	HLG_PAGE_DATA_LIST(d, "count", n, number, w[i].count);
	hlg_page_data_open(d, "names", '[');
	for (uint32_t i = 0; i < tree->names.n; i++)
		hlg_page_data_text(d, NULL,
				   named[i + 1] ? hlg_strings_get(&tree->names, i + 1)
						: "");
	if (named[0])
		hlg_page_data_text(d, NULL, HLG_PAGE_SMALLER);
	hlg_page_data_close(d, ']');
	hlg_page_data_close(d, '}');
}

bool hlg_page_flame_put(struct hlg_page_flame *flame, struct hlg_page_data *data,
			const struct hlg_report *report, struct hlg_page_cut *cut)
{
	enum hlg_weight weight = report->all.weight;
	struct written *written = malloc(((size_t)flame->tree.n + 1) * sizeof(*written));
	bool *named = calloc((size_t)flame->tree.names.n + 1, sizeof(*named));
	size_t equal = SIZE_MAX;
	uint64_t limit = 0;
	uint32_t n;

	if (!written || !named ||
	    (cut->frames < flame->tree.n &&
	     !find_limit(&flame->tree, weight, cut->frames, &limit, &equal))) {
		free(written);
		free(named);
		return false;
	}
	n = choose(flame, weight, limit, equal, written, cut);
	cut->is.kept_frames = flame->tree.n - cut->is.frames;
	for (uint32_t i = 1; i < n; i++) /* the root has none */
		named[written[i].smaller ? 0 : flame->tree.nodes[written[i].first].name] =
			true;
	put(flame, data, written, n, named);
	for (uint32_t i = 0; i < report->stacks->n_stacks; i++)
		flame->ends[i] = flame->stack_ends[i] == HLG_NO_NODE
					 ? HLG_NO_NODE
					 : flame->node[flame->stack_ends[i]];
	free(written);
	free(named);
	return true;
}

void hlg_page_flame_finish(struct hlg_page_flame *flame)
{
	hlg_tree_finish(&flame->tree);
	free(flame->stack_ends);
	free(flame->node);
	free(flame->ends);
}
