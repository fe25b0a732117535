/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables whose rows hold a drawing on one axis (plot.css), for pages without scripts. A
 * drawing is inline SVG as wide as there is room, and hidden from readers of the screen:
 * the row's cells say in figures what it shows. Text is not escaped before. Write errors
 * stay on the stream.
 */
#ifndef HLG_TOOLS_PAGE_PLOT_H
#define HLG_TOOLS_PAGE_PLOT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
	HLG_PLOT_WIDE = 1000, /* of a drawing, in its own units */
	HLG_PLOT_HIGH = 16,
	HLG_PLOT_DEEP = 24 /* of one with bars that stand */
};

/* Powers of ten, from from to to. All zero at first; then reach says what it has. */
struct hlg_plot_axis {
	bool plain; /* numbers; else ns */
	int from, to;
};

/* Opens a section's table, up to the head's first cell, which says what rows are. label
 * and first are HTML. */
void hlg_plot_begin(FILE *f, const char *label, const char *first);

/* Cells: of the head, HTML; of a row, text. */
void hlg_plot_head(FILE *f, const char *html);
void hlg_plot_cell(FILE *f, const char *class, const char *text);

/* A row's cell with a time, in the unit of all of its column: the first of ns, us, ms and
 * s in which the longest, most, is below HLG_PLOT_NS_MOST. */
#define HLG_PLOT_NS_MOST 100000
void hlg_plot_ns(FILE *f, uint64_t ns, uint64_t most);

/* From a row's head on to its first cell; the caller ends the row. Both are text, remark
 * may be "". */
void hlg_plot_row(FILE *f, const char *name, const char *remark);

/* A row that is the title of those below it. Both are text, remark may be "". */
void hlg_plot_group(FILE *f, int columns, const char *name, const char *remark);

/* What a row has instead of cells, and its end. */
void hlg_plot_missing(FILE *f, int columns, const char *reason);

/* Has the axis reach from low to high. */
void hlg_plot_reach(struct hlg_plot_axis *axis, double low, double high);

/* Where a value is, from 0 to HLG_PLOT_WIDE. */
double hlg_plot_place(const struct hlg_plot_axis *axis, double value);

/* A cell of the head: a word for each power of ten but the last, at its line. */
void hlg_plot_axis(FILE *f, const struct hlg_plot_axis *axis);

/* Opens a cell with a drawing; "</svg></td>" ends it. */
void hlg_plot_drawing(FILE *f, int width, int height);

/* Lines of the axis, in a drawing of that height. */
void hlg_plot_grid(FILE *f, const struct hlg_plot_axis *axis, int height);

/* A bar from low to high, which is to be seen however short it is. */
void hlg_plot_span(FILE *f, const struct hlg_plot_axis *axis, const char *class,
		   double low, double high, int y, int height);

#endif
