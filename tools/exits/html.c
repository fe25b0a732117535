// SPDX-License-Identifier: GPL-2.0-only
/*
 * A page (tools/page) without scripts: for each table of the report one with a bar for
 * the share of each row, and for the reasons how long their pairs took, on one axis.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filter/stats/interval.h"
#include "filter/write/table.h"
#include "tools/exits/columns.h"
#include "tools/exits/head.h"
#include "tools/exits/write.h"
#include "tools/page/page.h"
#include "tools/page/plot.h"
#include "tools/page/words.h"

enum {
	COLUMNS = 6, /* of a table of shares */
	QUARTERS = 4 /* of the axis of shares */
};

/* Shares: what a table is of, and of which time its shares are. */

static const char *title_of(const struct hlg_exits_report *r,
			    const struct hlg_exits_table *t)
{
	static const char *const titles[] = {
		[HLG_EXITS_BY_FUNCTION] = "By guest function",
		[HLG_EXITS_BY_PORT] = "By I/O port",
		[HLG_EXITS_BY_VCPU] = "By vCPU",
		[HLG_EXITS_BY_CALL] = "Hyperlight's calls",
	};

	if (t->by == HLG_EXITS_BY_FUNCTION && r->check->suppressed)
		return "By guest address";
	if (t->by != HLG_EXITS_BY_REASON)
		return titles[t->by];
	return t->kind == HLG_EXITS_GUEST ? "Exits by reason"
					  : "Time in the VMM by reason";
}

static const char *whole_of(const struct hlg_exits_table *t)
{
	if (t->by == HLG_EXITS_BY_CALL)
		return "Bars are parts of all the time recorded. Guest calls contain "
		       "their host calls; what is between guest calls is the host's own.";
	return t->kind == HLG_EXITS_GUEST
		       ? "Bars are parts of the time outside the guest, from "
			 "kvm_exit to kvm_entry."
		       : "Bars are parts of the time in the VMM, from "
			 "kvm_userspace_exit to KVM_RUN.";
}

/* A row's head: the name, and what tells it from others of that name. */
static void begin_row(FILE *f, const struct hlg_exits_report *r,
		      const struct hlg_exits_table *t, const struct hlg_exits_row *row)
{
	char before[64], behind[64], remark[160];

	hlg_exits_write_detail(before, r, t, row, false);
	hlg_exits_write_detail(behind, r, t, row, true);
	snprintf(remark, sizeof(remark), "%s%s%s", before,
		 before[0] && behind[0] ? " " : "", behind);
	hlg_plot_row(f, row->name, remark);
}

static void put_share(FILE *f, double share)
{
	hlg_plot_drawing(f, HLG_PLOT_WIDE, HLG_PLOT_HIGH);
	fputs("<path class=\"grid\" d=\"", f);
	for (int i = 0; i <= QUARTERS; i++)
		fprintf(f, "M%d 0v%d", i * HLG_PLOT_WIDE / QUARTERS, HLG_PLOT_HIGH);
	fprintf(f,
		"\"/><rect class=\"most\" y=\"2\" width=\"%.0f\" "
		"height=\"%d\"/></svg></td>",
		HLG_PLOT_WIDE * share, HLG_PLOT_HIGH - 4);
}

/* Units as text has them: of totals by the longest, of one pair us; but ns where all are
 * shorter than that. */
struct units {
	struct hlg_exits_unit total, one;
};

static struct units units_of(const struct hlg_exits_report *r,
			     const struct hlg_exits_table *t)
{
	uint64_t total = 0, max = 0;

	for (size_t i = 0; i < hlg_exits_shown(r, t); i++) {
		total = t->rows[i].total > total ? t->rows[i].total : total;
		max = t->rows[i].max > max ? t->rows[i].max : max;
	}
	return (struct units){hlg_exits_unit_of(total), hlg_exits_units[max >= 1000]};
}

static void put_time(FILE *f, uint64_t ns, struct hlg_exits_unit unit)
{
	bool little = ns && ns < unit.ns / 20;
	char text[40], cell[56];

	snprintf(cell, sizeof(cell), "%s %s",
		 little ? "<0.1" : hlg_exits_time_text(text, ns, unit), unit.name);
	hlg_plot_cell(f, "number", cell);
}

