// SPDX-License-Identifier: GPL-2.0-only
#include "filter/write/text-children.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/report/children.h"
#include "filter/report/rows.h"
#include "filter/write/table.h"
#include "symtab/escape.h"

/* Of a tree that is not asked for whole: the lines with most are drawn, about so many. */
#define TREE_LINES 24

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
	struct hlg_children *children;
	struct hlg_table table;
	uint64_t most; /* rows that the screen has room for; 0: any number */
	bool whole;    /* trees, whatever their size */
	bool ok;
};

static bool write_row(struct writing *w, const struct hlg_children_row *row)
{
	const struct hlg_share *s = &row->share;
	char margin[32];
	const struct hlg_value c[COLUMNS] = {
		[CHILDREN] = hlg_table_number_value(s->share),
		[MARGIN] = hlg_table_text_value(margin),
		[SELF] = hlg_table_number_value(row->self_share),
		[SAMPLES] = hlg_table_count_value(row->count.samples),
		[FUNCTION] =
			hlg_table_text_value(w->children->paths.places[row->place].name),
	};

	if (row->at_least)
		snprintf(margin, sizeof(margin), "to %3.0f%%", ceil(s->high * 100));
	else
		hlg_interval_margin(margin, s, false, w->r->screen.ascii);
	return hlg_table_text_row(w->f, &w->table, c, s->share);
}

/* "97.65 %  <- guest::one_round": each level two cells further to the right. A frame that
 * alone stands above another is drawn beneath it, as far to the left, without a share;
 * times: the function stands there so often, one above the other. */
static void write_node(const struct writing *w, const char *name, unsigned level,
		       double share, unsigned times)
{
	static const char *const ways[] = {"", "->", "<-"};
	/* A name has this many cells at least: so far to the right it stands. */
	enum {
		LEAST = 20,
		FRONT = 13 /* in front of a name, behind what it is moved by */
	};
	const unsigned room = w->r->screen.columns;
	unsigned indent = 2 + 2 * level, used;
	char percent[16], told[24] = "", again[24] = "";

	if (!isnan(share))
		snprintf(told, sizeof(told), "%6s %%",
			 hlg_interval_percent(percent, share));
	if (times > 1)
		snprintf(again, sizeof(again), " (%u times)", times);
	used = FRONT + (unsigned)strlen(again);
	if (room && indent + used + LEAST > room)
		indent = room > used + LEAST ? room - used - LEAST : 0;
	fprintf(w->f, "%*s%8s  %s ", (int)indent, "", told,
		ways[w->r->options->call_graph]);
	hlg_table_cut(w->f, name,
		      !room                  ? LONG_MAX
		      : room > indent + used ? (long)(room - indent - used)
					     : LEAST,
		      w->r->screen.ascii);
	fprintf(w->f, "%s\n", again);
}

static uint64_t weigh(const struct writing *w, struct hlg_count count)
{
	return hlg_count_weigh(w->v->weight, count);
}

/* Is all of its parent's in it? */
static bool is_alone(const struct hlg_tree *tree, const struct hlg_node *node)
{
	return node->depth > 1 &&
	       node->total.samples == tree->nodes[node->parent].total.samples;
}

/* A recursion, each call of which has all of the one before: one line. */
static bool is_folded(const struct hlg_tree *tree, const struct hlg_node *node)
{
	const struct hlg_node *parent = &tree->nodes[node->parent];

	return is_alone(tree, node) && node->name == parent->name &&
	       node->frame == parent->frame;
}

