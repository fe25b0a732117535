// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plot: a panel for each column and rate, one above the other over the same time. Each
 * pixel's windows are one point: their mean, and behind it the range from the least to
 * the most, so that nothing a plot of all windows would show is lost. Nothing is loaded
 * from elsewhere; colours follow the reader's (prefers-color-scheme).
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/svg/xml.h"
#include "tools/windows/write.h"

enum {
	LEFT = 70,
	RIGHT = 20,
	TOP = 72,
	PANEL = 92, /* from one panel to the next */
	HEIGHT = 60,
	WIDTH = 800, /* of what is drawn in, and so many points */
	TICKS = 8,   /* at most */
	MAX_PANELS = 64
};

struct point {
	double sum, min, max;
	uint64_t n;
};

struct plot {
	const struct hlg_windows *w;
	uint64_t start, stop; /* ns */
	struct point points[WIDTH];
};

static const char style[] =
	"<style>\n"
	"svg{--ink:#1b1f24;--soft:#59636e;--line:#d1d9e0;--back:#fff;--mean:#0969da;"
	"--range:#b6d7ff;font:12px system-ui,sans-serif;background:var(--back)}\n"
	"@media(prefers-color-scheme:dark){svg{--ink:#f0f6fc;--soft:#9198a1;"
	"--line:#3d444d;--back:#0d1117;--mean:#4493f8;--range:#1c3c66}}\n"
	".back{fill:var(--back)}text{fill:var(--ink)}.soft{fill:var(--soft)}"
	".axis{stroke:var(--line);fill:none}.mean{stroke:var(--mean);fill:none;"
	"stroke-width:1.5;stroke-linejoin:round}.range{fill:var(--range)}"
	".end{text-anchor:end}.mid{text-anchor:middle}\n"
	"</style>\n";

/* A number with at most four digits that matter: "1.25 M". */
static void put_short(FILE *f, double value)
{
	static const char *const units[] = {"", " k", " M", " G", " T", " P", " E"};
	unsigned unit = 0;

	while (value >= 1000 && unit < 6) {
		value /= 1000;
		unit++;
	}
	fprintf(f, "%.3g%s", value, units[unit]);
}

/* The same of ns: "10.3 ms". */
static void put_short_time(FILE *f, double ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	unsigned unit = 0;

	while (ns >= 1000 && unit < 3) {
		ns /= 1000;
		unit++;
	}
	fprintf(f, ns < 1000 ? "%.3g %s" : "%.0f %s", ns, units[unit]);
}

/* The value of a row in panel i: a column's, then a rate's. */
static double value_of(const struct hlg_windows *w, size_t row, size_t panel)
{
	const uint64_t *counts = hlg_windows_counts(w, row);

	return panel < w->n_columns
		       ? (double)counts[panel]
		       : hlg_rate_of(w, &hlg_rates[panel - w->n_columns], counts);
}

static unsigned place_of(const struct plot *plot, uint64_t time)
{
	double part =
		(double)(time - plot->start) / ((double)(plot->stop - plot->start) + 1);

	return (unsigned)(part * WIDTH) < WIDTH ? (unsigned)(part * WIDTH) : WIDTH - 1;
}

/* Fills the points of a panel; returns the largest value. */
static double gather(struct plot *plot, size_t panel)
{
	double max = 0;

	memset(plot->points, 0, sizeof(plot->points));
	for (size_t i = 0; i < plot->w->n_rows; i++) {
		double value = value_of(plot->w, i, panel);
		struct point *p;

		if (plot->w->rows[i].time == HLG_NO_TIME || isnan(value))
			continue;
		p = &plot->points[place_of(plot, plot->w->rows[i].time)];
		p->min = p->n == 0 || value < p->min ? value : p->min;
		p->max = p->n == 0 || value > p->max ? value : p->max;
		p->sum += value;
		p->n++;
		max = value > max ? value : max;
	}
	return max;
}

static void put_curves(FILE *f, const struct plot *plot, double top, double max)
{
	const char *letter = "M";
	unsigned drawn = 0;

	fputs("<path class=\"range\" d=\"", f);
	for (unsigned i = 0; max > 0 && i < WIDTH; i++) {
		const struct point *p = &plot->points[i];

		if (p->n > 1 && p->max > p->min)
			fprintf(f, "M%u %.1fh1V%.1fh-1z", LEFT + i,
				top + HEIGHT * (1 - p->max / max),
				top + HEIGHT * (1 - p->min / max));
	}
	fputs("\"/>\n<path class=\"mean\" d=\"", f);
	for (unsigned i = 0; i < WIDTH; i++) {
		const struct point *p = &plot->points[i];

		if (p->n == 0)
			continue;
		fprintf(f, "%s%u %.1f", letter, LEFT + i,
			top + HEIGHT * (1 - (max > 0 ? p->sum / (double)p->n / max : 0)));
		letter = "L";
		drawn++;
	}
	/* A point alone would not be seen. */
	fputs(drawn == 1 ? "h2\"/>\n" : "\"/>\n", f);
}