static void put_row(FILE *f, const struct hlg_exits_report *r,
		    const struct hlg_exits_table *t, const struct hlg_exits_row *row,
		    const struct units *units)
{
	char text[32] = "-", percent[16];

	begin_row(f, r, t, row);
	if (hlg_exits_has_share(row)) {
		double share = hlg_exits_share(r, t, row->total);

		put_share(f, share);
		snprintf(text, sizeof(text), "%s %%",
			 hlg_interval_percent(percent, share));
	} else {
		fputs("<td></td>", f);
	}
	hlg_plot_cell(f, "number", text);
	put_time(f, row->total, units->total);
	snprintf(text, sizeof(text), "%" PRIu64, row->n);
	hlg_plot_cell(f, "number", text);
	put_time(f, row->total / row->n, units->one);
	fputs("</tr>\n", f);
}

static void put_shares(FILE *f, const struct hlg_exits_report *r,
		       const struct hlg_exits_table *t)
{
	static const char *const heads[] = {"share", "time", "count", "mean"};
	static const char *const firsts[] = {"reason", "function", "port", "vCPU",
					     "call"};
	const struct units units = units_of(r, t);
	char text[64];

	hlg_plot_begin(f, title_of(r, t), firsts[t->by]);
	fputs("<th scope=\"col\"><span class=\"axis\"><span>0 %</span><span>25 %</span>"
	      "<span>50 %</span><span>75 %</span></span></th>",
	      f);
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		hlg_plot_head(f, heads[i]);
	fputs("</tr></thead>\n<tbody>\n", f);
	for (size_t i = 0; i < hlg_exits_shown(r, t); i++)
		put_row(f, r, t, &t->rows[i], &units);
	if (hlg_exits_shown(r, t) < t->n) {
		snprintf(text, sizeof(text), "%zu more (--top=0 shows all)",
			 t->n - hlg_exits_shown(r, t));
		fputs("<tr>", f);
		hlg_plot_missing(f, COLUMNS, text);
	}
	fputs("</tbody></table></div>\n", f);
}

/* Latencies: an axis for the reasons of both kinds, so that they can be compared */

/* The shortest time of octave i, as JSON has it. */
static double start_of(int i)
{
	return i ? (double)(UINT64_C(1) << i) : 0;
}

static double end_of(int i)
{
	return 2 * (double)(UINT64_C(1) << i);
}

static struct hlg_plot_axis axis_of(const struct hlg_exits_report *r)
{
	struct hlg_plot_axis axis = {0};

	for (size_t k = 0; k < HLG_EXITS_TABLES; k++)
		for (size_t row = 0; row < r->tables[k].n; row++) {
			const uint64_t *octaves = r->tables[k].rows[row].octaves;

			for (int i = 0; octaves && i < HLG_EXITS_OCTAVES; i++)
				if (octaves[i])
					hlg_plot_reach(&axis, start_of(i), end_of(i));
		}
	return axis;
}

/* A bar for each power of two, the higher the more pairs, with what it is when pointed
 * at. */
static void put_octaves(FILE *f, const struct hlg_plot_axis *axis,
			const uint64_t octaves[static HLG_EXITS_OCTAVES])
{
	uint64_t most = 1;

	for (int i = 0; i < HLG_EXITS_OCTAVES; i++)
		most = octaves[i] > most ? octaves[i] : most;
	for (int i = 0; i < HLG_EXITS_OCTAVES; i++) {
		double high = HLG_PLOT_DEEP * ((double)octaves[i] / (double)most);
		double from = hlg_plot_place(axis, start_of(i));
		char text[24];

		if (!octaves[i])
			continue;
		high = high < 1 ? 1 : high;
		fprintf(f,
			"<rect class=\"most\" x=\"%.0f\" y=\"%.1f\" width=\"%.0f\" "
			"height=\"%.1f\"><title>%" PRIu64 " from %s on</title></rect>",
			from, HLG_PLOT_DEEP - high,
			hlg_plot_place(axis, end_of(i)) - from, high, octaves[i],
			hlg_table_ns(text, (uint64_t)start_of(i)));
	}
}

