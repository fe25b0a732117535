// SPDX-License-Identifier: GPL-2.0-only
#include "tools/flame/flame.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filter/report/inlined.h"
#include "filter/stats/interval.h"
#include "filter/view/view.h"
#include "tools/page/page.h"
#include "tools/svg/xml.h"

/* In pixels. */
enum {
	TOP = 26, /* base line of the title */
	LINE = 17,
	LEGEND = 28,
	BOTTOM = 10,
	BOX_HEIGHT = 18, /* from one depth to the next */
	WIDTH = 1200     /* without a script; it makes the picture fill its window */
};

/* Bytes of all boxes' names: of each on average, and besides. */
enum {
	BOX_NAME = 1024,
	FREE_NAMES = 16 << 20
};

/* Rounded the same way wherever it is asked: what touches stays in touch. */
static uint32_t place(const struct hlg_layout *layout, uint64_t at)
{
	if (layout->total == 0)
		return at ? HLG_LAYOUT_WIDTH : 0;
	return (uint32_t)((hlg_u128)at * HLG_LAYOUT_WIDTH / layout->total);
}

/* A frame whose samples are all dropped, as those of gaps, is none. */
static void hide_box(struct hlg_layout *layout, const struct hlg_tree *tree, uint32_t i)
{
	const struct hlg_node *node = &tree->nodes[i];

	hlg_count_add(&layout->hidden, node->total);
	for (uint32_t k = i; k < node->end; k++)
		layout->n_hidden += tree->nodes[k].total.samples > 0;
}

static void add_box(struct hlg_layout *layout, const struct hlg_node *node, uint32_t i,
		    uint64_t at, uint64_t weight)
{
	layout->boxes[layout->n++] =
		(struct hlg_box){i, at, place(layout, at), place(layout, at + weight), 0};
	if (node->depth > layout->depth)
		layout->depth = node->depth;
}

bool hlg_graph_layout(struct hlg_layout *layout, const struct hlg_tree *tree,
		      enum hlg_weight weight, double least)
{
	/* Where the next box of each depth begins; there are fewer depths than nodes. */
	uint64_t *next = calloc((size_t)tree->n + 1, sizeof(*next));
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
			hide_box(layout, tree, i);
			i = node->end;
			continue;
		}
		add_box(layout, node, i++, at, w);
	}
	free(next);
	return hlg_shades_assign(layout, tree);
}

void hlg_graph_layout_finish(struct hlg_layout *layout)
{
	free(layout->boxes);
	*layout = (struct hlg_layout){0};
}

/* Pixels down to the frames of a depth. */
static int frame_top(const struct hlg_graph *graph, uint32_t depth)
{
	uint32_t rows = graph->inverted ? depth : graph->layout->depth - depth;

	return (int)rows * BOX_HEIGHT;
}

/* The colour's class. */
static const char *frame_class(enum hlg_frame kind)
{
	static const char *const classes[] = {"group", "user",   "kernel", "guest",
					      "gap",   "border", "note"};

	return classes[kind];
}

static bool has_shades(enum hlg_frame kind)
{
	return kind == HLG_FRAME_GUEST || kind == HLG_FRAME_HOST_USER ||
	       kind == HLG_FRAME_HOST_KERNEL;
}

/* It has no frame of its own on the stack: its name says so. */
static bool is_inlined(const struct hlg_tree *tree, const struct hlg_node *node)
{
	const char *name = hlg_tree_name(tree, node);
	size_t n = strlen(name), mark = strlen(HLG_INLINED_MARK);

	return node->frame == HLG_FRAME_GUEST && n > mark &&
	       strcmp(name + n - mark, HLG_INLINED_MARK) == 0;
}

/* How much a significant change is, in three steps: below 1 and 5 points, and more. */
static const char *change_class(const struct hlg_change *change)
{
	static const char *const grew[] = {"grew1", "grew2", "grew3"};
	static const char *const shrank[] = {"shrank1", "shrank2", "shrank3"};
	double diff = fabs(change->compared.diff);
	int step = diff < 0.01 ? 0 : diff < 0.05 ? 1 : 2;

	if (change->alone)
		return "alone";
	if (!change->significant)
		return "same";
	return change->compared.diff > 0 ? grew[step] : shrank[step];
}