/* The name, and what is drawn: counts by window, or the unit of a rate. */
static void put_heading(FILE *f, const struct hlg_windows *w, size_t panel, double y)
{
	const char *name = panel < w->n_columns ? w->columns[panel].name
						: hlg_rates[panel - w->n_columns].title;
	const char *unit =
		panel < w->n_columns ? "" : hlg_rates[panel - w->n_columns].unit;

	fprintf(f, "<title>");
	hlg_xml_text(f, name);
	fprintf(f, "</title><text x=\"%d\" y=\"%.0f\">", LEFT, y);
	hlg_xml_text(f, name);
	fputs("<tspan class=\"soft\">", f);
	if (panel < w->n_columns)
		fputs(w->every ? " (an interval)" : " (a window)", f);
	else if (unit[0])
		fprintf(f, " (%s)", unit);
	fputs("</tspan></text>\n", f);
}

static void put_panel(FILE *f, struct plot *plot, size_t panel, double top)
{
	const struct hlg_windows *w = plot->w;
	double max = gather(plot, panel);

	fputs("<g>", f);
	put_heading(f, w, panel, top - 7);
	fprintf(f,
		"<path class=\"axis\" d=\"M%d %.0fh%d\"/>"
		"<path class=\"axis\" d=\"M%d %.0fh%d\"/>\n",
		LEFT, top, WIDTH, LEFT, top + HEIGHT, WIDTH);
	fprintf(f, "<text class=\"soft end\" x=\"%d\" y=\"%.0f\">", LEFT - 6, top + 5);
	if (panel < w->n_columns && w->columns[panel].counter == HLG_COUNTER_TIME)
		put_short_time(f, max);
	else
		put_short(f, max);
	fprintf(f, "</text><text class=\"soft end\" x=\"%d\" y=\"%.0f\">0</text>\n",
		LEFT - 6, top + HEIGHT + 4);
	put_curves(f, plot, top, max);
	fputs("</g>\n", f);
}

/* From one tick to the next: 1, 2 or 5 times a power of ten, in seconds. */
static double step_of(double span)
{
	double step = pow(10, floor(log10(span / TICKS)));

	while (step * TICKS < span)
		step *= step * 2 * TICKS < span ? 5 : 2;
	return step;
}

static void put_tick(FILE *f, double x, double y, double seconds)
{
	fprintf(f,
		"<path class=\"axis\" d=\"M%.0f %.0fv5\"/><text class=\"soft mid\" "
		"x=\"%.0f\" y=\"%.0f\">%.6g</text>\n",
		x, y, x, y + 18, seconds);
}

static void put_time_axis(FILE *f, const struct plot *plot, double y)
{
	double span = (double)(plot->stop - plot->start) / 1e9;

	put_tick(f, LEFT, y, 0);
	for (int i = 1; span > 0 && i * step_of(span) <= span; i++)
		put_tick(f, LEFT + WIDTH * (i * step_of(span) / span), y,
			 i * step_of(span));
	fprintf(f,
		"<text class=\"soft mid\" x=\"%d\" y=\"%.0f\">seconds since %" PRIu64
		".%09" PRIu64 "</text>\n",
		LEFT + WIDTH / 2, y + 36, plot->start / 1000000000,
		plot->start % 1000000000);
}

static void set_times(struct plot *plot)
{
	const struct hlg_windows *w = plot->w;

	plot->start = UINT64_MAX;
	for (size_t i = 0; i < w->n_rows; i++) {
		uint64_t time = w->rows[i].time;

		if (time == HLG_NO_TIME)
			continue;
		plot->start = time < plot->start ? time : plot->start;
		plot->stop = time > plot->stop ? time : plot->stop;
	}
	if (plot->start > plot->stop)
		plot->start = plot->stop = 0;
}

int hlg_windows_svg(FILE *f, const struct hlg_windows *w,
		    const struct hlg_windows_style *how, struct hlg_err *err)
{
	size_t n = w->n_columns + (how->rates ? HLG_N_RATES : 0), drawn = 0;
	struct plot *plot = calloc(1, sizeof(*plot));
	size_t panels = 0;

	if (!plot)
		return hlg_err_memory(err, "windows");
	plot->w = w;
	set_times(plot);
	for (size_t i = 0; i < n && panels < MAX_PANELS; i++)
		panels += i < w->n_columns ||
			  hlg_rate_known(w, &hlg_rates[i - w->n_columns]);
	fprintf(f,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %zu\" "
		"width=\"%d\" height=\"%zu\" role=\"img\">\n<title>counter "
		"windows</title>\n%s<rect class=\"back\" width=\"100%%\" "
		"height=\"100%%\"/>\n",
		LEFT + WIDTH + RIGHT, TOP + panels * PANEL + 30, LEFT + WIDTH + RIGHT,
		TOP + panels * PANEL + 30, style);
	fprintf(f, "<text x=\"%d\" y=\"22\">%zu %s, led by ", LEFT, w->n_rows,
		w->every ? "intervals" : "windows");
	hlg_xml_text(f, w->columns[0].name);
	fprintf(f,
		"</text><text class=\"soft\" x=\"%d\" y=\"38\">line: mean; band: least "
		"to "
		"most; counts as read, never extrapolated</text>\n",
		LEFT);
	for (size_t i = 0; i < n && drawn < panels; i++)
		if (i < w->n_columns || hlg_rate_known(w, &hlg_rates[i - w->n_columns]))
			put_panel(f, plot, i, TOP + (double)(drawn++ * PANEL));
	put_time_axis(f, plot, TOP + (double)((panels - 1) * PANEL) + HEIGHT);
	fputs("</svg>\n", f);
	free(plot);
	return 0;
}