static void put_latency(FILE *f, const struct hlg_plot_axis *axis,
			const struct hlg_exits_report *r, const struct hlg_exits_table *t,
			const struct hlg_exits_row *row, struct hlg_exits_unit unit)
{
	const uint64_t percentiles[] = {row->p50, row->p90, row->p99};

	begin_row(f, r, t, row);
	hlg_plot_drawing(f, HLG_PLOT_WIDE, HLG_PLOT_DEEP);
	hlg_plot_grid(f, axis, HLG_PLOT_DEEP);
	put_octaves(f, axis, row->octaves);
	fputs("<path class=\"limit\" d=\"", f);
	for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++)
		fprintf(f, "M%.0f 0v%d", hlg_plot_place(axis, (double)percentiles[i]),
			HLG_PLOT_DEEP);
	fputs("\"/></svg></td>", f);
	for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++)
		put_time(f, percentiles[i], unit);
	put_time(f, row->max, unit);
	fputs("</tr>\n", f);
}

static void put_latencies(FILE *f, const struct hlg_exits_report *r,
			  const struct hlg_exits_table *t)
{
	static const char *const heads[] = {"p50", "p90", "p99", "max"};
	const struct hlg_plot_axis axis = axis_of(r);
	const struct units units = units_of(r, t);

	fputs("<h3>How long each took</h3>\n<p class=\"legend\"><span class=\"key "
	      "most\">how many, by powers of two; a row's most are full "
	      "height</span><span class=\"key limit\">p50, p90 and p99</span></p>\n",
	      f);
	hlg_plot_begin(f, "How long each took", "reason");
	hlg_plot_axis(f, &axis);
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		hlg_plot_head(f, heads[i]);
	fputs("</tr></thead>\n<tbody>\n", f);
	for (size_t i = 0; i < hlg_exits_shown(r, t); i++)
		put_latency(f, &axis, r, t, &t->rows[i], units.one);
	fputs("</tbody></table></div>\n", f);
}

/* The page */

static void put_table(FILE *f, const struct hlg_exits_report *r,
		      const struct hlg_exits_table *t)
{
	if (!t->n)
		return;
	fprintf(f, "<section%s>\n<h2>%s</h2>\n<p class=\"summary\">%s%s</p>\n",
		t->by == HLG_EXITS_BY_FUNCTION ? " class=\"names\"" : "", title_of(r, t),
		whole_of(t),
		r->picks ? " All of it counts, whatever is selected by port and reason."
			 : "");
	put_shares(f, r, t);
	if (t->by == HLG_EXITS_BY_REASON)
		put_latencies(f, r, t);
	fputs("</section>\n", f);
}

int hlg_exits_html(void *report, FILE *f, struct hlg_err *err)
{
	/* In this order: the reasons of each kind, what Hyperlight's users know, and the
	 * rest. */
	static const size_t order[HLG_EXITS_TABLES] = {0, 1, 5, 3, 2, 4};
	const struct hlg_exits_report *r = report;
	struct hlg_exits_report plain = *r;
	char *head, *all;
	bool ok;

	plain.screen = (struct hlg_screen){0};
	plain.wide = plain.verbose = true;
	head = hlg_page_words_of(hlg_exits_write_head, &plain);
	all = hlg_page_words_of(hlg_exits_text, &plain);
	ok = head && all;
	hlg_page_begin(f, &hlg_page_still, "hlguest exits");
	fputs("<header id=\"answer\">\n<h1>Exits of ", f);
	hlg_page_words_names(f, r->space);
	fputs("</h1>\n", f);
	if (ok)
		hlg_page_words_facts(f, head, "check", hlg_page_words_verdict(r->check));
	fputs("</header>\n<main>\n", f);
	for (size_t i = 0; i < HLG_EXITS_TABLES; i++)
		put_table(f, r, &r->tables[order[i]]);
	if (ok)
		hlg_page_words_folded(f, "All figures and notes", all);
	fputs("</main>\n", f);
	hlg_page_end(f, &hlg_page_still);
	free(head);
	free(all);
	return ok ? 0 : hlg_err_memory(err, "format=html");
}
