// SPDX-License-Identifier: GPL-2.0-only
#include "filter/write/folded.h"

#include <inttypes.h>
#include <stdlib.h>

#include "filter/report/frames.h"
#include "filter/write/format.h"
#include "filter/write/write.h"

/* A group, as "tid 72", is never last: nobody takes what it ends in for a count. */
static void write_node(FILE *f, const struct hlg_tree *tree, const struct hlg_node *node)
{
	const char *name = hlg_tree_name(tree, node);

	if (node->frame == HLG_FRAME_GROUP && node->self.samples == 0)
		hlg_write_escaped(f, name, ';', ":");
	else
		hlg_write_frame(f, name);
}

int hlg_folded_write(FILE *f, const struct hlg_tree *tree, enum hlg_weight weight,
		     struct hlg_err *err)
{
	uint32_t depth = 0;
	uint32_t *path; /* nodes from the root to the one at hand */

	for (uint32_t i = 0; i < tree->n; i++)
		if (tree->nodes[i].depth > depth)
			depth = tree->nodes[i].depth;
	path = calloc((size_t)depth + 1, sizeof(*path));
	if (!path)
		return hlg_err_memory(err, "report");
	for (uint32_t i = 1; i < tree->n; i++) {
		const struct hlg_node *node = &tree->nodes[i];
		uint64_t self = hlg_count_weigh(weight, node->self);

		path[node->depth] = i;
		for (uint32_t d = 1; self && d <= node->depth; d++) {
			if (d > 1)
				fputc(';', f);
			write_node(f, tree, &tree->nodes[path[d]]);
		}
		if (self)
			fprintf(f, " %" PRIu64 "\n", self);
	}
	free(path);
	return 0;
}

int hlg_write_folded(FILE *f, const struct hlg_report *r, struct hlg_err *err)
{
	struct hlg_tree tree = {0};
	int rc = hlg_report_check_whole(r, err);

	if (rc == 0)
		rc = hlg_frames_build(&tree, r, err);
	if (rc == 0)
		rc = hlg_folded_write(f, &tree, (enum hlg_weight)r->options->weight, err);
	hlg_tree_finish(&tree);
	return rc;
}
