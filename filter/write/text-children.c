// SPDX-License-Identifier: GPL-2.0-only
#include "filter/write/text-children.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "filter/report/children.h"
#include "filter/report/rows.h"
#include "filter/write/table.h"
#include "symtab/escape.h"

/* Of a tree: lines narrower than this share of all are left out, and what stands higher
 * than so many calls above or below. */
#define LEAST       0.005
#define TREE_LEVELS 40
#define TREE_LINES  24

enum column {
	CHILDREN,
	MARGIN,
	SELF,
	SAMPLES,
	FUNCTION,
	COLUMNS
};

static const struct hlg_column columns[COLUMNS] = {
	[CHILDREN] = {NULL, "children", .type = HLG_VALUE_PERCENT, 0, 8, .unit = " %",
		      .flags = HLG_COLUMN_PAINTED},
	[MARGIN] = {NULL, "95 %", .type = HLG_VALUE_WORD, 1, 7},
	[SELF] = {NULL, "self", .type = HLG_VALUE_PERCENT, 1, 8, .unit = " %"},
	[SAMPLES] = {NULL, "samples", .type = HLG_VALUE_COUNT, 2, 8},
	[FUNCTION] = {NULL, "function", .type = HLG_VALUE_TEXT, 2},
};

struct writing {
	FILE *f;
	const struct hlg_report *r;
	const struct hlg_view *v;
	const struct hlg_children *children;
	struct hlg_table table;
	bool ok;
};

static bool write_row(struct writing *w, const struct hlg_children_row *row)
{
	const struct hlg_share *s = &row->share;
	char margin[32], points[16];
	const struct hlg_value c[COLUMNS] = {
		[CHILDREN] = hlg_table_number_value(s->share),
		[MARGIN] = hlg_table_text_value(margin),
		[SELF] = hlg_table_number_value(row->self_share),
		[SAMPLES] = hlg_table_count_value(row->count.samples),
		[FUNCTION] =
			hlg_table_text_value(w->children->paths.places[row->place].name),
	};

	if (row->at_least)
		snprintf(margin, sizeof(margin), "to %3.0f %%", ceil(s->high * 100));
	else
		snprintf(margin, sizeof(margin), "%s%5s",
			 w->r->screen.ascii ? "+-" : "\u00b1",
			 hlg_interval_percent(
				 points, fmax(s->high - s->share, s->share - s->low)));
	return hlg_table_text_row(w->f, &w->table, c, s->share);
}

/* "97.65 %  <- guest::one_round": each level two cells further to the right. A frame that
 * alone stands above another is drawn beneath it, as far to the left, without a share. */
static void write_node(const struct writing *w, const char *name, unsigned level,
		       double share)
{
	static const char *const ways[] = {"", "->", "<-"};
	const unsigned room = w->r->screen.columns, indent = 2 + 2 * level;
	char percent[16], told[24] = "";

	if (!isnan(share))
		snprintf(told, sizeof(told), "%6s %%",
			 hlg_interval_percent(percent, share));
	fprintf(w->f, "%*s%8s  %s ", (int)indent, "", told,
		ways[w->r->options->call_graph]);
	hlg_table_cut(w->f, name,
		      !room                ? LONG_MAX
		      : room > indent + 33 ? (long)(room - indent - 13)
					   : 20,
		      w->r->screen.ascii);
	fputc('\n', w->f);
}

/* Nodes stand in the order that they are drawn in: parents first, the largest child of
 * each first. levels: how far each is to the right, by its depth. */
static void write_tree(const struct writing *w, const struct hlg_tree *tree)
{
	double all = (double)hlg_count_weigh(w->v->weight, w->children->all);
	unsigned level[TREE_LEVELS + 1] = {0}, lines = 0;
	uint32_t left_out = 0;

	for (uint32_t i = 1; i < tree->n;) {
		const struct hlg_node *node = &tree->nodes[i];
		const struct hlg_node *parent = &tree->nodes[node->parent];
		double share = (double)hlg_count_weigh(w->v->weight, node->total) / all;
		bool alone = node->total.samples == parent->total.samples;

		if (share < LEAST || node->depth > TREE_LEVELS || lines >= TREE_LINES) {
			left_out++;
			i = node->end;
			continue;
		}
		level[node->depth] =
			level[node->depth - 1] + (node->depth > 1 && !alone ? 1 : 0);
		write_node(w, hlg_tree_name(tree, node), level[node->depth],
			   node->depth > 1 && alone ? (double)NAN : share);
		lines++;
		i++;
	}
	if (left_out)
		fprintf(w->f, "  (%" PRIu32 " more: --format=folded, hlguest flame)\n",
			left_out);
}

static bool write_calls(struct writing *w, const struct hlg_children_row *row)
{
	int way = w->r->options->call_graph;
	struct hlg_tree tree = {0};
	bool ok;

	if (way == HLG_CALL_GRAPH_NONE)
		return true;
	ok = hlg_children_tree(&tree, w->children, row, way == HLG_CALL_GRAPH_CALLEE,
			       w->v->weight);
	if (ok && tree.n > 1) {
		write_tree(w, &tree);
		fputc('\n', w->f);
	}
	hlg_tree_finish(&tree);
	return ok;
}

static void write_rows(struct writing *w, uint64_t most)
{
	const struct hlg_children *c = w->children;
	size_t n = 0;

	hlg_table_text_head(w->f, &w->table);
	for (; n < c->n && w->ok && (!most || n < most); n++) {
		if (!hlg_rows_shows(w->r, c->rows[n].share.share, n))
			break;
		w->ok = write_row(w, &c->rows[n]) && write_calls(w, &c->rows[n]);
	}
	if (n < c->n)
		fprintf(w->f, "%*s(%zu more row%s: --top=0)\n", 37, "", c->n - n,
			c->n - n > 1 ? "s" : "");
	fputc('\n', w->f);
}

int hlg_text_children_write(FILE *f, const struct hlg_report *r, const struct hlg_view *v,
			    uint64_t most, struct hlg_err *err)
{
	struct hlg_children children;
	struct writing w = {.f = f,
			    .r = r,
			    .v = v,
			    .children = &children,
			    .table = {columns, .n = COLUMNS, .colours = r->colours,
				      .screen = r->screen},
			    .ok = true};
	int rc = hlg_children_build(&children, r, v, err);

	if (rc == 0)
		write_rows(&w, most);
	hlg_children_finish(&children);
	return rc == 0 && !w.ok ? hlg_err_memory(err, "report") : rc;
}