static void put_change(FILE *f, const struct hlg_change *change)
{
	const struct hlg_compared *c = &change->compared;
	char before[16], diff[16], low[16], high[16];

	if (change->alone)
		fputs("\nno other side: only this one has host samples", f);
	else
		fprintf(f,
			"\nbefore %s %%, difference %s points (95 %%: %s to %s), "
			"%ssignificant",
			hlg_interval_percent(before, change->before),
			hlg_interval_points(diff, c->diff),
			hlg_interval_points(low, c->low),
			hlg_interval_points(high, c->high),
			change->significant ? "" : "not ");
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

	fprintf(f, "\n%s, %" PRIu64 " sample%s", hlg_tree_frame_word(node->frame),
		node->total.samples, node->total.samples == 1 ? "" : "s");
	if (g->weight == HLG_WEIGHT_PERIOD && g->clock)
		fprintf(f, ", %" PRIu64 ".%" PRIu64 " ms", node->total.period / 1000000,
			node->total.period / 100000 % 10);
	else if (g->weight == HLG_WEIGHT_PERIOD) /* else of several units, maybe */
		fprintf(f, ", period %" PRIu64, node->total.period);
	if (box->node == HLG_TREE_ROOT)
		return;
	s = hlg_interval_wilson(part(weight, g->layout->total), g->observations);
	if (hlg_interval_is_few(node->total.samples, s.share))
		s.low = 0;
	fprintf(f, "\n%s %% of all (95 %%: %s to %s)",
		hlg_interval_percent(share, s.share), hlg_interval_percent(low, s.low),
		hlg_interval_percent(high, s.high));
	if (node->parent != HLG_TREE_ROOT)
		fprintf(f, ", %s %% of its parent",
			hlg_interval_percent(
				share,
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

/* Behind a name that is there in full: " 12.3 %", of all. As tools/page/frames.js. */
static void put_share(FILE *f, const struct hlg_graph *g, const struct hlg_box *box,
		      size_t columns)
{
	uint64_t total = g->layout->total;
	uint64_t weight = hlg_count_weigh(g->weight, g->tree->nodes[box->node].total);
	unsigned tenths =
		total ? (unsigned)(((hlg_u128)weight * 1000 + total / 2) / total) : 0;
	size_t used = 0;
	char share[16];

	snprintf(share, sizeof(share), " %u.%u %%", tenths / 10, tenths % 10);
	for (const char *name = name_of(g, box); *name; name++)
		used += *name < ' ' || *name > '~' ? columns : 1;
	if (box->node != HLG_TREE_ROOT && used + strlen(share) <= columns)
		fputs(share, f);
}

static void put_label(FILE *f, const struct hlg_graph *g, const struct hlg_box *box,
		      int top)
{
	/* A character is about 7.3 pixels, the graph 98 % of the picture. */
	double pixels =
		(double)(box->right - box->left) / HLG_LAYOUT_WIDTH * WIDTH * 0.98;
	size_t columns = pixels > 6 ? (size_t)((pixels - 6) / 7.3) : 0;

	if (columns < 3)
		return;
	fputs("<text", f);
	put_place(f, "x", box->left);
	fprintf(f, " dx=\"3\" y=\"%d\">", top + 13);
	hlg_xml_text_cut(f, name_of(g, box), columns);
	put_share(f, g, box, columns);
	fputs("</text>", f);
}

static void write_frame(FILE *f, const struct hlg_graph *g, const struct hlg_box *box)
{
	const struct hlg_node *node = &g->tree->nodes[box->node];
	uint64_t weight = hlg_count_weigh(g->weight, node->total);
	int top = frame_top(g, node->depth);

	fprintf(f, "<g class=\"f %s", frame_class(node->frame));
	if (g->changes)
		fprintf(f, " %s",
			box->node == HLG_TREE_ROOT
				? "same"
				: change_class(&g->changes->nodes[box->node]));
	else if (has_shades(node->frame))
		fprintf(f, " s%u%s", box->shade,
			is_inlined(g->tree, node) ? " inlined" : "");
	/* Below three pixels an edge would be all there is. */
	if (box->right - box->left < 3 * HLG_LAYOUT_WIDTH / WIDTH)
		fputs(" thin", f);
	fprintf(f, "\" data-at=\"%" PRIu64 "\" data-n=\"%" PRIu64 "\" data-d=\"%u\">",
		box->at, weight, node->depth);
	fputs("<title>", f);
	hlg_xml_text(f, name_of(g, box));
	put_words(f, g, box, weight);
	fputs("</title><rect", f);
	put_place(f, "x", box->left);
	put_place(f, "width", box->right - box->left);
	fprintf(f, " y=\"%d\" height=\"%d\"/>", top, BOX_HEIGHT - 1);
	put_label(f, g, box, top);
	fputs("</g>\n", f);
}

/* Bytes of text in its first line, and where the next begins. */
static size_t first_line(const char *text, size_t *next)
{
	size_t n = strlen(text);

	if (n > HLG_GRAPH_COLUMNS) {
		n = HLG_GRAPH_COLUMNS;
		while (n && text[n] != ' ')
			n--;
		if (n == 0) /* a word longer than a line */
			n = strcspn(text, " ");
	}
	*next = n + strspn(text + n, " ");
	return n;
}

/* How high texts are. */
static int height_of(const struct hlg_graph *g, enum hlg_graph_texts which)
{
	const struct hlg_note_list *texts = &g->texts[which];
	int height = 0;

	for (size_t i = 0; i < texts->n; i++) {
		size_t next;

		for (const char *text = texts->line[i]; *text; text += next) {
			first_line(text, &next);
			height += LINE;
		}
	}
	return height;
}

/* Writes texts from base line y on. */
static int put_texts(FILE *f, const struct hlg_graph *g, enum hlg_graph_texts which,
		     int y, struct hlg_err *err)
{
	const struct hlg_note_list *texts = &g->texts[which];

	for (size_t i = 0; i < texts->n; i++) {
		size_t next;

		for (const char *text = texts->line[i]; *text; text += next) {
			size_t n = first_line(text, &next);
			char *one = strndup(text, n);

			if (!one)
				return hlg_err_memory(err, "flame graph");
			fprintf(f, "<text class=\"%s\" x=\"1%%\" y=\"%d\">",
				which == HLG_GRAPH_WARN ? "warn" : "soft", y);
			hlg_xml_text(f, one);
			fputs("</text>\n", f);
			free(one);
			y += LINE;
		}
	}
	return 0;
}

static int put_key(FILE *f, const char *classes, const char *words, int x, int y)
{
	fprintf(f,
		"<g class=\"%s\"><rect x=\"%d\" y=\"%d\" width=\"16\" height=\"12\"/>"
		"</g><text x=\"%d\" y=\"%d\">%s</text>\n",
		classes, x, y, x + 22, y + 10, words);
	return x + 22 + 7 * (int)strlen(words) + 18;
}

/* What colours mean: of the kinds of code that the tree has. The others, groups and
 * notes, are grey and say themselves what they are. */
static void put_legend(FILE *f, const struct hlg_graph *g, int y)
{
	static const enum hlg_frame order[] = {HLG_FRAME_GUEST, HLG_FRAME_GAP,
					       HLG_FRAME_BORDER, HLG_FRAME_HOST_KERNEL,
					       HLG_FRAME_HOST_USER};
	static const char *const words[] = {[HLG_FRAME_GUEST] = "guest",
					    [HLG_FRAME_GAP] = "in no function",
					    [HLG_FRAME_BORDER] = "VM exits",
					    [HLG_FRAME_HOST_KERNEL] = "host kernel",
					    [HLG_FRAME_HOST_USER] = "host user"};
	bool has[HLG_N_FRAMES] = {false}, inlined = false;
	int x = 0;

	fputs("<svg class=\"legend\" x=\"1%\">\n", f);
	if (g->changes) {
		x = put_key(f, "grew2", "grew", x, y);
		x = put_key(f, "shrank2", "shrank", x, y);
		x = put_key(f, "same", "no significant change", x, y);
		if (g->changes->host_after)
			put_key(f, "alone", "no other side", x, y);
	}
	for (uint32_t i = 0; !g->changes && i < g->layout->n; i++) {
		const struct hlg_node *node = &g->tree->nodes[g->layout->boxes[i].node];

		if (node != &g->tree->nodes[HLG_TREE_ROOT]) {
			has[node->frame] = true;
			inlined |= is_inlined(g->tree, node);
		}
	}
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (has[order[i]])
			x = put_key(f, frame_class(order[i]), words[order[i]], x, y);
	if (inlined)
		put_key(f, "guest inlined", "inlined", x, y);
	fputs("</svg>\n", f);
}

static void put_head(FILE *f, const struct hlg_graph *g, int height)
{
	fprintf(f,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"hlg-flame\" "
		"width=\"%d\" height=\"%d\">\n<title>",
		WIDTH, height);
	hlg_xml_text(f, g->title);
	fputs("</title>\n<style><![CDATA[\n", f);
	hlg_page_put(f, &hlg_page_flame_style);
	fputs("]]></style>\n<defs><pattern id=\"hlg-flame-gap\" width=\"6\" height=\"6\" "
	      "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
	      "<rect class=\"stripes\" width=\"6\" height=\"6\"/>"
	      "<path class=\"stripe\" d=\"M0 0v6\"/></pattern></defs>\n"
	      "<rect class=\"back\" width=\"100%\" height=\"100%\"/>\n",
	      f);
	fprintf(f, "<text class=\"head\" x=\"1%%\" y=\"%d\">", TOP);
	hlg_xml_text_cut(f, g->title, HLG_GRAPH_COLUMNS);
	fputs("</text>\n", f);
}

/* Fails if boxes have longer names than any need: each has its own in full. */
static int check_names(const struct hlg_graph *g, struct hlg_err *err)
{
	const struct hlg_tree *tree = g->tree;
	uint64_t sum = 0;

	for (uint32_t i = 1; i < g->layout->n; i++) /* the root has none */
		sum += strlen(
			hlg_tree_name(tree, &tree->nodes[g->layout->boxes[i].node]));
	return sum <= FREE_NAMES + BOX_NAME * (uint64_t)g->layout->n
		       ? 0
		       : hlg_err_set(err, HLG_EINPUT,
				     "flame graph: its frames repeat too long names (use "
				     "--format=speedscope, or choose fewer samples, as "
				     "with --time)");
}

int hlg_graph_write(FILE *f, const struct hlg_graph *g, struct hlg_err *err)
{
	int rows = ((int)g->layout->depth + 1) * BOX_HEIGHT;
	int y = TOP + LINE + 3 + height_of(g, HLG_GRAPH_WARN);
	int legend = y + height_of(g, HLG_GRAPH_HEAD) - LINE + 12;
	int graph = legend + LEGEND, notes = graph + rows + LINE + 6;
	int end = notes + height_of(g, HLG_GRAPH_NOTE) - LINE + BOTTOM;
	int rc = check_names(g, err);

	if (rc < 0)
		return rc;
	put_head(f, g, end);
	rc = put_texts(f, g, HLG_GRAPH_WARN, TOP + LINE + 3, err);
	if (rc == 0)
		rc = put_texts(f, g, HLG_GRAPH_HEAD, y, err);
	if (rc < 0)
		return rc;
	put_legend(f, g, legend);
	fprintf(f,
		"<svg class=\"graph\" x=\"1%%\" y=\"%d\" width=\"98%%\" height=\"%d\" "
		"data-up=\"%s\">\n",
		graph, rows, g->inverted ? "no" : "yes");
	for (uint32_t i = 0; i < g->layout->n; i++)
		write_frame(f, g, &g->layout->boxes[i]);
	fputs("</svg>\n<g class=\"notes\">\n", f);
	rc = put_texts(f, g, HLG_GRAPH_NOTE, notes, err);
	if (rc < 0)
		return rc;
	fputs("</g>\n<script><![CDATA[\n", f);
	hlg_page_put(f, &hlg_page_flame_script);
	fputs("]]></script>\n</svg>\n", f);
	return 0;
}
