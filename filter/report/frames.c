// SPDX-License-Identifier: GPL-2.0-only
#include "filter/report/frames.h"

#include "filter/report/callgraph.h"
#include "filter/report/paths.h"
#include "filter/report/rows.h"

static void add_row(struct hlg_growing *frames, const struct hlg_row *row,
		    const char *series)
{
	uint32_t node = HLG_TREE_ROOT;

	if (series)
		node = hlg_tree_child(frames->tree, node, HLG_FRAME_GROUP, series);
	if (row->place.image)
		node = hlg_tree_child(frames->tree, node, HLG_FRAME_GROUP,
				      row->place.image->path);
	node = hlg_tree_child(frames->tree, node, hlg_paths_row_frame(row), row->name);
	hlg_callgraph_add(frames, node, row->count);
}

static void add_view(void *to, const struct hlg_report *r, const struct hlg_view *v,
		     const char *series)
{
	size_t shown = hlg_rows_shown(r, v->n_rows, hlg_rows_share, v);
	size_t borders = hlg_rows_borders_shown(r, v);

	if (r->stacks) {
		hlg_callgraph_add_view(to, r, v, series);
		return;
	}
	for (size_t i = 0; i < shown; i++)
		add_row(to, &v->rows[i], series);
	for (size_t i = 0; i < borders; i++)
		add_row(to, &v->borders[i], series);
}

static void add_host(void *to, const struct hlg_host_row *row, double share,
		     const char *series)
{
	struct hlg_growing *frames = to;
	uint32_t node = hlg_tree_child(frames->tree, HLG_TREE_ROOT, HLG_FRAME_NOTE,
				       HLG_FRAMES_HOST);

	(void)share;
	if (series)
		node = hlg_tree_child(frames->tree, node, HLG_FRAME_GROUP, series);
	node = hlg_tree_child(frames->tree, node, HLG_FRAME_GROUP, row->comm);
	node = hlg_tree_child(frames->tree, node, HLG_FRAME_GROUP, row->dso);
	hlg_callgraph_add(frames, node, row->count);
}

int hlg_frames_build_ends(struct hlg_tree *tree, const struct hlg_report *report,
			  uint32_t *ends, struct hlg_err *err)
{
	struct hlg_growing frames = {tree, ends, hlg_tree_init(tree)};
	uint32_t n_ends = ends ? report->stacks->n_stacks : 0;
	int rc = 0;

	for (uint32_t i = 0; i < n_ends; i++)
		ends[i] = HLG_NO_NODE;
	if (frames.ok)
		rc = hlg_rows_each_view(&frames, report, add_view, err);
	if (frames.ok && rc == 0)
		rc = report->stacks ? hlg_callgraph_add_host(&frames, report, err)
				    : hlg_rows_each_host(&frames, report, add_host, err);
	if (rc == 0 && !(frames.ok &&
			 hlg_tree_settle(tree, (enum hlg_weight)report->options->weight)))
		rc = hlg_err_memory(err, "report");
	for (uint32_t i = 0; rc == 0 && i < n_ends; i++)
		if (ends[i] != HLG_NO_NODE)
			ends[i] = tree->where[ends[i]];
	return rc;
}

int hlg_frames_build(struct hlg_tree *tree, const struct hlg_report *report,
		     struct hlg_err *err)
{
	return hlg_frames_build_ends(tree, report, NULL, err);
}
