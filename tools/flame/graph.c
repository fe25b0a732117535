// SPDX-License-Identifier: GPL-2.0-only
#include "tools/flame/graph.h"

#include <stdlib.h>
#include <string.h>

#include "flame.css.h"
#include "flame.js.h"
#include "tools/flame/frame.h"
#include "tools/svg/xml.h"

enum {
	TOP = 26, /* base line of the title */
	LINE = 17,
	LEGEND = 28,
	BOTTOM = 10
};

static void put_lines(FILE *f, const char *const *lines, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fputs(lines[i], f);
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

/* Writes the lines of this kind from base line y on, unless f is NULL; returns the next.
 */
static int put_texts(FILE *f, const struct hlg_graph *g, enum hlg_graph_line line, int y,
		     struct hlg_err *err)
{
	for (size_t i = 0; i < g->n_texts; i++) {
		const char *text = g->texts[i].text;
		size_t next;

		for (; g->texts[i].line == line && *text; text += next) {
			size_t n = first_line(text, &next);
			char *one = f ? strndup(text, n) : NULL;

			if (f && !one)
				return hlg_err_memory(err, "flame graph");
			if (f) {
				fprintf(f, "<text class=\"%s\" x=\"1%%\" y=\"%d\">",
					line == HLG_GRAPH_WARN ? "warn" : "soft", y);
				hlg_xml_text(f, one);
				fputs("</text>\n", f);
			}
			free(one);
			y += LINE;
		}
	}
	return y;
}

static int put_key(FILE *f, const char *classes, const char *words, int x, int y)
{
	fprintf(f,
		"<g class=\"%s\"><rect x=\"%d\" y=\"%d\" width=\"16\" height=\"12\"/>"
		"</g><text x=\"%d\" y=\"%d\">%s</text>\n",
		classes, x, y, x + 22, y + 10, words);
	return x + 22 + 7 * (int)strlen(words) + 18;
}

/* What colours mean: of the kinds that the tree has. */
static void put_legend(FILE *f, const struct hlg_graph *g, int y)
{
	static const enum hlg_frame order[] = {HLG_FRAME_GUEST,       HLG_FRAME_GAP,
					       HLG_FRAME_HOST_KERNEL, HLG_FRAME_HOST_USER,
					       HLG_FRAME_GROUP,       HLG_FRAME_NOTE};
	bool has[HLG_N_FRAMES] = {false};
	int x = 0;

	fputs("<svg class=\"legend\" x=\"1%\">\n", f);
	if (g->changes) {
		x = put_key(f, "grew2", "grew", x, y);
		x = put_key(f, "shrank2", "shrank", x, y);
		x = put_key(f, "same", "no significant change", x, y);
		fprintf(f,
			"<text class=\"soft\" x=\"%d\" y=\"%d\">stronger from 1 and from "
			"5 "
			"points of share on</text>\n",
			x, y + 10);
	}
	for (uint32_t i = 0; !g->changes && i < g->layout->n; i++)
		if (g->layout->boxes[i].node != HLG_TREE_ROOT)
			has[g->tree->nodes[g->layout->boxes[i].node].frame] = true;
	for (size_t i = 0; i < HLG_N_FRAMES; i++)
		if (has[order[i]])
			x = put_key(f, hlg_frame_class(order[i]),
				    hlg_frame_word(order[i]), x, y);
	fputs("</svg>\n", f);
}

static void put_head(FILE *f, const struct hlg_graph *g, int height)
{
	fprintf(f,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"hlg-flame\" "
		"width=\"%d\" height=\"%d\">\n<title>",
		HLG_GRAPH_WIDTH, height);
	hlg_xml_text(f, g->title);
	fputs("</title>\n<style><![CDATA[\n", f);
	put_lines(f, flame_css, sizeof(flame_css) / sizeof(flame_css[0]));
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

int hlg_graph_write(FILE *f, const struct hlg_graph *g, struct hlg_err *err)
{
	int rows = ((int)g->layout->depth + 1) * HLG_BOX_HEIGHT;
	int y = put_texts(NULL, g, HLG_GRAPH_WARN, TOP + LINE + 3, err);
	int legend = put_texts(NULL, g, HLG_GRAPH_HEAD, y, err) - LINE + 12;
	int graph = legend + LEGEND, notes = graph + rows + LINE + 6;
	int end = put_texts(NULL, g, HLG_GRAPH_NOTE, notes, err) - LINE + BOTTOM;
	int rc;

	put_head(f, g, end);
	rc = put_texts(f, g, HLG_GRAPH_WARN, TOP + LINE + 3, err);
	if (rc >= 0)
		rc = put_texts(f, g, HLG_GRAPH_HEAD, y, err);
	if (rc < 0)
		return rc;
	put_legend(f, g, legend);
	fprintf(f,
		"<svg class=\"graph\" x=\"1%%\" y=\"%d\" width=\"98%%\" height=\"%d\" "
		"data-up=\"%s\">\n",
		graph, rows, g->inverted ? "no" : "yes");
	for (uint32_t i = 0; i < g->layout->n; i++)
		hlg_frame_write(f, g, &g->layout->boxes[i]);
	fputs("</svg>\n<g class=\"notes\">\n", f);
	rc = put_texts(f, g, HLG_GRAPH_NOTE, notes, err);
	if (rc < 0)
		return rc;
	fputs("</g>\n<script><![CDATA[\n", f);
	put_lines(f, flame_js, sizeof(flame_js) / sizeof(flame_js[0]));
	fputs("]]></script>\n</svg>\n", f);
	return 0;
}