static int compare_weights(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* What a node weighs at least that is drawn: a parent has what its children have. False
 * without memory. */
static bool find_least(const struct writing *w, const struct hlg_tree *tree,
		       uint64_t *least)
{
	uint64_t *weights;
	size_t n = 0;

	*least = 0;
	if (w->whole)
		return true;
	weights = calloc(tree->n, sizeof(*weights));
	if (!weights)
		return false;
	for (uint32_t i = 1; i < tree->n; i++)
		if (!is_folded(tree, &tree->nodes[i]))
			weights[n++] = weigh(w, tree->nodes[i].total);
	qsort(weights, n, sizeof(*weights), compare_weights);
	*least = (uint64_t)((double)weigh(w, w->children->all) * HLG_CHILDREN_LEAST);
	if (n > TREE_LINES && weights[TREE_LINES - 1] > *least)
		*least = weights[TREE_LINES - 1];
	/* Many that weigh the same: none of them. */
	if (n > 2 * (size_t)TREE_LINES && weights[2 * TREE_LINES] >= *least)
		++*least;
	free(weights);
	return true;
}

/* Nodes stand in the order that they are drawn in: parents first, the largest child of
 * each first. level: how far each is to the right. Returns how many are left out. */
static uint32_t write_nodes(const struct writing *w, const struct hlg_tree *tree,
			    uint64_t least, unsigned *level)
{
	double all = (double)weigh(w, w->children->all);
	uint32_t left_out = 0;

	for (uint32_t i = 1; i < tree->n;) {
		const struct hlg_node *node = &tree->nodes[i];
		bool alone = is_alone(tree, node);
		unsigned times = 1;

		level[i] = level[node->parent] + (node->depth > 1 && !alone ? 1 : 0);
		if (weigh(w, node->total) < least) {
			left_out += node->end - i;
			i = node->end;
			continue;
		}
		for (i++; i < node->end && is_folded(tree, &tree->nodes[i]); i++) {
			level[i] = level[i - 1];
			times++;
		}
		write_node(w, hlg_tree_name(tree, node), level[i - 1],
			   alone ? (double)NAN : (double)weigh(w, node->total) / all,
			   times);
	}
	return left_out;
}

static bool write_tree(const struct writing *w, const struct hlg_tree *tree)
{
	unsigned *level = calloc(tree->n, sizeof(*level));
	uint32_t left_out = 0;
	uint64_t least;
	bool ok = level && find_least(w, tree, &least);
	char percent[16];

	if (ok)
		left_out = write_nodes(w, tree, least, level);
	if (left_out)
		fprintf(w->f, "  (%" PRIu32 " more, each below %s %%: --top=0)\n",
			left_out,
			hlg_interval_percent(percent,
					     (double)least /
						     (double)weigh(w, w->children->all)));
	free(level);
	return ok;
}

static bool write_calls(struct writing *w, const struct hlg_children_row *row)
{
	int way = w->r->options->call_graph;
	struct hlg_tree tree = {0};
	bool ok;

	if (way == HLG_CALL_GRAPH_NONE)
		return true;
	ok = hlg_children_tree(&tree, w->children, row, way == HLG_CALL_GRAPH_CALLEE);
	if (ok && tree.n > 1) {
		ok = write_tree(w, &tree);
		fputc('\n', w->f);
	}
	hlg_tree_finish(&tree);
	return ok;
}

/* Is one of the first rows of a function that was inlined? */
static bool shows_inlined(const struct hlg_children *c, size_t shown)
{
	for (size_t i = 0; i < shown; i++)
		if (c->paths.places[c->rows[i].place].inlined)
			return true;
	return false;
}

static void write_rows(struct writing *w)
{
	struct hlg_children *c = w->children;
	size_t shown = hlg_children_shown(c, w->r, w->most);

	hlg_table_text_head(w->f, &w->table);
	for (size_t i = 0; i < shown && w->ok; i++)
		w->ok = write_row(w, &c->rows[i]) && write_calls(w, &c->rows[i]);
	if (shown < c->n)
		fprintf(w->f, "%*s(%zu more row%s: --top=0)\n", 37, "", c->n - shown,
			c->n - shown > 1 ? "s" : "");
	if (shows_inlined(c, shown))
		fputs("self counts inlined code as its function's, where it stands\n",
		      w->f);
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
			    .most = most,
			    .whole = hlg_rows_top(r) == 0,
			    .ok = true};
	int rc = hlg_children_build(&children, r, v, err);

	if (rc == 0)
		write_rows(&w);
	hlg_children_finish(&children);
	return rc == 0 && !w.ok ? hlg_err_memory(err, "report") : rc;
}
