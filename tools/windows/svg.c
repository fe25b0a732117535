// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plot: a strip of the functions that windows end in, and below it a panel for each
 * column and rate, over the same time. Each pixel's windows are one dot: their mean, and
 * behind it the range from the least to the most, so that nothing a plot of all windows
 * would show is lost; lines are the median and the 99th percentile. Nothing is loaded
 * from elsewhere; colours follow the reader's (prefers-color-scheme).
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/plural.h"
#include "tools/page/page.h"
#include "tools/svg/xml.h"
#include "tools/windows/notes.h"
#include "tools/windows/strip.h"
#include "tools/windows/write.h"

enum {
	LEFT = 70,
	RIGHT = 120,
	HEAD = 26,
	TOP = 54,
	PANEL = 110, /* from one panel to the next */
	HEIGHT = 76,
	WIDTH = 800, /* of what is drawn in, and so many points */
	TICKS = 8,   /* at most */
	Y_TICKS = 4,
	MAX_PANELS = 64
};

struct point {
	double sum, min, max;
	uint64_t n;
};

struct plot {
	const struct hlg_windows *w;
	const struct hlg_windows_style *how;
	uint64_t start, stop; /* ns */
	double *values;       /* room for one of each row */
	struct point points[WIDTH];
};

/* A number with at most four digits that matter: "1.25 M". */
static void put_short(FILE *f, double value)
{
	static const char *const units[] = {"", " k", " M", " G", " T", " P", " E"};
	unsigned unit = 0;

	while (value >= 999.5 && unit < 6) { /* which would be 1e+03 */
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

	while (ns >= 999.5 && unit < 3) {
		ns /= 1000;
		unit++;
	}
	fprintf(f, ns < 999.5 ? "%.3g %s" : "%.0f %s", ns, units[unit]);
}

/* The value of a row in panel i: a column's, then a rate's. */
static double value_of(const struct hlg_windows *w, size_t row, size_t panel)
{
	const uint64_t *counts = hlg_windows_counts(w, row);

	return panel < w->n_columns
		       ? (double)counts[panel]
		       : hlg_windows_rate_of(w, &hlg_rates[panel - w->n_columns], counts);
}

static unsigned place_of(const void *of, uint64_t time)
{
	const struct plot *plot = of;
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

static double height_of(const struct point *p, double top, double max)
{
	return top + HEIGHT * (1 - p->sum / (double)p->n / max);
}

/* A window lasts from the end of the one before; pairs are apart from each other. */
static void put_steps(FILE *f, const struct plot *plot, double top, double max)
{
	bool any = false;

	if (plot->how->pairs)
		return;
	fputs("<path class=\"step\" d=\"", f);
	for (unsigned i = 0; i < WIDTH; i++) {
		const struct point *p = &plot->points[i];

		if (!p->n)
			continue;
		if (any)
			fprintf(f, "V%.1fH%u", height_of(p, top, max), LEFT + i);
		else
			fprintf(f, "M%u %.1f", LEFT + i, height_of(p, top, max));
		any = true;
	}
	fputs("\"/>\n", f);
}

static void put_dots(FILE *f, const struct plot *plot, double top, double max)
{
	fputs("<path class=\"range\" d=\"", f);
	for (unsigned i = 0; i < WIDTH; i++) {
		const struct point *p = &plot->points[i];

		if (p->n > 1 && p->max > p->min)
			fprintf(f, "M%u %.1fh1V%.1fh-1z", LEFT + i,
				top + HEIGHT * (1 - p->max / max),
				top + HEIGHT * (1 - p->min / max));
	}
	fputs("\"/>\n<path class=\"mean\" d=\"", f);
	for (unsigned i = 0; i < WIDTH; i++) {
		const struct point *p = &plot->points[i];

		if (p->n)
			fprintf(f, "M%u %.1fh0", LEFT + i, height_of(p, top, max));
	}
	fputs("\"/>\n", f);
}

static int compare_values(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Sorts a panel's values; returns how many there are. */
static size_t sort_values(struct plot *plot, size_t panel)
{
	size_t n = 0;

	for (size_t i = 0; i < plot->w->n_rows; i++) {
		double value = value_of(plot->w, i, panel);

		if (plot->w->rows[i].time != HLG_NO_TIME && !isnan(value))
			plot->values[n++] = value;
	}
	qsort(plot->values, n, sizeof(*plot->values), compare_values);
	return n;
}

/* The name, and what is drawn: counts by window, or the unit of a rate. */
static void put_heading(FILE *f, const struct hlg_windows *w,
			const struct hlg_windows_style *how, size_t panel, double y)
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
		fputs(how->pairs ? " (a pair)"
		      : w->every ? " (an interval)"
				 : " (a window)",
		      f);
	else if (unit[0])
		fprintf(f, " (%s)", unit);
	fputs("</tspan></text>\n", f);
}

/* From one tick to the next: 1, 2 or 5 times a power of ten, at most so many ticks. */
static double step_of(double span, int ticks)
{
	double step = pow(10, floor(log10(span / ticks)));

	while (step * ticks < span)
		step *= step * 2 * ticks < span ? 5 : 2;
	return step;
}

static void put_value(FILE *f, const struct hlg_windows *w, size_t panel, double value)
{
	if (value > 0 && panel < w->n_columns &&
	    w->columns[panel].counter == HLG_COUNTER_TIME)
		put_short_time(f, value);
	else
		put_short(f, value);
}

/* Half of all windows, and 99 of 100, are not above it: nearest rank. */
static void put_percentiles(FILE *f, struct plot *plot, size_t panel, double top,
			    double max)
{
	static const unsigned percents[] = {50, 99};
	size_t n = sort_values(plot, panel);
	double last = top + 2 * HEIGHT;

	for (size_t i = 0; n && i < 2; i++) {
		double value = plot->values[n - n * (100 - percents[i]) / 100 - 1];
		double y = top + HEIGHT * (1 - value / max);
		double text = y + 4 > last - 13 ? last - 13 : y + 4;

		fprintf(f,
			"<path class=\"mark\" d=\"M%d %.1fh%d\"/><text class=\"soft\" "
			"x=\"%d\" y=\"%.1f\">p%u ",
			LEFT, y, WIDTH, LEFT + WIDTH + 6, text, percents[i]);
		put_value(f, plot->w, panel, value);
		fputs("</text>\n", f);
		last = text;
	}
}

static void put_panel(FILE *f, struct plot *plot, size_t panel, double top)
{
	const struct hlg_windows *w = plot->w;
	double most = gather(plot, panel);
	double step = most > 0 ? step_of(most, Y_TICKS) : 1;
	double max = most > 0 ? step * ceil(most / step) : 1;

	fputs("<g>", f);
	put_heading(f, w, plot->how, panel, top - 7);
	for (unsigned i = 0; i * step <= max * 1.001; i++) {
		double y = top + HEIGHT * (1 - i * step / max);

		fprintf(f,
			"<path class=\"axis\" d=\"M%d %.1fh%d\"/><text class=\"soft "
			"end\" x=\"%d\" y=\"%.1f\">",
			LEFT, y, WIDTH, LEFT - 6, y + 4);
		put_value(f, w, panel, i * step);
		fputs("</text>\n", f);
	}
	put_percentiles(f, plot, panel, top, max);
	put_steps(f, plot, top, max);
	put_dots(f, plot, top, max);
	fputs("</g>\n", f);
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
	double step = span > 0 ? step_of(span, TICKS) : 1;

	/* The last one is at the end, maybe, but for rounding: 6 * 0.1 > 0.6. */
	for (int i = 0; i * step <= span * (1 + 1e-9); i++)
		put_tick(f, LEFT + (span > 0 ? WIDTH * (i * step / span) : 0), y,
			 i * step);
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

static size_t count_panels(const struct hlg_windows *w, size_t n)
{
	size_t panels = 0;

	for (size_t i = 0; i < n && panels < MAX_PANELS; i++)
		panels += i < w->n_columns ||
			  hlg_windows_rate_known(w, &hlg_rates[i - w->n_columns]);
	return panels;
}

void hlg_windows_svg_what(FILE *f, const struct hlg_windows *w,
			  const struct hlg_windows_style *how)
{
	if (how->guest) {
		hlg_xml_text(f, basename(how->guest));
		fputs(": ", f);
	}
	fprintf(f, "%zu %s%s", w->n_rows,
		how->pairs ? "pair"
		: w->every ? "interval"
			   : "window",
		hlg_plural_s(w->n_rows));
	if (how->pairs)
		fputs(" between markers", f);
	if (how->recording) {
		fputs(" of ", f);
		hlg_xml_text(f, basename(how->recording));
	}
}

static void put_title(FILE *f, const struct hlg_windows *w,
		      const struct hlg_windows_style *how, size_t height)
{
	char sampled[HLG_WINDOWS_SAMPLED];
	size_t above = how->in_page ? HEAD : 0; /* a page has said what it is of */

	fprintf(f,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"windows\" "
		"viewBox=\"0 %zu %d %zu\" width=\"%d\" role=\"img\">\n<title>",
		above, LEFT + WIDTH + RIGHT, height - above, LEFT + WIDTH + RIGHT);
	hlg_windows_svg_what(f, w, how);
	fputs("</title>\n", f);
	if (!how->in_page) {
		fputs("<style>\n", f);
		hlg_page_put(f, &hlg_page_windows_style);
		fputs("</style>\n", f);
	}
	fprintf(f,
		"<rect class=\"back\" width=\"100%%\" height=\"100%%\"/>\n<text "
		"class=\"head\" x=\"%d\" y=\"22\">",
		LEFT);
	hlg_windows_svg_what(f, w, how);
	fprintf(f, "</text><text class=\"soft\" x=\"%d\" y=\"39\">", LEFT);
	if (!how->pairs) {
		hlg_xml_text(f, hlg_windows_notes_sampled(sampled, w));
		fputs("; ", f);
	}
	fprintf(f, "dot: mean; band: least to most%s; counts as read</text>\n",
		how->pairs ? "" : "; line: from the end of the window before");
}

int hlg_windows_svg(FILE *f, const struct hlg_windows *w,
		    const struct hlg_windows_style *how, struct hlg_err *err)
{
	size_t n = w->n_columns + (how->rates ? HLG_N_RATES : 0), drawn = 0;
	size_t panels = count_panels(w, n);
	struct plot *plot = calloc(1, sizeof(*plot));
	double *values = calloc(w->n_rows + 1, sizeof(*values));
	struct hlg_strip strip;
	unsigned top;

	if (!plot || !values || !hlg_strip_make(&strip, w)) {
		free(plot);
		free(values);
		return hlg_err_memory(err, "windows");
	}
	plot->w = w;
	plot->how = how;
	plot->values = values;
	set_times(plot);
	top = TOP + hlg_strip_height(&strip) + 28;
	put_title(f, w, how, top + panels * PANEL + 20);
	hlg_strip_put(f, &strip, LEFT, TOP, WIDTH, place_of, plot);
	for (size_t i = 0; i < n && drawn < panels; i++)
		if (i < w->n_columns ||
		    hlg_windows_rate_known(w, &hlg_rates[i - w->n_columns]))
			put_panel(f, plot, i, top + (double)(drawn++ * PANEL));
	put_time_axis(f, plot, top + (double)((panels - 1) * PANEL) + HEIGHT);
	fputs("</svg>\n", f);
	free(values);
	free(plot);
	return 0;
}
