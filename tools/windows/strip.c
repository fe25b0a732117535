// SPDX-License-Identifier: GPL-2.0-only
#include "tools/windows/strip.h"

#include <stdlib.h>
#include <string.h>

#include "filter/stats/interval.h"
#include "tools/svg/xml.h"

enum {
	LEGEND_ROW = 18,
	LEGEND_COLUMNS = 2,
	BAR = 14
};

/* Okabe and Ito's, which the colour-blind tell apart. */
static const char *const colours[HLG_STRIP_COLOURS] = {
	"#0072b2", "#e69f00", "#009e73", "#d55e00",
	"#cc79a7", "#56b4e9", "#f0e442", "#8b949e", /* the last: all others */
};

struct count {
	uint64_t windows;
	uint32_t place;
};

static int most_first(const void *a, const void *b)
{
	const struct count *x = a, *y = b;

	if (x->windows != y->windows)
		return x->windows > y->windows ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

bool hlg_strip_make(struct hlg_strip *strip, const struct hlg_windows *w)
{
	struct count *counts = calloc(w->n_places + 1, sizeof(*counts));

	*strip = (struct hlg_strip){.w = w};
	if (!counts)
		return false;
	for (size_t i = 0; i < w->n_places; i++)
		counts[i].place = (uint32_t)i;
	for (size_t i = 0; i < w->n_rows; i++)
		if (w->rows[i].place != HLG_NO_PLACE) {
			counts[w->rows[i].place].windows += w->rows[i].windows;
			strip->all += w->rows[i].windows;
		}
	qsort(counts, w->n_places, sizeof(*counts), most_first);
	for (size_t i = 0; i < w->n_places && counts[i].windows; i++) {
		size_t at = i < HLG_STRIP_COLOURS - 1 ? i : HLG_STRIP_COLOURS - 1;

		strip->places[at] = counts[i].place;
		strip->windows[at] += counts[i].windows;
		strip->n = at + 1;
		strip->others += at == HLG_STRIP_COLOURS - 1;
	}
	free(counts);
	return true;
}

unsigned hlg_strip_height(const struct hlg_strip *strip)
{
	size_t rows = (strip->n + LEGEND_COLUMNS - 1) / LEGEND_COLUMNS;

	return strip->n ? (unsigned)(BAR + 8 + rows * LEGEND_ROW) : 0;
}

static size_t colour_of(const struct hlg_strip *strip, uint32_t place)
{
	size_t i = 0;

	while (i < HLG_STRIP_COLOURS - 1 && (i >= strip->n || strip->places[i] != place))
		i++;
	return i;
}

/* A name that is too long is cut off by the box that it stands in. */
static void put_legend(FILE *f, const struct hlg_strip *strip, unsigned x, unsigned y,
		       unsigned width)
{
	char percent[16];

	for (size_t i = 0; i < strip->n; i++) {
		const char *name = strip->w->places[strip->places[i]].name;

		fprintf(f,
			"<svg x=\"%zu\" y=\"%zu\" width=\"%u\" height=\"%d\"><rect "
			"y=\"4\" width=\"10\" height=\"10\" fill=\"%s\"/><text x=\"16\" "
			"y=\"13\">%s %% of windows: ",
			x + i % LEGEND_COLUMNS * width / LEGEND_COLUMNS,
			y + i / LEGEND_COLUMNS * LEGEND_ROW, width / LEGEND_COLUMNS - 10,
			LEGEND_ROW, colours[i],
			hlg_interval_percent(percent, (double)strip->windows[i] /
							      (double)strip->all));
		if (i == HLG_STRIP_COLOURS - 1 && strip->others > 1)
			fprintf(f, "%zu others", strip->others);
		else
			hlg_xml_text(f, name);
		fputs("</text></svg>\n", f);
	}
}

void hlg_strip_put(FILE *f, const struct hlg_strip *strip, unsigned x, unsigned y,
		   unsigned width, unsigned (*pixel)(const void *ctx, uint64_t time),
		   const void *ctx)
{
	unsigned next = 0;

	if (strip->n == 0)
		return;
	fputs("<g><title>the function that each window ends in</title>\n", f);
	for (size_t i = 0; i < strip->w->n_rows; i++) {
		const struct hlg_windows_row *row = &strip->w->rows[i];
		unsigned end;

		if (row->time == HLG_NO_TIME || row->place == HLG_NO_PLACE)
			continue;
		/* From the end of the one before: that is what a window is. */
		end = pixel(ctx, row->time) + 1;
		if (end <= next)
			continue;
		fprintf(f,
			"<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%d\" "
			"fill=\"%s\"><title>",
			x + next, y, end - next, BAR,
			colours[colour_of(strip, row->place)]);
		hlg_xml_text(f, strip->w->places[row->place].name);
		fputs("</title></rect>\n", f);
		next = end;
	}
	put_legend(f, strip, x, y + BAR + 6, width);
	fputs("</g>\n", f);
}
