// SPDX-License-Identifier: GPL-2.0-only
/*
 * A page with three plots: what crossings cost, where samples land, what was counted.
 * Nothing is loaded from elsewhere; colours follow the reader's (prefers-color-scheme).
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/calibrate/calibration.h"
#include "tools/calibrate/conclusion.h"
#include "tools/svg/xml.h"

enum {
	LEFT = 240,
	WIDTH = 560, /* of what is drawn in */
	ROW = 22,
	RIGHT = 150,
	TOP = 30,
	CROSSING = 6, /* the axis ends at so many powers of ten */
	COUNT = 8
};

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	"<title>hlguest calibrate</title>\n<style>\n"
	":root{--ink:#1b1f24;--soft:#59636e;--line:#d1d9e0;--back:#fff;--one:#0969da;"
	"--two:#bc4c00;--range:#b6d7ff}\n"
	"@media(prefers-color-scheme:dark){:root{--ink:#f0f6fc;--soft:#9198a1;"
	"--line:#3d444d;--back:#0d1117;--one:#4493f8;--two:#f0883e;--range:#1c3c66}}\n"
	"body{font:14px system-ui,sans-serif;color:var(--ink);background:var(--back);"
	"margin:2em auto;max-width:62em;padding:0 1em}\n"
	"p.soft{color:var(--soft)}svg{width:100%;height:auto;font-size:12px}"
	"text{fill:var(--ink)}.soft{fill:var(--soft)}.line{stroke:var(--line)}"
	".one{fill:var(--one)}.two{fill:var(--two)}.range{fill:var(--range)}"
	".end{text-anchor:end}.mid{text-anchor:middle}\n"
	"pre{overflow-x:auto;font-size:12px}\n"
	"</style></head><body>\n";

static void begin_plot(FILE *f, size_t rows, const char *title)
{
	fprintf(f, "<svg role=\"img\" viewBox=\"0 0 %d %zu\"><title>",
		LEFT + WIDTH + RIGHT, TOP + ROW * rows + 10);
	hlg_xml_text(f, title);
	fputs("</title>\n", f);
}

static void put_label(FILE *f, double x, double y, const char *class, const char *text)
{
	fprintf(f, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, x, y);
	hlg_xml_text(f, text);
	fputs("</text>\n", f);
}

static void put_bar(FILE *f, const char *class, double x, double y, double width,
		    double height)
{
	fprintf(f,
		"<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
		"height=\"%.1f\"/>\n",
		class, x, y, width < 1 ? 1 : width, height);
}

/* From 1 to a power of ten, each as wide. */
static double log_place(double value, int powers)
{
	double at = value < 1 ? 0 : log10(value) / powers;

	return LEFT + WIDTH * (at > 1 ? 1 : at);
}

static void put_grid(FILE *f, size_t rows, int powers)
{
	for (int power = 0; power <= powers; power++) {
		double x = log_place(pow(10, power), powers);
		char text[16];

		fprintf(f,
			"<line class=\"line\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" "
			"y2=\"%zu\"/>\n",
			x, x, TOP - 8, TOP + ROW * rows);
		snprintf(text, sizeof(text), "%.0f", pow(10, power));
		put_label(f, x, TOP - 14, "soft mid", text);
	}
}

/* From low to high on the axis. */
static void put_span(FILE *f, const char *class, uint64_t low, uint64_t high, int powers,
		     double y, double height)
{
	double from = log_place((double)low, powers);

	put_bar(f, class, from, y, log_place((double)high, powers) - from, height);
}

/* min to max, p50 to p99 over it, and published figures as marks. */
static void put_crossing(FILE *f, const struct hlg_crossing *row, size_t i, double y)
{
	const struct hlg_ticks *t = &row->ticks;
	char text[64];

	put_label(f, LEFT - 8, y + 11, "end", hlg_crossing_names[i].text);
	for (size_t k = 0; k < HLG_CROSSING_REFERENCES; k++)
		if (hlg_crossing_references[k].word &&
		    strcmp(hlg_crossing_references[k].word, hlg_crossing_names[i].word) ==
			    0)
			fprintf(f,
				"<circle class=\"two\" cx=\"%.1f\" cy=\"%.1f\" "
				"r=\"4\"/>\n",
				log_place(hlg_crossing_references[k].low, CROSSING),
				y + 7);
	if (row->state == HLG_CROSS_SKIPPED) {
		put_label(f, LEFT + 4, y + 11, "soft", row->reason);
		return;
	}
	put_span(f, "range", t->min, t->max, CROSSING, y, 14);
	put_span(f, "one", t->p50, t->p99, CROSSING, y + 3, 8);
	snprintf(text, sizeof(text), "%" PRIu64 "%s", t->p50,
		 row->state == HLG_CROSS_EMULATED ? " (emulated)" : "");
	put_label(f, LEFT + WIDTH + 8, y + 11, "", text);
}

