// SPDX-License-Identifier: GPL-2.0-only
#include "tools/page/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/svg/xml.h"

enum {
	SEEN = 3 /* what a bar is wide at least */
};

void hlg_plot_begin(FILE *f, const char *label, const char *first)
{
	fprintf(f,
		"<div class=\"scroll\" tabindex=\"0\"><table class=\"plot\" "
		"aria-label=\"%s\"><thead><tr><th scope=\"col\">%s</th>",
		label, first);
}

void hlg_plot_head(FILE *f, const char *html)
{
	fprintf(f, "<th scope=\"col\" class=\"number\">%s</th>", html);
}

void hlg_plot_cell(FILE *f, const char *class, const char *text)
{
	fprintf(f, "<td class=\"%s\">", class);
	hlg_xml_text(f, text);
	fputs("</td>", f);
}

void hlg_plot_ns(FILE *f, uint64_t ns, uint64_t most)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	double scale = 1, last;
	bool tenths;
	int unit = 0;

	for (; (double)most / scale >= HLG_PLOT_NS_MOST && unit < 3; unit++)
		scale *= 1000;
	tenths = unit && (double)most / scale < 1000;
	last = tenths ? scale / 10 : scale;
	if (ns && (double)ns < last / 2)
		fprintf(f, "<td class=\"number\">&lt;%s %s</td>", tenths ? "0.1" : "1",
			units[unit]);
	else
		fprintf(f, "<td class=\"number\">%.*f %s</td>", tenths,
			(double)ns / scale, units[unit]);
}

/* A long name is broken behind "::" first. */
static void put_name(FILE *f, const char *name)
{
	const char *end = strstr(name, "::");

	for (; end; end = strstr(name, "::")) {
		char *part = strndup(name, (size_t)(end + 2 - name));

		if (!part)
			break;
		hlg_xml_text(f, part);
		fputs("<wbr>", f);
		free(part);
		name = end + 2;
	}
	hlg_xml_text(f, name);
}

static void put_remark(FILE *f, const char *remark)
{
	if (!remark[0])
		return;
	fputs(" <small>", f);
	hlg_xml_text(f, remark);
	fputs("</small>", f);
}

void hlg_plot_row(FILE *f, const char *name, const char *remark)
{
	fputs("<tr><th scope=\"row\">", f);
	put_name(f, name);
	put_remark(f, remark);
	fputs("</th>", f);
}

void hlg_plot_group(FILE *f, int columns, const char *name, const char *remark)
{
	fprintf(f, "<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"%d\">", columns);
	hlg_xml_text(f, name);
	put_remark(f, remark);
	fputs("</th></tr>\n", f);
}

void hlg_plot_missing(FILE *f, int columns, const char *reason)
{
	fprintf(f, "<td class=\"missing\" colspan=\"%d\">", columns);
	hlg_xml_text(f, reason);
	fputs("</td></tr>\n", f);
}

void hlg_plot_reach(struct hlg_plot_axis *axis, double low, double high)
{
	int first = low > 1 ? (int)floor(log10(low)) : 0;
	int last = high > 1 ? (int)ceil(log10(high)) : 1;

	if (axis->from == axis->to) {
		axis->from = first;
		axis->to = first + 1;
	}
	axis->from = first < axis->from ? first : axis->from;
	axis->to = last > axis->to ? last : axis->to;
}

double hlg_plot_place(const struct hlg_plot_axis *axis, double value)
{
	double at = value > 0 ? (log10(value) - axis->from) / (axis->to - axis->from) : 0;

	return HLG_PLOT_WIDE * (at < 0 ? 0 : at > 1 ? 1 : at);
}

void hlg_plot_axis(FILE *f, const struct hlg_plot_axis *axis)
{
	static const char *const units[] = {" ns", " us", " ms", " s"};

	fputs("<th scope=\"col\"><span class=\"axis\">", f);
	for (int power = axis->from; power < axis->to; power++) {
		bool ns = !axis->plain && power < 12;

		fprintf(f, "<span>%.0f%s</span>", pow(10, ns ? power % 3 : power),
			ns ? units[power / 3] : "");
	}
	fputs("</span></th>", f);
}

void hlg_plot_drawing(FILE *f, int width, int height)
{
	fprintf(f,
		"<td class=\"drawing\"><svg aria-hidden=\"true\" viewBox=\"0 0 %d %d\" "
		"preserveAspectRatio=\"none\">",
		width, height);
}

void hlg_plot_grid(FILE *f, const struct hlg_plot_axis *axis, int height)
{
	fputs("<path class=\"grid\" d=\"", f);
	for (int power = axis->from; power <= axis->to; power++)
		fprintf(f, "M%.0f 0v%d", hlg_plot_place(axis, pow(10, power)), height);
	fputs("\"/>", f);
}

void hlg_plot_span(FILE *f, const struct hlg_plot_axis *axis, const char *class,
		   double low, double high, int y, int height)
{
	double from = hlg_plot_place(axis, low);
	double width = hlg_plot_place(axis, high) - from;

	fprintf(f,
		"<rect class=\"%s\" x=\"%.0f\" y=\"%d\" width=\"%.0f\" height=\"%d\"/>",
		class, from, y, width < SEEN ? SEEN : width, height);
}
