// SPDX-License-Identifier: GPL-2.0-only
#include "tools/flame/frame.h"

#include <inttypes.h>
#include <math.h>

#include "filter/stats/interval.h"
#include "filter/view/view.h"
#include "filter/write/write.h"
#include "tools/svg/xml.h"

/* Pixels down to the frames of a depth. */
static int top_of(const struct hlg_graph *graph, uint32_t depth)
{
	uint32_t rows = graph->inverted ? depth : graph->layout->depth - depth;

	return (int)rows * HLG_BOX_HEIGHT;
}

const char *hlg_frame_class(enum hlg_frame kind)
{
	static const char *const classes[] = {"group", "user", "kernel",
					      "guest", "gap",  "note"};

	return classes[kind];
}

const char *hlg_frame_word(enum hlg_frame kind)
{
	static const char *const words[] = {"group", "host user", "host kernel",
					    "guest", "gap",       "note"};

	return words[kind];
}

/* How much a significant change is, in three steps: below 1 and 5 points, and more. */
static const char *change_class(const struct hlg_change *change)
{
	static const char *const grew[] = {"grew1", "grew2", "grew3"};
	static const char *const shrank[] = {"shrank1", "shrank2", "shrank3"};
	double diff = fabs(change->compared.diff);
	int step = diff < 0.01 ? 0 : diff < 0.05 ? 1 : 2;

	if (!change->significant)
		return "same";
	return change->compared.diff > 0 ? grew[step] : shrank[step];
}

static const char *percent(char buf[static 16], double share)
{
	return hlg_write_percent(buf, share);
}

/* "+1.20", "-0.34" */
static void put_points(FILE *f, double diff)
{
	char buf[16];

	fprintf(f, "%c%s", diff < 0 ? '-' : '+', percent(buf, fabs(diff)));
}

static void put_change(FILE *f, const struct hlg_change *change)
{
	char buf[16];

	fprintf(f, "\nbefore %s %%, difference ", percent(buf, change->before));
	put_points(f, change->compared.diff);
	fputs(" points (95 %: ", f);
	put_points(f, change->compared.low);
	fputs(" to ", f);
	put_points(f, change->compared.high);
	fprintf(f, "), %ssignificant", change->significant ? "" : "not ");
}

static double part(uint64_t weight, uint64_t of)
{
	return of ? (double)weight / (double)of : 0;
}

/* What is known of a frame, under its name. */
static void put_words(FILE *f, const struct hlg_graph *g, const struct hlg_box *box,
		      uint64_t weight)
{
	const struct hlg_node *node = &g->tree->nodes[box->node];
	char share[16], low[16], high[16];
	struct hlg_share s;

	fprintf(f, "\n%s, %" PRIu64 " sample%s", hlg_frame_word(node->frame),
		node->total.samples, node->total.samples == 1 ? "" : "s");
	if (g->weight == HLG_WEIGHT_PERIOD) /* else of several units, maybe */
		fprintf(f, ", period %" PRIu64, node->total.period);
	if (box->node == HLG_TREE_ROOT)
		return;
	s = hlg_interval_wilson(part(weight, g->layout->total), g->observations);
	fprintf(f, "\n%s %% of all (95 %%: %s to %s)", percent(share, s.share),
		percent(low, s.low), percent(high, s.high));
	if (node->parent != HLG_TREE_ROOT)
		fprintf(f, ", %s %% of its parent",
			percent(share,
				part(weight,
				     hlg_count_weigh(
					     g->weight,
					     g->tree->nodes[node->parent].total))));
	if (g->changes)
		put_change(f, &g->changes->nodes[box->node]);
}

static const char *name_of(const struct hlg_graph *g, const struct hlg_box *box)
{
	return box->node == HLG_TREE_ROOT
		       ? "all"
		       : hlg_tree_name(g->tree, &g->tree->nodes[box->node]);
}

/* A share in millionths, in percent: "12.3456". */
static void put_place(FILE *f, const char *attribute, uint32_t millionths)
{
	fprintf(f, " %s=\"%u.%04u%%\"", attribute, millionths / 10000,
		millionths % 10000);
}

static void put_label(FILE *f, const struct hlg_graph *g, const struct hlg_box *box,
		      int top)
{
	/* A character is about 7.3 pixels, the graph 98 % of the picture. */
	double pixels = (double)(box->right - box->left) / HLG_LAYOUT_WIDTH *
			HLG_GRAPH_WIDTH * 0.98;
	size_t columns = pixels > 6 ? (size_t)((pixels - 6) / 7.3) : 0;

	if (columns < 3)
		return;
	fputs("<text", f);
	put_place(f, "x", box->left);
	fprintf(f, " dx=\"3\" y=\"%d\">", top + 13);
	hlg_xml_text_cut(f, name_of(g, box), columns);
	fputs("</text>", f);
}

void hlg_frame_write(FILE *f, const struct hlg_graph *g, const struct hlg_box *box)
{
	const struct hlg_node *node = &g->tree->nodes[box->node];
	uint64_t weight = hlg_count_weigh(g->weight, node->total);
	int top = top_of(g, node->depth);

	fprintf(f, "<g class=\"f %s", hlg_frame_class(node->frame));
	if (g->changes)
		fprintf(f, " %s",
			box->node == HLG_TREE_ROOT
				? "same"
				: change_class(&g->changes->nodes[box->node]));
	/* Below three pixels an edge would be all there is. */
	if (box->right - box->left < 3 * HLG_LAYOUT_WIDTH / HLG_GRAPH_WIDTH)
		fputs(" thin", f);
	fprintf(f, "\" data-at=\"%" PRIu64 "\" data-n=\"%" PRIu64 "\" data-d=\"%u\">",
		box->at, weight, node->depth);
	fputs("<title>", f);
	hlg_xml_text(f, name_of(g, box));
	put_words(f, g, box, weight);
	fputs("</title><rect", f);
	put_place(f, "x", box->left);
	put_place(f, "width", box->right - box->left);
	fprintf(f, " y=\"%d\" height=\"%d\"/>", top, HLG_BOX_HEIGHT - 1);
	put_label(f, g, box, top);
	fputs("</g>\n", f);
}