static void plot_crossings(FILE *f, const struct hlg_calibration *c)
{
	const struct hlg_crossings *all = &c->crossings;
	const char *verdict = hlg_crossing_verdict(all);

	fputs("<h2>Exit cost</h2>\n<p class=\"soft\">Ticks of the TSC: from minimum to "
	      "maximum, and from the median (the figure) to the 99th percentile; dots "
	      "are published figures of other machines.",
	      f);
	fprintf(f,
		" Noise: medians of ten parts of a native row differ by up to %.1f %%, "
		"by %.1f %% of the batches that count (%.0f %% of all)%s%s%s.",
		100 * hlg_crossing_noise(all, true), 100 * hlg_crossing_noise(all, false),
		100 * hlg_crossing_quiet(all), verdict[0] ? ": " : "", verdict,
		all->emulated
			? ". Ring 0 is emulated: such rows are not comparable with others"
			: "");
	fputs("</p>\n", f);
	begin_plot(f, HLG_CROSS_ROWS, "what exits cost");
	put_grid(f, HLG_CROSS_ROWS, CROSSING);
	for (size_t i = 0; i < HLG_CROSS_ROWS; i++)
		put_crossing(f, &all->rows[i], i, TOP + (double)(ROW * i));
	fputs("</svg>\n", f);
}

/* A cell for each distance, the fuller the more samples. */
static void put_distances(FILE *f, const struct hlg_land *land, double y)
{
	const double cell = (double)WIDTH / (HLG_LANDING_FAR + 1);

	for (size_t k = 0; k <= HLG_LANDING_FAR; k++) {
		double share =
			land->guest ? (double)land->distance[k] / (double)land->guest : 0;

		if (share > 0)
			put_bar(f, "one", LEFT + cell * (double)k, y + 16 * (1 - share),
				cell - 2, 16 * share < 1 ? 1 : 16 * share);
	}
}

static size_t put_landed(FILE *f, const struct hlg_landed *landed, const char *event,
			 size_t row)
{
	for (size_t i = 0; i < HLG_LANDING_GUESTS; i++) {
		const struct hlg_land *land = &landed->guests[i];
		double y = TOP + (double)(ROW * row);
		char text[64];

		if (!hlg_landing_hot(i))
			continue;
		snprintf(text, sizeof(text), "%s, %s", event, hlg_landing_name(i));
		put_label(f, LEFT - 8, y + 12, "end", text);
		put_distances(f, land, y);
		if (landed->window == HLG_WINDOW_UNKNOWN)
			snprintf(text, sizeof(text), "window not known");
		else
			snprintf(text, sizeof(text), "window %" PRIu64, landed->window);
		put_label(f, LEFT + WIDTH + 8, y + 12, "", text);
		row++;
	}
	return row;
}

static void plot_landing(FILE *f, const struct hlg_calibration *c)
{
	const struct hlg_landings *l = &c->landings;
	size_t rows = 0;

	fputs("<h2>Sample precision</h2>\n<p class=\"soft\">Share of samples by how many "
	      "instructions late they are, counted from the instruction that takes the "
	      "time. The window contains 95 % of the samples of each guest.</p>\n",
	      f);
	for (size_t i = 0; i < HLG_SAMPLINGS && !l->reason[0]; i++) {
		if (!l->events[i].reason[0]) {
			for (size_t k = 0; k < HLG_LANDING_GUESTS; k++)
				rows += hlg_landing_hot(k);
			continue;
		}
		fprintf(f, "<p class=\"soft\">%s: ", hlg_samplings[i].name);
		hlg_xml_text(f, l->events[i].reason);
		fputs("</p>\n", f);
	}
	if (rows == 0) {
		hlg_xml_text(f, l->reason[0] ? l->reason : "nothing was sampled");
		return;
	}
	begin_plot(f, rows, "where samples land");
	for (size_t k = 0; k <= HLG_LANDING_FAR; k++) {
		char text[16];

		snprintf(text, sizeof(text), "%zu%s", k, k == HLG_LANDING_FAR ? "+" : "");
		put_label(f, LEFT + ((double)k + 0.5) * WIDTH / (HLG_LANDING_FAR + 1),
			  TOP - 14, "soft mid", text);
	}
	rows = 0;
	for (size_t i = 0; i < HLG_SAMPLINGS; i++)
		if (!l->events[i].reason[0])
			rows = put_landed(f, &l->events[i], hlg_samplings[i].name, rows);
	fputs("</svg>\n", f);
}

