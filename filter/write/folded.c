// SPDX-License-Identifier: GPL-2.0-only
#include "filter/write/folded.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filter/report/frames.h"
#include "filter/write/format.h"
#include "symtab/escape.h"

/* Bytes of names in all lines: of each frame on average, and besides. */
enum {
	FRAME_TEXT = 1024,
	FREE_TEXT = 64 << 20
};

/* The blank before digits, or digits with a point behind some, that end text; or NULL. */
static const char *find_count(const char *text)
{
	static const char digits[] = "0123456789";
	const char *blank = strrchr(text, ' '), *end;

	if (!blank || !strspn(blank + 1, digits))
		return NULL;
	end = blank + 1 + strspn(blank + 1, digits);
	if (*end == '.')
		end += 1 + strspn(end + 1, digits);
	return *end ? NULL : blank;
}

void hlg_folded_frame(FILE *f, const char *name)
{
	const char *blank = find_count(name);

	if (blank) {
		hlg_escape_print_as(f, name, (size_t)(blank - name), ';', ":");
		fputs("\\x20", f);
		name = blank + 1;
	}
	hlg_escape_print_as(f, name, SIZE_MAX, ';', ":");
}

/* A group, as "tid 72", is never last: nobody takes what it ends in for a count. */
static void write_node(FILE *f, const struct hlg_tree *tree, const struct hlg_node *node)
{
	const char *name = hlg_tree_name(tree, node);

	if (node->frame == HLG_FRAME_GROUP && node->self.samples == 0)
		hlg_escape_print_as(f, name, SIZE_MAX, ';', ":");
	else
		hlg_folded_frame(f, name);
}

/* Would names be longer than a frame's has to be, on average, and than FREE_TEXT in all?
 * Each line has those of its stack anew. text: of each node what its line takes. */
static bool is_too_long(const struct hlg_tree *tree, enum hlg_weight weight,
			uint64_t *text)
{
	uint64_t sum = 0, frames = 0;

	for (uint32_t i = 1; i < tree->n; i++) {
		const struct hlg_node *node = &tree->nodes[i];

		text[i] = text[node->parent] + strlen(hlg_tree_name(tree, node));
		if (!hlg_count_weigh(weight, node->self))
			continue;
		sum += text[i];
		frames += node->depth;
	}
	return sum > FREE_TEXT + FRAME_TEXT * frames;
}

int hlg_folded_check(const struct hlg_tree *tree, enum hlg_weight weight,
		     struct hlg_err *err)
{
	uint64_t *text = calloc(tree->n + (size_t)1, sizeof(*text));
	bool too_long = text && is_too_long(tree, weight, text);

	free(text);
	if (!text)
		return hlg_err_memory(err, "report");
	return too_long ? hlg_err_set(err, HLG_EINPUT,
				      "report: its stacks repeat too long names (use "
				      "--format=speedscope, or choose fewer samples, as "
				      "with --time)")
			: 0;
}

int hlg_folded_write(FILE *f, const struct hlg_tree *tree, enum hlg_weight weight,
		     struct hlg_err *err)
{
	uint32_t depth = 0;
	uint32_t *path; /* nodes from the root to the one at hand */

	if (hlg_folded_check(tree, weight, err) < 0)
		return err->code;
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

int hlg_folded_report(FILE *f, const struct hlg_report *r, struct hlg_err *err)
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
