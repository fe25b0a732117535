// SPDX-License-Identifier: GPL-2.0-only
/*
 * Draws a flame graph of stacks made by hand, for what recordings do not have: deep host
 * stacks, all kinds of frames, names of any bytes.
 *
 *	draw [--inverted] [--least=SHARE] <STACKS >SVG
 *
 * A line of STACKS is `NUMBER FRAME\037FRAME...`: samples, then frames from the root on,
 * each a letter for its kind (r group, u host user, k host kernel, g guest, p gap, b
 * border, n note) and its name. A period is ten times as much as the samples. A line `--`
 * parts a tree before from one after.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/flame/flame.h"

static enum hlg_frame kind_of(char c)
{
	static const char letters[] = "rukgpbn"; /* as in enum hlg_frame */
	const char *at = strchr(letters, c);

	if (!c || !at)
		exit(2);
	return (enum hlg_frame)(at - letters);
}

static void put_stack(struct hlg_tree *tree, char *line)
{
	uint64_t n = strtoull(line, &line, 10);
	uint32_t node = HLG_TREE_ROOT;

	for (char *frame = strtok(line + 1, "\037"); frame; frame = strtok(NULL, "\037"))
		node = hlg_tree_child(tree, node, kind_of(frame[0]), frame + 1);
	if (node == HLG_NO_NODE)
		exit(1);
	hlg_tree_add(tree, node, (struct hlg_count){n, 10 * n});
}

/* Returns whether another tree follows. */
static bool read_tree(struct hlg_tree *tree, FILE *f)
{
	char *line = NULL;
	bool more = false;
	size_t size = 0;

	if (!hlg_tree_init(tree))
		exit(1);
	while (!more && getline(&line, &size, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		more = strcmp(line, "--") == 0;
		if (!more)
			put_stack(tree, line);
	}
	free(line);
	if (!hlg_tree_settle(tree, HLG_WEIGHT_PERIOD))
		exit(1);
	return more;
}

static double samples_of(const struct hlg_tree *tree)
{
	return (double)tree->nodes[HLG_TREE_ROOT].total.samples;
}

int main(int argc, char **argv)
{
	struct hlg_tree trees[2] = {{.n = 0}, {.n = 0}};
	struct hlg_layout layout;
	struct hlg_changes changes = {0};
	bool two = read_tree(&trees[0], stdin);
	struct hlg_flame_side before = {.tree = &trees[0],
					.observations = samples_of(&trees[0])},
			      after = before;
	struct hlg_graph graph = {.weight = HLG_WEIGHT_PERIOD,
				  .title = "by hand: </title><script>"};
	struct hlg_err err;
	double least = 0;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--inverted") == 0)
			graph.inverted = true;
		else if (strncmp(argv[i], "--least=", 8) == 0)
			least = strtod(argv[i] + 8, NULL);
	}
	if (two) {
		read_tree(&trees[1], stdin);
		after = (struct hlg_flame_side){.tree = &trees[1],
						.observations = samples_of(&trees[1])};
		if (!hlg_changes_make(&changes, &before, &after, graph.weight))
			return 1;
		graph.changes = &changes;
	}
	graph.tree = after.tree;
	graph.observations = after.observations;
	graph.layout = &layout;
	hlg_note_list_add(&graph.texts[HLG_GRAPH_NOTE], "a </script> & note");
	if (!hlg_graph_layout(&layout, graph.tree, graph.weight, least) ||
	    hlg_graph_write(stdout, &graph, &err) < 0)
		return 1;
	hlg_graph_layout_finish(&layout);
	hlg_note_list_finish(&graph.texts[HLG_GRAPH_NOTE]);
	hlg_changes_finish(&changes);
	hlg_tree_finish(&trees[0]);
	hlg_tree_finish(&trees[1]);
	return 0;
}