/* What one run took at least, at most, and in the middle. */
static void put_runs(FILE *f, const struct hlg_pmu_counted *counted, const char *class,
		     double y)
{
	bool ins = !counted->reason[HLG_PMU_INSTRUCTIONS][0];
	struct hlg_variation v;

	if (counted->runs == 0)
		return;
	v = hlg_calibrate_variation(ins ? counted->values[HLG_PMU_INSTRUCTIONS]
					: counted->ticks,
				    counted->runs);
	put_span(f, "range", v.min, v.max, COUNT, y, 7);
	put_bar(f, class, log_place((double)v.median, COUNT) - 1.5, y, 3, 7);
}

static void plot_counts(FILE *f, const struct hlg_calibration *c)
{
	const struct hlg_counts *counts = &c->counts;

	fputs("<h2>Counter accuracy</h2>\n<p class=\"soft\">Runs of 1,000,000 "
	      "operations, in a guest (above) and natively (below), minimum, median and "
	      "maximum: instructions where they are counted, else TSC ticks, from 1 to "
	      "100,000,000. The figure: single steps in a guest and natively, and how "
	      "many are expected.</p>\n",
	      f);
	begin_plot(f, HLG_COUNT_PROGRAMS, "what was counted");
	put_grid(f, HLG_COUNT_PROGRAMS, COUNT);
	for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++) {
		double y = TOP + (double)(ROW * i);
		char text[64] = "";
		size_t n = 0;

		put_label(f, LEFT - 8, y + 11, "end", hlg_count_laws[i].program);
		put_runs(f, &counts->counted[HLG_COUNT_GUEST][i], "one", y);
		put_runs(f, &counts->counted[HLG_COUNT_NATIVE][i], "two", y + 8);
		for (size_t side = 0; side < HLG_COUNT_SIDES; side++)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s",
					      side ? ", " : "",
					      counts->steps[side][i].reason[0] ? "skipped"
					      : counts->steps[side][i].exact   ? "exact"
									       : "WRONG");
		put_label(f, LEFT + WIDTH + 8, y + 11, "", text);
	}
	fputs("</svg>\n", f);
}

/* As text from elsewhere is written, but for the ends of lines. Takes lines apart. */
static void put_lines(FILE *f, char *lines)
{
	char *line;

	while ((line = strsep(&lines, "\n"))) {
		hlg_xml_text(f, line);
		if (lines)
			fputc('\n', f);
	}
}

/* The whole of the text below the plots: the page leaves nothing out. */
static int put_text(FILE *f, struct hlg_calibration *c, struct hlg_err *err)
{
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);

	if (!memory)
		return hlg_err_memory(err, "format=html");
	hlg_calibrate_text(c, memory, err);
	if (fclose(memory) != 0 || !text) {
		free(text);
		return hlg_err_memory(err, "format=html");
	}
	fputs("<h2>All figures</h2>\n<pre>", f);
	put_lines(f, text);
	fputs("</pre>\n</body></html>\n", f);
	free(text);
	return 0;
}

static void put_conclusion(FILE *f, const struct hlg_calibration *c)
{
	struct hlg_conclusion conclusion;

	hlg_calibrate_conclude(&conclusion, c);
	fputs("<p><b>", f);
	for (size_t i = 0; i < conclusion.n; i++) {
		fputs(i ? "<br>" : "", f);
		hlg_xml_text(f, conclusion.sentence[i]);
	}
	fputs("</b></p>\n", f);
}

int hlg_calibrate_html(void *calibration, FILE *f, struct hlg_err *err)
{
	struct hlg_calibration *c = calibration;

	fputs(head, f);
	fputs("<h1>hlguest calibrate</h1>\n<p>", f);
	hlg_xml_text(f, c->machine.cpu);
	fputs("<br>Linux ", f);
	hlg_xml_text(f, c->machine.kernel);
	fputs("<br>", f);
	hlg_xml_text(f, hlg_calibrate_kvm(c));
	fprintf(f, "<br>%s, load %.2f</p>\n", c->machine.date, c->machine.load);
	if (hlg_calibrate_faults(NULL, c))
		fputs("<p><b>Known results were measured wrongly: do not trust these "
		      "figures.</b></p>\n",
		      f);
	else
		put_conclusion(f, c);
	if (c->parts & HLG_CALIBRATE_CROSSING)
		plot_crossings(f, c);
	if (c->parts & HLG_CALIBRATE_LANDING)
		plot_landing(f, c);
	if (c->parts & HLG_CALIBRATE_COUNTING)
		plot_counts(f, c);
	return put_text(f, c, err);
}
